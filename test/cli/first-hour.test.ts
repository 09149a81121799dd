// What a newcomer types in the first hour: almost a command, habits of other CLIs, trust, rules and keys.
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

describe("mistyped commands", () => {
  it.each([
    [["logn"], "Did you mean 'courser login'?"],
    [["statsu"], "Did you mean 'courser status'?"],
    [["sesions", "list"], "Did you mean 'courser sessions list'?"],
    [["version"], "courser --version"],
    [["exec", "fix it"], 'courser -p "…"'],
  ])("print mode does not send mistyped command words as a prompt: %j", async (words, hint) => {
    const { exit, stdout, stderr } = await workspace.run(words);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain(hint);
    expect(stderr).toContain(`To send it as a prompt: courser -- "${words.join(" ")}"`);
  });

  it.each([[["--", "version"]], [["hello"]], [["-p", "logn"]], [["-p", "trust"]], [["-p", "runs"]], [["trust", "-p"]]])(
    "print mode sends the words %j as a prompt",
    async (words) => {
      const { stdout } = await workspace.run(["--trust", "--output-format", "stream-json", ...words]);
      const [, user] = stdout.split("\n").map((line) => (line === "" ? {} : JSON.parse(line)));
      expect(user.message?.content?.[0]?.text, stdout).toBe(words.findLast((word) => !word.startsWith("-")));
    },
  );

  it("command names of the original CLI stay commands with -p", async () => {
    expect((await workspace.run(["-p", "models"])).stdout).toMatch(/^Available models\n/);
  });
});

describe("unknown options", () => {
  it.each([
    ["--foo", /unknown option '--foo'\. Put a prompt/],
    ["--yol", /unknown option '--yol'\. Put a prompt/],
    ["--modle", /Did you mean --model\?/],
    ["-m", /--model <model>/],
    ["--verbose", /--debug/],
    ["--no-color", /NO_COLOR=1/],
    ["--dangerously-skip-permissions", /--force, which still respects deny rules/],
  ])("an unknown option is refused with what to type instead: %s", async (flag, hint) => {
    const { exit, stderr } = await workspace.run(["-p", flag, "x"]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(hint);
  });
});

describe("trust", () => {
  const trusted = async () =>
    JSON.parse((await workspace.run(["trust", "--format", "json"])).stdout) as { path: string }[];

  it("the trust command lists, adds and removes trusted directories", async () => {
    mkdirSync(join(workspace.path, "sub"));
    expect(await trusted()).toEqual([]);
    expect((await workspace.run(["trust", "add", "sub"])).stdout).toBe(`✓ Trusted: ${join(workspace.path, "sub")}\n`);
    expect(await trusted()).toEqual([{ path: join(workspace.path, "sub"), exists: true }]);
    const shown = (await workspace.run(["trust"])).stdout;
    expect(shown).toMatch(
      /^Trusted directories, .*:\n {2}\S+\/sub\n\nThis one, .* is not trusted\. To trust it: courser trust add\n$/,
    );
    expect(await workspace.run(["trust", "remove", "sub"])).toMatchObject({ exit: 0 });
    expect(await trusted()).toEqual([]);
    expect((await workspace.run(["trust", "add"], { env: { CURSOR_AGENT: "1" } })).stderr).toContain("[UNTRUSTED]");
  });

  it("--trust is saved even if the run does not start", async () => {
    expect((await workspace.run(["-p", "--trust", "--model", "nobody/x", "hi"])).exit).toBe(1);
    expect(await trusted()).toEqual([{ path: workspace.path, exists: true }]);
  });

  it("trusting a home directory prints a warning or asks first", async () => {
    const run = await workspace.run(["-p", "--trust", "--workspace", workspace.home, "hi"]);
    expect(run.exit).toBe(0);
    expect(run.stderr).toMatch(/contains more than one project.*trust remove/);
    await workspace.run(["trust", "remove", workspace.home]);
    expect((await workspace.run(["trust", "add", workspace.home])).stderr).toContain("--yes");
  });
});

it("permissions remove deletes rules from both the allow and the deny list", async () => {
  await workspace.run(["permissions", "allow", "Shell(npm test)"]);
  expect((await workspace.run(["permissions", "remove", "Shell(npm test)"])).stdout).toMatch(
    /^✓ removed allow Shell\(npm test\)/,
  );
  expect(await workspace.run(["permissions", "remove", "Shell(npm test)"])).toMatchObject({ exit: 2 });
});

describe("runs that fail once they are set up", () => {
  const kinds = async (args: string[]) => {
    const run = await workspace.run(["-p", "--trust", "--output-format", "stream-json", ...args, "hi"]);
    expect(run.exit).toBe(1);
    const lines = run.lines();
    expect(lines.at(-1)).toMatchObject({ is_error: true, session_id: lines[0]!["session_id"] });
    return lines.map(({ type, subtype }) => [type, subtype].filter(Boolean).join("/"));
  };

  it("a run that fails after set-up begins its stream with an init line", async () => {
    const script = workspace.file(
      "script.json",
      JSON.stringify([{ error: { code: "MODEL_AUTH_ERROR", message: "no" } }]),
    );
    const [first, ...rest] = await kinds(["--model", `script:${script}`]);
    expect([first, rest.at(-1)]).toEqual(["system/init", "result/error"]);
    // Read when the run is put together, which is after it is set up.
    workspace.file("../home/.cursor/hooks.json", "{");
    const [begun, ...then] = await kinds(["--model", "offline"]);
    expect([begun, then.at(-1)]).toEqual(["system/init", "result/error"]);
  });
});

describe("keys", () => {
  it("login does not save a key that the vendor refuses", async () => {
    const server = createServer((_, response) => response.writeHead(401).end("{}")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const env = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const refused = await workspace.run(["login", "anthropic", "--api-key", "sk-ant-x"], { env });
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toMatch(/^Error: API key invalid: .*\[MODEL_AUTH_ERROR\]/);
    expect((await workspace.run(["status"])).stdout).toBe("Not logged in\n");
    expect((await workspace.run(["login", "anthropic", "--api-key", "sk-ant-x", "--no-verify"], { env })).exit).toBe(0);
    server.close();
    const status = await workspace.run(["status"], { env: { OPENAI_API_KEY: "k" } });
    expect(status.stdout).toMatch(/Keys:\n {2}anthropic +login\n {2}openai +OPENAI_API_KEY\n/);
  });

  it("the init line names the source of a given API key, whichever model answers", async () => {
    const source = async (args: string[], env: Record<string, string>) =>
      (await workspace.run(["-p", "--trust", "--output-format", "stream-json", ...args, "hi"], { env })).lines()[0]![
        "apiKeySource"
      ];
    expect(await source([], {})).toBe("none");
    expect(await source([], { CURSOR_API_KEY: "key_abc" })).toBe("env");
    expect(await source(["--api-key", "key_abc"], {})).toBe("flag");
    expect(await source(["--model", "offline"], { ANTHROPIC_API_KEY: "sk-ant-x" })).toBe("env");
    const script = workspace.file("script.json", JSON.stringify([{ text: "hi" }]));
    expect(await source(["--model", `script:${script}`], { GEMINI_API_KEY: "k" })).toBe("env");
    expect(await source(["--model", `script:${script}`], { GEMINI_API_KEY: " " })).toBe("none");
  });
});
