// The launcher: hook scripts in TypeScript that run by themselves, quickly, from everywhere.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHookWorkspace, type HookWorkspace, launcher } from "./hooks-place.ts";

let place: HookWorkspace;
let script: string;
beforeAll(async () => {
  place = createHookWorkspace();
  expect((await place.run(["hooks", "init", "guard"])).exit).toBe(0);
  script = join(place.path, ".hooks/guard.ts");
});
afterAll(() => place.remove());

const call = (command: string) => ({
  hook_event_name: "preToolUse",
  cursor_version: "3.2.16",
  tool_name: "Shell",
  tool_input: { command },
  cwd: place.path,
  workspace_roots: [place.path],
});

it("a script written for @pivanov/agent-hooks-bridge runs unchanged without that package", async () => {
  const text = `import { defineHook, run } from "@pivanov/agent-hooks-bridge";
await run(defineHook({ PreToolUse: () => ({ decision: "deny", reason: "not here" }) }));`;
  const file = join(place.path, "existing.ts");
  writeFileSync(file, text);
  const { exit, stdout } = await place.start(launcher, [file, "--host", "cursor"], call("ls"));
  expect({ exit, ...JSON.parse(stdout) }).toEqual({ exit: 2, permission: "deny", agent_message: "not here" });
});

describe("a script of hooks init", () => {
  it.each([
    "rm -rf /tmp/foo",
    "rm -r -f x",
    "sudo rm --recursive --force x",
    "cd a && /bin/rm -fR .",
    'bash -c "rm -rf x"',
    "ls | xargs rm -rf",
  ])("a hook script written by hooks init refuses %s", async (command) => {
    const { exit, stdout, stderr } = await place.start(script, ["--host", "cursor"], call(command));
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      permission: "deny",
      agent_message: expect.stringContaining("rm -rf is blocked"),
    });
  });

  it.each(["rm a.txt", "rm -r build", "echo rmdir -rf", "git rm -f x"])(
    "a hook script written by hooks init allows %s",
    async (command) => {
      const { exit, stdout } = await place.start(script, ["--host", "cursor"], call(command));
      expect({ exit, ...JSON.parse(stdout) }).toEqual({ exit: 0, permission: "allow" });
    },
  );

  it("a hook script written by hooks init formats written files if the project has a formatter", async () => {
    place.script("node_modules/.bin/prettier", '#!/bin/sh\necho "$@" >> formatted\n');
    const event = {
      ...call(""),
      hook_event_name: "postToolUse",
      tool_name: "Write",
      tool_input: { file_path: "src/a.ts" },
      tool_output: "{}",
    };
    const { exit, stderr } = await place.start(script, ["--host", "cursor"], event);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(readFileSync(join(place.path, "formatted"), "utf8")).toBe("--write --ignore-unknown src/a.ts\n");
  });

  it("a hook script written by hooks init runs from another directory, through a link and by a relative name", async () => {
    const elsewhere = join(place.home, "elsewhere");
    mkdirSync(elsewhere);
    for (const [program, cwd] of [
      [script, elsewhere],
      ["./.hooks/guard.ts", place.path],
      ["../../work/.hooks/guard.ts", elsewhere],
    ] as const)
      expect((await place.start(program, ["--host", "cursor"], call("rm -rf x"), { cwd })).exit).toBe(2);
  });

  it("a hook script that finds no courser-hook in PATH refuses the call and says what to type", async () => {
    const { exit, stdout, stderr } = await place.start(script, ["--host", "cursor"], call("ls"), {
      env: { PATH: "/usr/bin:/bin" },
    });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toBe(`${script}: courser-hook is not in PATH. Type: courser install\n`);
  });

  it("a hook script finds courser-hook in the project's node_modules", async () => {
    const own = place.script(
      "node_modules/.bin/courser-hook",
      `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`,
    );
    const { exit } = await place.start(script, ["--host", "cursor"], call("rm -rf x"), {
      env: { PATH: "/usr/bin:/bin" },
    });
    rmSync(own);
    expect(exit).toBe(2);
  });
});

describe("TypeScript hook scripts", () => {
  const header = "#!/usr/bin/env courser-hook\n";

  it("the hook launcher strips all kinds of types from a TypeScript hook script", async () => {
    const file = place.script(
      ".hooks/types.ts",
      `${header}import type { Rule } from "./rules.ts";
import { type Other, rules } from "./rules.js";
import data from "./data.json" with { type: "json" };
import * as path from "node:path";
enum Level { Low = 1, High }
abstract class Base<T> { constructor(protected readonly value: T) {} declare note?: string; abstract get(): T }
class Own extends Base<number> { override get(): number { return this.value satisfies number } }
const identity = <const T,>(value: T): T => value;
function over(value: string): string;
function over(value: unknown): unknown { return value as never; }
const lazy = await import("./rules.ts");
const list: readonly Rule[] = rules!;
console.log(JSON.stringify([Level.High, new Own(3).get(), identity("x"), over("y"), list.length, lazy.rules.length, data.n, path.basename(import.meta.url), import.meta.main, process.argv.slice(2)]));
`,
    );
    place.file(
      ".hooks/rules.ts",
      "export type Rule = RegExp;\nexport type Other = string;\nexport const rules: Rule[] = [/a/, /b/];\nexport default rules;\n",
    );
    place.file(".hooks/data.json", '{"n": 7}');
    const { stdout, stderr } = await place.start(file, ["--host", "cursor"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual([2, 3, "x", "y", 2, 2, 7, "types.ts", true, ["--host", "cursor"]]);
  });

  it("a hook script imports files beside it, also through a link", async () => {
    place.file("lib/words.ts", 'export const word: string = "beside";\n');
    const file = place.script("lib/real.ts", `${header}import { word } from "./words";\nconsole.log(word);\n`);
    const link = join(place.home, "linked.ts");
    symlinkSync(file, link);
    expect(await place.start(link, [])).toEqual({ exit: 0, stdout: "beside\n", stderr: "" });
  });

  it("a hook script imports packages of the project, and names a missing one", async () => {
    place.file("node_modules/esm-only/package.json", '{"name":"esm-only","type":"module","exports":"./index.js"}');
    place.file("node_modules/esm-only/index.js", "export default 5;\nexport const six = 6;\n");
    const good = place.script(
      ".hooks/packages.ts",
      `${header}import five, { six } from "esm-only";\nconsole.log(five + six);\n`,
    );
    expect((await place.start(good, [])).stdout).toBe("11\n");
    const bad = place.script(".hooks/missing.ts", `${header}import x from "not-there";\nconsole.log(x);\n`);
    const { exit, stderr } = await place.start(bad, [], call("ls"));
    expect(exit).toBe(2);
    expect(stderr).toContain('The package "not-there"');
    expect(stderr).toContain("npm install not-there");
  });

  it.each([
    ["preToolUse", 2],
    ["PreToolUse", 2],
    ["UserPromptSubmit", 2],
    ["beforeShellExecution", 2],
    ["stop", 1],
    ["Stop", 1],
    ["PreCompact", 1],
    ["PostToolUse", 1],
  ])("a hook script with a bug refuses the call on %s (%i)", async (name, code) => {
    const file = place.script(".hooks/wrong.ts", `${header}const a: = 1;\n`);
    const { exit, stdout, stderr } = await place.start(file, [], { hook_event_name: name });
    expect({ exit, stdout }).toEqual({ exit: code, stdout: "" });
    expect(stderr).toMatch(/wrong\.ts.*\(2:10\)/);
    expect(stderr.includes("Refused")).toBe(code === 2);
  });

  it("an error in a TypeScript hook names the line in the source file", async () => {
    const file = place.script(
      ".hooks/throws.ts",
      `${header}type A = {\n  b: string;\n};\nconst a: A = { b: "c" };\nthrow new Error(a.b);\n`,
    );
    const { exit, stderr } = await place.start(file, [], { hook_event_name: "stop" });
    expect(exit).toBe(1);
    expect(stderr).toContain("throws.ts:6:");
  });
});

describe("the cache", () => {
  const folder = () => join(place.config, "courser/hook-cache");

  it("the cache of hook scripts is readable only by its owner and stores each script once", async () => {
    const before = new Set(existsSync(folder()) ? readdirSync(folder()) : []);
    const file = place.script(
      ".hooks/once.ts",
      "#!/usr/bin/env courser-hook\nconst once: string = 'once';\nconsole.log(once);\n",
    );
    for (let round = 0; round < 3; round++) expect((await place.start(file, [])).stdout).toBe("once\n");
    const added = readdirSync(folder()).filter((name) => !before.has(name));
    expect(added).toHaveLength(1);
    expect(statSync(join(folder(), added[0]!)).mode & 0o777).toBe(0o600);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
  });

  it("the cache of hook scripts uses the script's content as key", async () => {
    const text = (word: string) => `#!/usr/bin/env courser-hook\nconst word: string = "${word}";\nconsole.log(word);\n`;
    for (const word of ["one", "two", "one"])
      expect((await place.start(place.script(".hooks/change.ts", text(word)), [])).stdout).toBe(`${word}\n`);
  });

  it.each([
    ["cut", (text: string) => text.slice(0, 40), 0o600],
    ["of another source", (text: string) => text.replace("'safe'", "'evil'"), 0o600],
    ["that others may write", (text: string) => text.replaceAll("'safe'", "'evil'"), 0o666],
  ])("the hook launcher ignores a cached script that is %s", async (_name, change, mode) => {
    const file = place.script(
      ".hooks/safe.ts",
      "#!/usr/bin/env courser-hook\nconst word: string = 'safe';\nconsole.log(word);\n",
    );
    await place.start(file, []);
    const kept = readdirSync(folder())
      .map((name) => join(folder(), name))
      .find((each) => readFileSync(each, "utf8").includes("'safe'"))!;
    writeFileSync(kept, change(readFileSync(kept, "utf8")));
    chmodSync(kept, mode);
    expect((await place.start(file, [])).stdout).toBe("safe\n");
  });

  it("the cache of hook scripts removes old entries and remains small", async () => {
    mkdirSync(folder(), { recursive: true, mode: 0o700 });
    for (let index = 0; index < 80; index++) writeFileSync(join(folder(), `old-${index}.js`), "");
    await place.start(
      place.script(".hooks/more.ts", "#!/usr/bin/env courser-hook\nconsole.log('more' as string);\n"),
      [],
    );
    expect(readdirSync(folder()).length).toBeLessThanOrEqual(64);
  });

  it("hook scripts run even if the cache folder is not writable", async () => {
    const env = { CURSOR_CONFIG_DIR: "/dev/null/nowhere" };
    const { exit } = await place.start(script, ["--host", "cursor"], call("rm -rf x"), { env });
    expect(exit).toBe(2);
  });
});

describe("start-up time of hook scripts", () => {
  it("a cached hook script takes at most 2.5 times as long as an empty program", () => {
    const time = (program: string, args: string[]) => {
      const started = performance.now();
      spawnSync(program, args, { env: place.env, cwd: place.path, input: JSON.stringify(call("ls")) });
      return performance.now() - started;
    };
    // Side by side, so that a busy machine slows both; the least of each is what the work itself takes. A machine that is
    // never quiet is given more rounds.
    const empty: number[] = [];
    const hook: number[] = [];
    const ratio = () => Math.min(...hook) / Math.min(...empty);
    for (let round = 0; round < 8 || (round < 60 && ratio() > 2.5); round++) {
      empty.push(time(process.execPath, ["-e", "0"]));
      hook.push(time("./.hooks/guard.ts", ["--host", "cursor"]));
    }
    expect(ratio()).toBeLessThanOrEqual(2.5);
  });
});
