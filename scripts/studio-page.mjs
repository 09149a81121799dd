// Builds the studio's page into dist/studio: one script and one style sheet at first, the rest when it is used.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";
import { lightMarkdown } from "./light-markdown.mjs";
import { prismApart } from "./prism-apart.mjs";

export async function bundleStudioPage({ root, dist }) {
  const folder = join(dist, "studio");
  mkdirSync(folder, { recursive: true });
  const options = {
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
    plugins: [prismApart, lightMarkdown],
    logLevel: "warning",
  };
  const first = (await build({ ...options, write: false })).metafile.outputs;
  const together = inOneChunk(root, first);
  const { outputs } = (await build({ ...options, plugins: [together, ...options.plugins] })).metafile;
  const names = Object.keys(outputs).map((path) => basename(path));
  const script = names.find((name) => /^studio-\w+\.js$/.test(name));
  const style = names.find((name) => /^studio-\w+\.css$/.test(name));
  const page = readFileSync(join(root, "src/studio/client/index.html"), "utf8");
  writeFileSync(join(folder, "index.html"), page.replace("{script}", script).replace("{style}", style));
}

/**
 * Modules that several views share would be in a file for each set of views, and each file is a request. What the board or the
 * frame of the page has in common with any other view is imported by every view, and so comes as one file.
 */
function inOneChunk(root, outputs) {
  const isFrame = (path) => /^(studio|home)-\w+\.js$/.test(basename(path));
  const imported = Object.entries(outputs)
    .filter(([path]) => isFrame(path))
    .flatMap(([, { imports }]) => imports.flatMap(({ path, kind }) => (kind === "import-statement" ? path : [])));
  const shared = [...new Set(imported)]
    .flatMap((path) => Object.keys(outputs[path].inputs))
    .filter((path) => path.startsWith("src/"));
  const text = shared.map((path) => `import ${JSON.stringify(join(root, path))};\n`).join("");
  const views = Object.values(outputs).flatMap(({ entryPoint }) => entryPoint ?? []);
  const filter = new RegExp(`(${views.map((path) => path.replaceAll(/[.\\/]/g, "[.\\\\/]")).join("|")})$`);
  return {
    name: "in-one-chunk",
    setup(build) {
      build.onResolve({ filter: /^shared-by-views$/ }, () => ({ path: "shared", namespace: "views" }));
      build.onLoad({ filter: /.*/, namespace: "views" }, () => ({ contents: text, loader: "js", resolveDir: root }));
      build.onLoad({ filter }, ({ path }) => ({
        contents: `import "shared-by-views";\n${readFileSync(path, "utf8")}`,
        loader: path.endsWith("x") ? "tsx" : "ts",
      }));
    },
  };
}
