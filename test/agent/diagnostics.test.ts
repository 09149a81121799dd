// Errors after edits: from real language servers where they are installed, and from one that fails in every way. The CLI is the
// built one.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Connection } from "../../src/agent/diagnostics/connection.ts";
import { createDiagnostics } from "../../src/agent/diagnostics/index.ts";
import { newErrors } from "../../src/agent/diagnostics/new-errors.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import type { Sandbox } from "../../src/agent/sandbox/index.ts";
import { findProgram } from "../../src/process/find-program.ts";
import { type ModelAnswer, modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const noSandbox = spawnSync("bwrap", ["--dev-bind", "/", "/", "true"]).status !== 0 && "bwrap does not run here";

const places: Workspace[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

function workspaceWith(files: Record<string, string>): Workspace {
  const place = createWorkspace(files);
  places.push(place);
  return place;
}

/** A folder beside the workspace with the server of the tests in it, called as a real one is. */
function scriptedServer(place: Workspace, mode: string, folder = join(place.home, "programs")): { PATH: string } {
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(repository, "test/support/language-server.mjs"), join(folder, "language-server.mjs"));
  writeFileSync(join(folder, "mode"), mode);
  writeFileSync(
    join(folder, "pyright-langserver"),
    `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} "$(dirname "$0")/language-server.mjs"\n`,
  );
  chmodSync(join(folder, "pyright-langserver"), 0o755);
  return { PATH: `${folder}${delimiter}${place.env["PATH"]}` };
}

type Edit = [path: string, oldText: string, newText: string];
type Run = { flags?: readonly string[]; settings?: object; env?: Record<string, string>; thinkMs?: number };

/** Each of the edits in a reply of its own. Returns what the model was told after each, and how the run went. */
async function runEdits(
  place: Workspace,
  edits: readonly Edit[],
  { flags = ["--trust"], settings, env, thinkMs }: Run = {},
) {
  let reply = 0;
  const answer = (): ModelAnswer => {
    const next = edits[reply++];
    const pause = thinkMs === undefined ? {} : { delayMs: thinkMs };
    if (!next) return { text: "Done.", ...pause };
    const [path, oldText, newText] = next;
    const isNew = oldText === "";
    const args = isNew ? { path, content: newText } : { path, edits: [{ oldText, newText }] };
    return { toolCalls: [{ id: `call_${reply}`, name: isNew ? "Write" : "Edit", args }], ...pause };
  };
  await using server = await modelServer(answer);
  mkdirSync(place.config, { recursive: true });
  writeFileSync(join(place.config, "courser.json"), JSON.stringify({ ...server.settings, ...settings }));
  const args = ["-p", ...flags, "--output-format", "stream-json", "--model", "chat/model", "go"];
  const run = await place.run(args, { env: { ...env, ...server.env }, timeoutMs: 60_000 });
  const asked = server.requests.filter(({ method }) => method === "POST");
  const messages: { role: string; content: unknown }[][] = asked.map(({ json }) => json.messages);
  const told = messages.slice(1).map((list, index) => {
    const since = list.slice(messages[index]!.length).filter(({ role }) => role !== "assistant");
    return since.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))).join("\n");
  });
  return { told, run, leftBehind: processesOf(place.home) };
}

/** Command lines of processes that have this home. */
function processesOf(home: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${home}`)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
    } catch {
      return [];
    }
  });
}

const typescriptFiles = {
  "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true }, "include": ["."] }',
  "one.ts": "const old: number = 'was there';\nexport function one(): number {\n  return 1;\n}\n",
  "two.ts": 'import { one } from "./one";\nexport const two: number = one();\n',
};
const typescriptEdits: Edit[] = [
  ["one.ts", "return 1;", "return 'one';"],
  ["one.ts", "export", "// What follows moves.\nexport"],
  ["two.ts", "export", "// Opened.\nexport"],
  ["one.ts", "function one", "function three"],
];

function checkTypescript(told: readonly string[], server: string): void {
  const all = told.join("\n");
  expect(all).toContain(`(${server}):\n`);
  expect(all).toMatch(/one\.ts:[34]:3 Type 'string' is not assignable to type 'number'\. \[2322\]/);
  expect(all).toContain(`two.ts:1:10 Module '"./one"' has no exported member 'one'. [2305]`);
  expect(all.match(/\[\d+\]/g)).toHaveLength(2);
  expect(all).not.toContain("one.ts:1:");
}

describe("real language servers", () => {
  test.skipIf(noSandbox)(orSkipped("TypeScript 7, which is one itself, in the project", noSandbox), async () => {
    const place = workspaceWith(typescriptFiles);
    mkdirSync(join(place.path, "node_modules/.bin"), { recursive: true });
    const modules = join(repository, "node_modules");
    symlinkSync(join(modules, "typescript"), join(place.path, "node_modules/typescript"));
    symlinkSync(join(modules, ".bin/tsc"), join(place.path, "node_modules/.bin/tsc"));
    const { told, run, leftBehind } = await runEdits(place, typescriptEdits, { thinkMs: 200 });
    expect(run.exit).toBe(0);
    checkTypescript(told, "tsc");
    expect(leftBehind).toEqual([]);
  });

  // Without the programs of this repository: its own TypeScript would be taken.
  const PATH = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.startsWith(repository))
    .join(delimiter);
  const serverOf = (name: string) => findProgram(name, { PATH });
  const typescript = serverOf("typescript-language-server");
  test.skipIf(typescript === undefined)(
    orSkipped("TypeScript before version 7", !typescript && "typescript-language-server is not in PATH"),
    async () => {
      const place = workspaceWith(typescriptFiles);
      const { told, run, leftBehind } = await runEdits(place, typescriptEdits, { thinkMs: 4000, env: { PATH } });
      expect(run.exit).toBe(0);
      checkTypescript(told, "typescript-language-server");
      expect(leftBehind).toEqual([]);
    },
    60_000,
  );

  const pyright = serverOf("pyright-langserver");
  test.skipIf(pyright === undefined)(
    orSkipped("pyright", !pyright && "pyright-langserver is not in PATH"),
    async () => {
      const place = workspaceWith({ "one.py": "old: int = 'was there'\n\ndef one() -> int:\n    return 1\n" });
      const edits: Edit[] = [
        ["one.py", "return 1", "return 'one'"],
        ["two.py", "", "from one import one\ntwo: int = one()\n"],
        ["one.py", "def one", "def three"],
      ];
      const { told, run, leftBehind } = await runEdits(place, edits, { thinkMs: 4000 });
      expect(run.exit).toBe(0);
      const all = told.join("\n");
      expect(all).toContain("one.py:4:12 Type \"Literal['one']\" is not assignable to return type");
      expect(all).toContain('two.py:1:17 "one" is unknown import symbol');
      expect(all).not.toContain("one.py:1:");
      expect(leftBehind).toEqual([]);
    },
    60_000,
  );

  const clangd = serverOf("clangd");
  test.skipIf(clangd === undefined)(
    orSkipped("clangd", !clangd && "clangd is not in PATH"),
    async () => {
      const place = workspaceWith({ "one.c": 'int old = "was there";\n\nint one(void) {\n  return 1;\n}\n' });
      const edits: Edit[] = [["one.c", "return 1", "return none"]];
      const { told, run, leftBehind } = await runEdits(place, edits, { thinkMs: 4000 });
      expect(run.exit).toBe(0);
      expect(told.join("\n")).toContain("(clangd):\none.c:4:10 Use of undeclared identifier 'none'");
      expect(told.join("\n")).not.toContain("one.c:1:");
      expect(leftBehind).toEqual([]);
    },
    60_000,
  );
});

describe("a scripted language server", () => {
  const files = { "a.py": "BAD was there\nfine\n" };
  const edits: Edit[] = [["a.py", "fine", "also BAD"]];
  const lines = "1 new error (pyright-langserver):\na.py:2:6 also BAD is not good [bad-word]";

  test("the result of an edit reports only the language server's errors that the edit introduced", async () => {
    const place = workspaceWith(files);
    const { told, run, leftBehind } = await runEdits(place, edits, { env: scriptedServer(place, "good") });
    expect(told).toEqual([`The file ${join(place.path, "a.py")} has been updated.\n${lines}`]);
    expect(run.exit).toBe(0);
    const [call] = run.lines().filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
    expect(JSON.stringify(call)).not.toContain("new error");
    expect(leftBehind).toEqual([]);
  });

  test("the agent reports errors that a language server finds late as a notice, before the run ends", async () => {
    const place = workspaceWith(files);
    const { told, run } = await runEdits(place, edits, { env: scriptedServer(place, "slow"), thinkMs: 1000 });
    expect(told[0]).not.toContain("new error");
    expect(told[1]).toBe(`Found after earlier edits: ${lines}`);
    expect(run.notices()).toContain("a.py:2:6 also BAD is not good");
    expect(run.exit).toBe(0);
  });

  test.each([
    ["fails", /it exited with code 3: error: no such component/],
    ["crashes", /it was killed by SIGABRT|it exited with code/],
    ["talks about other things", /its output is not the language server protocol/],
  ])("a language server that %s is reported once, and edits still work", async (mode, why) => {
    const place = workspaceWith(files);
    const more: Edit[] = [...edits, ["a.py", "also BAD", "BAD again"]];
    const { told, run, leftBehind } = await runEdits(place, more, { env: scriptedServer(place, mode), thinkMs: 500 });
    expect(run.exit).toBe(0);
    expect(readFileSync(join(place.path, "a.py"), "utf8")).toBe("BAD was there\nBAD again\n");
    expect(told.join("\n")).not.toContain("new error");
    expect(run.notices().match(/pyright-langserver does not check edits/g)).toHaveLength(1);
    expect(run.notices()).toMatch(why);
    expect(leftBehind).toEqual([]);
  });

  test("a language server that never answers delays the run once, by 2 s", async () => {
    const place = workspaceWith({ "a.py": "0\n" });
    const many = Array.from({ length: 8 }, (_, index): Edit => ["a.py", `${index}`, `${index + 1}`]);
    const { run, leftBehind } = await runEdits(place, many, { env: scriptedServer(place, "mute") });
    expect(run.exit).toBe(0);
    const waited = run.lines().filter((line) => line["type"] === "result")[0]!["duration_ms"];
    // The first edit waits, and the end of the turn does.
    expect(waited).toBeGreaterThan(1900);
    expect(waited).toBeLessThan(12_000);
    expect(leftBehind).toEqual([]);
  });

  test("no language server starts in an untrusted workspace or with the setting off", async () => {
    for (const how of [{ flags: ["--force"] }, { settings: { diagnostics: false } }]) {
      const place = workspaceWith(files);
      const { told } = await runEdits(place, edits, { env: scriptedServer(place, "good"), ...how });
      expect(told).toEqual([`The file ${join(place.path, "a.py")} has been updated.`]);
    }
  });

  test.skipIf(noSandbox)(orSkipped("it can write nothing", noSandbox), async () => {
    const place = workspaceWith(files);
    await runEdits(place, edits, { env: scriptedServer(place, "writes"), thinkMs: 300 });
    expect(readFileSync(join(place.path, "a.py"), "utf8")).toBe("BAD was there\nalso BAD\n");
  });

  test.skipIf(noSandbox)(orSkipped("one of the project runs in the sandbox only", noSandbox), async () => {
    const place = workspaceWith(files);
    scriptedServer(place, "good", join(place.path, ".venv/bin"));
    const confined = await runEdits(place, edits);
    expect(confined.told[0]).toContain(lines);
  });
});

test("without a sandbox, only language servers in PATH outside the workspace start", async () => {
  const place = workspaceWith({ "a.py": "also BAD\n" });
  scriptedServer(place, "good", join(place.path, ".venv/bin"));
  const edit = { path: join(place.path, "a.py"), before: "fine\n", after: "also BAD\n", agent: "main" };
  const check = async (PATH: string) => {
    const processes = createProcessRunner();
    const sandbox = { problem: async () => "There is none.", end: async () => {} } as Sandbox;
    const env = { PATH };
    const diagnostics = createDiagnostics({ workspace: place.path, env, processes, sandbox, warn() {} });
    const found = await diagnostics.afterEdit(edit, new AbortController().signal);
    await diagnostics.end();
    return found;
  };
  const inside = [join(place.path, ".venv/bin"), place.env["PATH"]].join(delimiter);
  expect(await check(inside)).toBe("");
  expect(await check(scriptedServer(place, "good").PATH)).toContain("a.py:1:6 also BAD is not good");
});

describe("messages of a language server", () => {
  const framed = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  const log = framed(JSON.stringify({ method: "window/logMessage", params: { message: "x".repeat(1_000_000) } }));
  test.each([
    ["whatever the pieces are", [..."ab"].map((letter) => framed(`{"method":"${letter}"}`)).join(""), undefined],
    ["without a header", "Server listening.\n".repeat(500), /not the language server protocol/],
    ["with a header that says nothing", "Content-Type: text\r\n\r\n", /not the language server protocol/],
    ["too long", "Content-Length: 99999999\r\n\r\n", /a message of 99999999 bytes/],
    ["not JSON", framed("{"), /not JSON/],
    ["without end", log.repeat(40), /does not end/],
  ])("the agent reads a language server's messages, or refuses them with a reason: %s", (_name, said, problem) => {
    const heard: string[] = [];
    let broken: string | undefined;
    const connection = new Connection({
      write: async () => {},
      answer: () => null,
      notified: (method) => heard.push(method),
      broken: (why) => {
        broken = why;
      },
    });
    const bytes = Buffer.from(said);
    const step = bytes.length > 100_000 ? 65_536 : 7;
    for (let at = 0; at < bytes.length; at += step) connection.receive(bytes.subarray(at, at + step));
    if (problem) expect(broken).toMatch(problem);
    else expect([broken, heard]).toEqual([undefined, ["a", "b"]]);
  });
});

describe("which errors are new", () => {
  const error = (line: number, message = "wrong") => ({ line, column: 0, message, code: "" });
  test.each([
    ["one that moved with its line is not", "a\nb\n", [error(1)], "new\na\nb\n", [error(2)], []],
    ["the same words on another line are", "a\nb\nc\n", [error(0)], "a\nx\nc\n", [error(0), error(1)], [1]],
    ["one that was moved elsewhere is not", "a\nb\nc\n", [error(0)], "b\na\nc\n", [error(1)], []],
    ["other words are", "a\n", [error(0)], "b\n", [error(0, "worse")], [0]],
    ["all of a new file are", undefined, [], "a\nb\n", [error(0), error(1)], [0, 1]],
  ])("whether an error counts as new after an edit: %s", (_name, before, old, after, now, lines) => {
    const found = newErrors({ text: before, errors: old }, { text: after, errors: now });
    expect(found.map(({ line }) => line)).toEqual(lines);
  });
});
