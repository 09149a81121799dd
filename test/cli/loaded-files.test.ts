// Which files of the built program a command loads: each costs every start of it.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

const loaded = join(workspace.home, "loaded.txt");
const builtIn = join(workspace.home, "built-in.txt");
const preload = workspace.file(
  "preload.cjs",
  `const fs = require("node:fs");
const read = fs.readFileSync;
const names = [];
fs.readFileSync = (file, ...rest) => {
  if (/dist.cli.[^/\\\\]+\\.cjs$/.test(String(file))) names.push(String(file).replace(/^.*[/\\\\]/, ""));
  return read(file, ...rest);
};
process.on("exit", () => {
  fs.writeFileSync(${JSON.stringify(loaded)}, names.join("\\n"));
  const modules = process.moduleLoadList.map((name) => name.replace("NativeModule ", ""));
  const program = ["--lease", "-b", "-p"].find((flag) => process.argv.includes(flag));
  fs.appendFileSync(${JSON.stringify(builtIn)}, JSON.stringify({ program, modules }) + "\\n");
});`,
);

it.each([["--help"], ["ls"], ["create-chat"], ["status"], ["models"], ["about"]])(
  "%s does not load modules that only background runs need",
  async (...args) => {
    await workspace.run(args, { env: { NODE_OPTIONS: `--require=${preload}` } });
    const names = readFileSync(loaded, "utf8").split("\n");
    expect(names).toContain("start.cjs");
    expect(names.filter((name) => /^(background|host)\.cjs$/.test(name))).toEqual([]);
  },
);

it("neither process of a background run loads web server, compression or hashing modules that -p does without", async () => {
  const args = ["--force", "--model", `script:${workspace.file("script.json", '[{ "text": "ok" }]')}`, "go"];
  rmSync(builtIn, { force: true });
  for (const mode of ["-p", "-b"])
    await workspace.run([mode, ...args], { env: { NODE_OPTIONS: `--require=${preload}` } });
  const modules = () => new Map(linesOf(builtIn).map((line) => [line.program, line.modules]));
  await vi.waitUntil(() => modules().has("--lease"), { timeout: 25_000 });
  const usual = modules().get("-p")!;
  const heavy = ["http", "zlib", "crypto"].filter((name) => !usual.includes(name));
  expect(heavy).not.toEqual([]);
  for (const program of ["-b", "--lease"])
    expect(
      modules()
        .get(program)!
        .filter((name) => heavy.includes(name)),
      program,
    ).toEqual([]);
});

function linesOf(file: string): { program?: string; modules: string[] }[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line));
}

const cacheOf = (name: string) => join(repository, "dist/cli", `${name}.${process.versions.v8}-${process.arch}.bin`);

// Another Node than the one that built it writes its own data when it first runs.
it.skipIf(!existsSync(cacheOf("start.cjs")))(
  "the build writes a V8 code cache that includes what background runs load",
  () => {
    for (const name of ["background.cjs", "host.cjs"]) {
      const share = statSync(cacheOf(name)).size / statSync(join(repository, "dist/cli", name)).size;
      expect(share, name).toBeGreaterThan(0.5); // about a tenth, if it has none but the outermost functions
    }
  },
);
