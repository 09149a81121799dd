// Which files of the built program a command loads: each costs every start of it.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

const loaded = join(workspace.home, "loaded.txt");
const preload = workspace.file(
  "preload.cjs",
  `const fs = require("node:fs");
const read = fs.readFileSync;
const names = [];
fs.readFileSync = (file, ...rest) => {
  if (/dist.cli.[^/\\\\]+\\.cjs$/.test(String(file))) names.push(String(file).replace(/^.*[/\\\\]/, ""));
  return read(file, ...rest);
};
process.on("exit", () => fs.writeFileSync(${JSON.stringify(loaded)}, names.join("\\n")));`,
);

it.each([["--help"], ["ls"], ["create-chat"], ["status"], ["models"], ["about"]])(
  "%s loads nothing that only background runs need",
  async (...args) => {
    await workspace.run(args, { env: { NODE_OPTIONS: `--require=${preload}` } });
    const names = readFileSync(loaded, "utf8").split("\n");
    expect(names).toContain("start.cjs");
    expect(names.filter((name) => /^(background|host)\.cjs$/.test(name))).toEqual([]);
  },
);

const cacheOf = (name: string) => join(repository, "dist/cli", `${name}.${process.versions.v8}-${process.arch}.bin`);

// Another Node than the one that built it writes its own data when it first runs.
it.skipIf(!existsSync(cacheOf("start.cjs")))("the build leaves a code cache with what background runs use", () => {
  for (const name of ["background.cjs", "host.cjs"]) {
    const share = statSync(cacheOf(name)).size / statSync(join(repository, "dist/cli", name)).size;
    expect(share, name).toBeGreaterThan(0.5); // about a tenth, if it has none but the outermost functions
  }
});
