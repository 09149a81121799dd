// Builds the launcher of hook scripts: a program that loads as little as it can, and beside it what it needs now and then.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** The stripper is loaded for a script that was never seen; the bridge for one that imports it. */
const parts = {
  "courser-hook": "src/cli/hook-script/main.ts",
  "hook/strip": "src/cli/hook-script/strip.ts",
  "hook/bridge": "src/bridge/index.ts",
};

export async function bundleHookLauncher({ root, dist, target, version }) {
  for (const [name, file] of Object.entries(parts)) {
    if (!existsSync(join(root, file))) continue;
    const outfile = join(dist, `${name}.cjs`);
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [file],
      bundle: true,
      format: "cjs",
      platform: "node",
      // The stripper's own ES modules: what is not used falls away.
      mainFields: ["module", "main"],
      target,
      outfile,
      external: ["./hook/*"],
      define: { __VERSION__: JSON.stringify(version) },
      minify: true,
      legalComments: "none",
      logLevel: "warning",
      write: false,
    });
    writeFileSync(outfile, (name === "courser-hook" ? "#!/usr/bin/env node\n" : "") + outputFiles[0].text);
  }
  chmodSync(join(dist, "courser-hook.cjs"), 0o755);
}
