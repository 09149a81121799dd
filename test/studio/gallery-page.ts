// Bundles the gallery and opens it in Chromium: what tests of the components, and people who look at them, begin with.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { repository } from "../support/run-cli.ts";

const executablePath = "/usr/bin/chromium";
export const hasBrowser = existsSync(executablePath);

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}

/** One bundle, for every page. */
export async function bundleGallery(): Promise<{ script: string; style: string }> {
  // @ts-expect-error A script of the build, without types.
  const { prismApart } = await import("../../scripts/prism-apart.mjs");
  const { outputFiles } = await build({
    absWorkingDir: repository,
    entryPoints: { page: "test/studio/gallery.tsx", style: "src/studio/components/components.css" },
    ...{
      bundle: true,
      format: "iife",
      platform: "browser",
      minify: true,
      write: false,
      outdir: join(repository, "dist/gallery"),
    },
    plugins: [prismApart],
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))!.text;
  return { script: textOf("page.js"), style: textOf("style.css") };
}

const layout = `:root{color-scheme:light dark}html,body{margin:0;height:100%;background:var(--cr-ground);color:var(--cr-ink);font:14px/1.5 system-ui}
h1{font-size:15px;margin:12px 0}.gallery{max-width:752px;margin:0 auto;padding:0 16px 40px}.frame{height:100vh}#app{height:100%}.charts{display:grid;gap:16px;max-width:288px;margin:20px 0}`;

export async function openGallery(
  browser: Browser,
  { script, style }: { script: string; style: string },
  { dark = false, width = 1000, height = 760 } = {},
): Promise<Page> {
  const context = await browser.newContext({ colorScheme: dark ? "dark" : "light", viewport: { width, height } });
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.setContent(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Components</title><style>${style}${layout}</style></head><body><div id="app"></div></body></html>`,
  );
  await page.addScriptTag({ content: script });
  return page;
}
