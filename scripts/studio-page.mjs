// Builds the studio's page into dist/studio: one script and one style sheet at first, the rest when it is used.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { prismApart } from "./prism-apart.mjs";

export async function bundleStudioPage({ root, dist }) {
  const folder = join(dist, "studio");
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { studio: "src/studio/client/main.tsx" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    // What every browser had in the year in which the style sheets' light-dark() came.
    target: ["chrome123", "firefox120", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: folder,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    minify: true,
    legalComments: "none",
    metafile: true,
    plugins: [prismApart],
    logLevel: "warning",
  });
  const names = Object.keys(metafile.outputs).map((path) => basename(path));
  const script = names.find((name) => /^studio-\w+\.js$/.test(name));
  const style = names.find((name) => /^studio-\w+\.css$/.test(name));
  const page = readFileSync(join(root, "src/studio/client/index.html"), "utf8");
  writeFileSync(join(folder, "index.html"), page.replace("{script}", script).replace("{style}", style));
}
