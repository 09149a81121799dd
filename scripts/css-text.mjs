// `import text from "./x.css?raw"`: a style sheet as text, as the test runner reads it too.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { transform } from "esbuild";

export const cssText = {
  name: "css-text",
  setup(build) {
    build.onResolve({ filter: /\.css\?raw$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.replace(/\?raw$/, "")),
      namespace: "css-text",
    }));
    build.onLoad({ filter: /.*/, namespace: "css-text" }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    });
  },
};
