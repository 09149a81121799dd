// The highlighter for pages that others own: its languages find it by a global name, and it would colour every page it is loaded
// into. Bundled with this, it has neither a global nor a page.
import { readFileSync } from "node:fs";

const noPage = "var window, self, global, document, WorkerGlobalScope;\n";
const noGlobal = 'import Prism from "prismjs";\n';

export const prismApart = {
  name: "prism-apart",
  setup(build) {
    build.onLoad({ filter: /[\\/]prismjs[\\/]prism\.js$/ }, ({ path }) => ({
      contents: noPage + readFileSync(path, "utf8"),
      loader: "js",
    }));
    build.onLoad({ filter: /[\\/]prismjs[\\/]components[\\/]prism-[\w-]+\.js$/ }, ({ path }) => ({
      contents: noGlobal + readFileSync(path, "utf8"),
      loader: "js",
    }));
  },
};
