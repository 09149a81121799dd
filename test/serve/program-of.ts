// Programs of this folder that run as processes of their own.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { atExit } from "../support/at-exit.ts";

const root = resolve(import.meta.dirname, "../..");

/** A file of this folder as a program: `start` calls its `main`. */
export async function programOf(source: string, start: string): Promise<{ file: string; remove(): void }> {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/fleet-host-"));
  const file = join(folder, "host.mjs");
  await build({
    stdin: {
      contents: `import { main } from "./${source}"; ${start}`,
      resolveDir: import.meta.dirname,
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outfile: file,
    logLevel: "warning",
  });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = atExit(remove);
  return {
    file,
    remove() {
      forget();
      remove();
    },
  };
}
