// defineAgent: the example of docs/sdk/own-agents.md, and what keeps a definition honest.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAgent, detectCli, getCapabilities, isCall, loadSession, openLive, start } from "../../src/sdk/index.ts";
import { createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());
const program = join(workspace.home, "bin/echo-agent");
const env = { PATH: [join(workspace.home, "bin"), process.env["PATH"]].join(":") };

mkdirSync(join(workspace.home, "bin"), { recursive: true });
writeFileSync(
  program,
  `#!${process.execPath}
const args = process.argv.slice(2);
if (args[0] === "--version") { console.log("echo-agent 1.2.3"); process.exit(); }
const say = (line) => console.log(JSON.stringify(line));
const prompt = args.at(-1);
say({ type: "hello", session: args[args.indexOf("--continue") + 1].startsWith("s-") ? args[args.indexOf("--continue") + 1] : "s-1" });
say({ type: "chatter" });
if (prompt === "quota please") { say({ type: "bye", error: "429: slow down" }); process.exit(1); }
say({ type: "call", id: "c1", tool: "sh", args: { command: "ls" } });
say({ type: "result", id: "c1", text: "a.txt" });
say({ type: "say", text: "You said: " + prompt });
say({ type: "bye", input: 3, output: 4 });
`,
  { mode: 0o755 },
);

beforeAll(() => {
  const page = readFileSync(join(repository, "docs/sdk/own-agents.md"), "utf8");
  const [, block] = /```ts\n(import \{ defineAgent[\s\S]*?)```/.exec(page) ?? [];
  const [definition] = block!.replace(/^import .*$/gm, "").split("const run =");
  new Function("defineAgent", definition!)(defineAgent);
});

test("the documented example of defineAgent drives a CLI that the package does not know", async () => {
  expect(await detectCli("echo", { env: { ...process.env, ...env } })).toMatchObject({
    path: program,
    version: "1.2.3",
  });
  expect(await getCapabilities("echo")).toMatchObject({
    resume: true,
    usage: true,
    fork: false,
    permissionCallback: false,
  });
  const run = start({ tool: "echo", prompt: "some words", cwd: workspace.path, env });
  const calls: string[] = [];
  for await (const event of run.events)
    if (event.type === "tool_end" && isCall(event, "Bash")) calls.push(event.args.command);
  expect(calls).toEqual(["ls"]);
  expect(await run.result).toMatchObject({
    outcome: "success",
    text: "You said: some words",
    sessionId: "s-1",
    usage: { inputTokens: 3, outputTokens: 4 },
    turns: 2,
    ignored: 1,
    losses: [],
  });
  const messages = [];
  for await (const { role } of run.messages) messages.push(role);
  expect(messages).toEqual(["system", "user", "assistant", "system", "assistant"]);
  expect((await run.session.send("more words").result).text).toBe("You said: more words");
  expect(
    (await start({ tool: "echo", prompt: "quota please", cwd: workspace.path, env }).result) as object,
  ).toMatchObject({
    outcome: "error",
    error: { code: "MODEL_RATE_LIMIT", message: "429: slow down" },
  });
  const session = await openLive({ tool: "echo", cwd: workspace.path, env });
  expect(await session.send({ text: "live words" }).ending).toMatchObject({ text: "You said: live words" });
  await session.close();
});

test("an option that the definition does not look at is refused if it restricts, and a loss if it does not", async () => {
  const refused = [
    { permissions: { deny: ["Shell(rm)"] } },
    { allowedTools: ["Read"] },
    { sandbox: true },
    { mode: "plan" },
    { permissionMode: "plan" },
    { images: ["a.png"] },
    { resume: "s-1", fork: true },
    { mcpServers: { docs: { command: "docs" } } },
  ] as const;
  for (const options of refused)
    expect(() => start({ tool: "echo", prompt: "go", ...options }), JSON.stringify(options)).toThrow(
      "echo-agent has no flag for",
    );
  expect(() => start({ tool: "echo", prompt: "go", canUseTool: () => true })).toThrow("canUseTool cannot be used");
  const { losses } = await start({
    tool: "echo",
    prompt: "go on",
    cwd: workspace.path,
    env,
    effort: "high",
    addDirs: ["/d"],
  }).result;
  expect(losses.map(({ option }) => option)).toEqual(["effort", "addDirs"]);
});

test("defineAgent checks its definition, and cannot replace an agent of the package", async () => {
  const given = { tool: "mine", programs: ["mine"], command: () => ({ args: [] }) };
  expect(() => defineAgent({ ...given, tool: "claude" })).toThrow("claude is an agent of this package");
  expect(() => defineAgent({ ...given, tool: "My agent" })).toThrow("lower-case");
  expect(() => defineAgent({ ...given, programs: [] })).toThrow("at least one program");
  expect(() => defineAgent({ ...given, lines: { a: "end" } })).toThrow("lines and readers");
  expect(() => start({ tool: "nobody", prompt: "go" })).toThrow(/tool must be one of cursor, claude.*echo/);
  await expect(loadSession({ tool: "echo", sessionId: "s-1" })).rejects.toThrow("Sessions of 'echo' cannot be read");
});

test("an agent without lines of its own has the format of cursor-agent", async () => {
  const peer = join(repository, "test/sdk/fixtures/peer-cli.mjs");
  defineAgent({ tool: "drop-in", programs: ["drop-in"], supports: ["resume"], command: () => ({ args: ["--print"] }) });
  const { text } = await start({
    tool: "drop-in",
    prompt: "some words",
    executable: [process.execPath, peer, "cursor"],
  }).result;
  expect(text).toBe("You said: some words");
});
