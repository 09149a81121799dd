// What is approved with a command line: files that it names, and the scripts that a package manager runs for it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { behindDigest, hashesBehind } from "../../src/store/files-behind.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-behind-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

describe("what lies behind a command line", () => {
  test.each([
    ["a script", "./run.sh --fast", "run.sh"],
    ["a script behind a variable", '"$CLAUDE_PROJECT_DIR"/tools/run.sh', "tools/run.sh"],
    ["a script in a script", "bash -c 'set -e; . ./run.sh'", "run.sh"],
    ["a directory", "node ./server", "server/index.js"],
    ["a name without its ending", "node server", "server.js"],
    ["a module", "python3 -m tools.serve", "tools/serve.py"],
    ["a program of the project", "npx serve", "node_modules/.bin/serve"],
  ])("%s: a change is noticed", (_name, line, name) => {
    file(name, "first");
    const before = behindDigest([line], folder);
    expect(before).not.toBe("");
    file(name, "second");
    expect(behindDigest([line], folder)).not.toBe(before);
  });

  test("a script of package.json, what it runs, and what runs before it", () => {
    const scripts = { mcp: "npm run inner", inner: "node ./real.js", premcp: "true", unrelated: "echo" };
    const manifest = (changed: object) => file("package.json", JSON.stringify({ version: "1", scripts, ...changed }));
    manifest({});
    file("real.js", "first");
    const digest = () => behindDigest(["npm", "run", "mcp"], folder);
    const before = digest();
    const names = Object.keys(hashesBehind(["npm", "run", "mcp"], { cwd: folder, roots: [folder] }));
    expect(names.map((name) => name.slice(folder.length + 1)).sort()).toEqual([
      "package.json#inner",
      "package.json#mcp",
      "package.json#premcp",
      "real.js",
    ]);
    manifest({ version: "2", scripts: { ...scripts, unrelated: "other" } });
    expect(digest()).toBe(before);
    for (const name of ["mcp", "inner", "premcp"]) {
      manifest({ scripts: { ...scripts, [name]: "evil" } });
      expect(digest(), name).not.toBe(before);
    }
    manifest({});
    file(".npmrc", "script-shell=./evil.sh");
    expect(digest()).not.toBe(before);
  });

  test("no file that is written or only looked at, unless something in the line may run it", () => {
    for (const name of ["log.txt", "state", "hook.sh"]) file(name, "x");
    const behind = (line: string) =>
      Object.keys(hashesBehind([line], { cwd: folder, roots: [folder] })).map((name) => name.slice(folder.length + 1));
    expect(behind('cat >> "log.txt"; [ -e state ] || touch state')).toEqual([]);
    expect(behind("./hook.sh >> log.txt 2>&1")).toEqual(["hook.sh"]);
    expect(behind("cat hook.sh | bash")).toEqual(["hook.sh"]);
    expect(behind("node state > log.txt")).toEqual(["state"]);
  });

  test("nothing outside, and nothing that could not be a file", () => {
    const lines = ["/bin/echo ../x", "a".repeat(5000), "x\0y", "true"];
    expect(hashesBehind(lines, { cwd: folder, roots: [folder] })).toEqual({});
    expect(behindDigest(lines, folder)).toBe("");
  });
});
