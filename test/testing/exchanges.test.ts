// `record -- claude …` and `replay FILE -- claude …`, with a stand-in for the program; `npm run long -- try-agents` does it with the real ones.
import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { exchangeDifference } from "../../src/testing/exchanges/exchange-difference.ts";
import type { ModelServer } from "../../src/testing/kit/model-server.ts";
import { strictServer } from "../model/strict/server.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

/** Asks once for a title and twice for the conversation, with a time, a path, an id and a secret in what it says. */
const standIn = `#!${process.execPath}
if (process.argv.includes("--version")) { console.log("2.0.1"); process.exit(); }
const [prompt, turns = "2"] = process.argv.slice(2);
const { randomUUID } = require("node:crypto");
const ask = async (body) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages?beta=true", {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": process.env.ANTHROPIC_API_KEY, "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 100, stream: true, metadata: { user_id: randomUUID() }, ...body }),
  });
  const text = await response.text();
  if (!response.ok) { console.error(text); process.exit(3); }
  return [...text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece).join("");
};
const tools = [{ name: "Read", description: "Reads.", input_schema: { type: "object", properties: {} } }];
const system = "Version 2.0.1 in " + process.cwd() + ", " + new Date().toISOString() + ", session " + randomUUID();
(async () => {
  const messages = [{ role: "user", content: prompt + " with " + process.env.ANTHROPIC_API_KEY }];
  const title = ask({ messages: [{ role: "user", content: "A title for: " + prompt }] });
  for (let turn = 0; turn < Number(turns); turn++) {
    const said = await ask({ system, tools, messages });
    messages.push({ role: "assistant", content: said }, { role: "user", content: "Go on." });
  }
  console.log(await title, messages.at(-2).content);
  process.exit(4);
})();
`;

const key = "sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
let here: Workspace;
let there: Workspace;
let vendor: ModelServer & { violations: string[] };
let file: string;

beforeEach(async () => {
  [here, there] = [createWorkspace(), createWorkspace()];
  for (const each of [here, there]) chmodSync(each.file("bin/claude", standIn), 0o755);
  file = join(here.home, "run.jsonl");
  let turns = 0;
  vendor = await strictServer(({ json }) => ({ text: json.tools ? ["Turn ", String(++turns)] : "A title." }));
});
afterEach(async () => {
  await vendor.stop();
  here.remove();
  there.remove();
});

const record = (...words: string[]) => {
  const env = { ANTHROPIC_BASE_URL: vendor.url, ANTHROPIC_API_KEY: key };
  return here.run(["record", "-o", file, "--", "bin/claude", ...words], { env });
};
const replay = (words: readonly string[], flags: readonly string[] = []) =>
  there.run(["replay", file, ...flags, "--", "bin/claude", ...words]);

it("the record command saves a program's model requests and replies; replay answers from them without a key", async () => {
  const recorded = await record("Hello");
  expect(recorded).toMatchObject({ exit: 4, stdout: "A title. Turn 2\n", stderr: "" });
  expect(vendor.violations).toEqual([]);
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain(key);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines[0]).toMatchObject({ exchanges: 1, agent: "claude", agentVersion: "2.0.1" });
  expect(lines.filter((line) => line.request)).toHaveLength(3);
  // The conversation is written once.
  expect(text.match(/Reads\./g)).toHaveLength(1);
  await vendor.stop();
  expect(await replay(["Hello"])).toMatchObject({ exit: 4, stdout: "A title. Turn 2\n", stderr: "" });
  const slow = await replay(["Hello"], ["--speed", "0.5"]);
  expect(slow).toMatchObject({ exit: 4, stdout: "A title. Turn 2\n" });
});

it("replay names the first request that differs, and can continue", async () => {
  await record("Hello");
  const other = await replay(["Goodbye"]);
  expect(other.exit).toBe(1);
  expect(other.stderr).toMatch(
    /differs from this run in request \d: messages\[0\] \(user\): recorded ".*Hello.*", now ".*Goodbye.*REPLAY_DIVERGED/,
  );
  const warned = await replay(["Goodbye"], ["--replay-on-mismatch", "continue"]);
  expect(warned).toMatchObject({ exit: 4, stdout: "A title. Turn 2\n" });
  expect(warned.stderr).toContain("Warning: The recording");
  expect((await replay(["Hello", "3"])).stderr).toContain(
    "has 2 requests of the conversation, and the run asks for one more.",
  );
  expect((await replay(["Hello", "1"])).stderr).toMatch(
    /has 1 more: request \d was not made by this run\. .*REPLAY_DIVERGED/,
  );
});

it("replay names the call whose result differs, though ids differ in each run", () => {
  const request = (run: string, result: string) => {
    const call = (name: string) => ({ type: "tool_use", id: `${name}-${run}`, name, input: {} });
    const answer = (name: string, content: string) => ({ type: "tool_result", tool_use_id: `${name}-${run}`, content });
    const messages = [
      { role: "assistant", content: [call("Read"), call("Bash")] },
      { role: "user", content: [answer("Read", result), answer("Bash", "same")] },
    ];
    return { request: 1, at: 0, method: "POST", path: "/v1/messages", body: { tools: [{ name: "Read" }], messages } };
  };
  const asIs = (text: string) => text;
  expect(exchangeDifference(request("a", "one"), request("b", "two"), { recorded: asIs, now: asIs })).toBe(
    'messages[1] (result of Read, call_1): recorded "one", now "two"',
  );
});

it("replay takes a number in place of the same digits as text for a difference", () => {
  const request = (limit: unknown) => {
    const messages = [{ role: "user", content: [{ type: "text", text: "go" }] }];
    return { request: 1, at: 0, method: "POST", path: "/v1/messages", body: { messages, limit } };
  };
  const asIs = (text: string) => text;
  const between = (one: unknown, other: unknown) =>
    exchangeDifference(request(one), request(other), { recorded: asIs, now: asIs });
  expect(between(1, "1")).toMatch(/limit: recorded .*1.*, now .*1/);
  expect(between("true", true)).toMatch(/limit: /);
});

it("record and replay say what can be recorded, and what a file is a recording of", async () => {
  const stderrOf = async (...words: string[]) => (await here.run(words)).stderr;
  expect(await stderrOf("record", "-o", file, "--", "bash", "-c", "true")).toContain(
    "These can: claude, codex, gemini",
  );
  expect(await stderrOf("record", "--", "claude")).toContain("record needs a file and a command");
  await record("Hello");
  expect(await stderrOf("replay", file, "--", process.execPath, "x")).toContain("These can: claude");
  expect(await stderrOf("replay", file, "--", cli, "-p", "x")).toContain("is one of claude. Replay it with: -- claude");
  expect(await stderrOf("replay", file)).toMatch(/is one of claude\. Play it with: .* -- claude/);
  const damaged = here.file("damaged.jsonl", '{"exchanges":1}\n{"reply":1,"chunks":[]}\n');
  expect(await stderrOf("replay", damaged, "--", "bin/claude")).toContain("line 2: there is no request 1");
});

it("recording this CLI equals --record", async () => {
  const script = here.file(
    "script.json",
    JSON.stringify([{ calls: [{ name: "LS", args: { path: "." } }] }, { text: "Done." }]),
  );
  const run = ["-p", "--trust", "--model", `script:${script}`, "go"];
  expect(await here.run(["record", "-o", file, "--", cli, ...run])).toMatchObject({ exit: 0, stdout: "Done.\n" });
  expect(JSON.parse(readFileSync(file, "utf8").split("\n")[0]!)).toHaveProperty("recording", 1);
  const again = ["replay", file, "--", cli, "-p", "--trust", "--model", "gpt-5", "go"];
  expect(await here.run(again)).toMatchObject({ exit: 0, stdout: "Done.\n" });
});
