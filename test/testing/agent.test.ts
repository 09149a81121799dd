// Any agent CLI in a test: our own here, the real ones of others by `npm run long -- try-agents`.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { agent, expectRun, scriptedModel, workspace } from "../../src/testing/kit/index.ts";
import { repository } from "../support/run-cli.ts";

const courserProgram = [process.execPath, `${repository}/dist/courser.cjs`];
const courser = agent("cursor", { executable: courserProgram });

it("the testing kit runs the real program on a scripted model and reports calls and requests", async () => {
  using files = workspace({ "a.txt": "one\n" });
  using model = scriptedModel([
    {
      calls: [
        { name: "Read", args: { path: "a.txt" } },
        { name: "Shell", args: { command: "rm -rf /" } },
      ],
    },
    { expect: "one", text: "Done." },
  ]);
  const run = await courser.run("read it", { workspace: files, model });
  expectRun(run).toHaveSucceeded();
  expectRun(run).toHaveCalledTool("Read", { path: "a.txt" }, { times: 1 });
  expectRun(run).toHaveCalledInOrder(["Read", "Bash"]);
  expectRun(run).not.toHaveCalledInOrder(["Bash", "Read"]);
  expectRun(run).toHaveBeenDenied("Bash", /system folder/);
  expectRun(run.requests[0]!).toHaveTool("Read");
  expectRun(run).not.toHaveTool("mcp__mine__search");
  expect(run.text).toBe("Done.");
  expect(run.requests).toHaveLength(2);
  const [first, second] = run.requests;
  expect(first!.system).toContain("Workspace");
  expect(first!.messages.at(-1)).toMatchObject({ role: "user", text: expect.stringContaining("read it") });
  expect(second!.messages.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(["Read", "Shell"]);
  expect(second!.messages.filter(({ role }) => role === "tool").map(({ text }) => text)).toContain("one\n");
});

it("the testing kit reports missing, surplus and unexpected model replies at once", async () => {
  using files = workspace();
  const run = async (replies: Parameters<typeof scriptedModel>[0]) => {
    using model = scriptedModel(replies);
    return await courser.run("go", { workspace: files, model });
  };
  const read = { calls: [{ name: "LS", args: { path: "." } }] };
  await expect(run([read])).rejects.toThrow("The script has 1 reply, and the agent asked for one more.");
  await expect(run(["Done.", "More."])).rejects.toThrow("The run ended with 1 of 2 replies left over. It ended well.");
  await expect(run([{ expect: "stop", text: "Done." }])).rejects.toThrow('Reply 1 expects "stop"');
  // Only what was sent since the last answer counts, as for --model script:FILE.
  await expect(run([read, { expect: "go", text: "Done." }])).rejects.toThrow(
    'Reply 2 expects "go", but the agent sent',
  );
});

it("an agent is given steps, delays, usage and errors of the script, and an error at its end as often as it asks", async () => {
  using files = workspace({ "a.txt": "one\n" });
  const read = { name: "Read", args: { path: "a.txt" } };
  using model = scriptedModel([
    { steps: [{ thinking: "Hm." }, { text: "I look." }, { delayMs: 5 }, { call: read }] },
    { error: { code: "MODEL_RATE_LIMIT", message: "Slow down.", retryAfterMs: 1 } },
    { expect: "one", text: "Done.", usage: { inputTokens: 70, outputTokens: 7, cacheReadTokens: 30 } },
  ]);
  const run = await courser.run("read it", { workspace: files, model });
  expectRun(run).toHaveCalledTool("Read", read.args, { times: 1 });
  expect(run.text).toBe("I look.Done.");
  expect(run.events.filter(({ type }) => type === "retry")).toHaveLength(1);
  expect(run.outcome.usage).toMatchObject({ inputTokens: 80, outputTokens: 12, cacheReadTokens: 30 });

  using failing = scriptedModel([{ error: { code: "MODEL_AUTH_ERROR", message: "No such key." } }]);
  const failed = await courser.run("read it", { workspace: files, model: failing });
  expectRun(failed).toHaveFailed("MODEL_AUTH_ERROR");

  using loop = scriptedModel([{ calls: [read] }, "Again."], { loop: true });
  for (const _ of [1, 2]) expect((await courser.run("go", { workspace: files, model: loop })).text).toBe("Again.");
});

it("every scripted tool call has its own id, also in a resumed session, and no id is part of another", async () => {
  using files = workspace();
  const ls = { name: "LS", args: { path: "." } };
  const replies = [{ calls: [ls, ls] }, "Done."];
  using model = scriptedModel(replies);
  using another = scriptedModel(replies);
  const first = await courser.run("go", { workspace: files, model });
  const second = await courser.run("go on", { workspace: files, model: another, resume: first.sessionId! });
  const ids = [...first.toolCalls, ...second.toolCalls].map(({ callId }) => callId);
  expect(new Set(ids).size).toBe(4);
  expect(ids.join()).not.toMatch(/_\d+_\d/);
});

it("a tool of an MCP server is scripted, found and checked as mcp__server__tool with its own arguments", async () => {
  using files = workspace();
  const args = { text: "hello" };
  using model = scriptedModel([{ calls: [{ name: "mcp__tiny__say", args }] }, "Done."]);
  const mcpServers = { tiny: { command: process.execPath, args: [`${repository}/scripts/tiny-mcp-server.mjs`] } };
  const run = await courser.run("say it", { workspace: files, model, mcpServers, permissionMode: "force" });
  expectRun(run.requests[0]!).toHaveTool("mcp__tiny__say");
  for (const name of ["mcp__tiny__say", "tiny-say"])
    expectRun(run).toHaveCalledTool(name, args, { times: 1, outcome: "success" });
  expectRun(run).toHaveCalledInOrder(["Mcp"]);
  expectRun(run).not.toHaveCalledTool("mcp__tiny__say", { text: "bye" });
});

it("an agent under test reaches no network but its model, and the testing kit says what isolates it", async (context) => {
  const { isolation } = courser;
  if (isolation !== "sandbox") return context.skip("bubblewrap cannot make network namespaces here");
  let reached = 0;
  const other = createServer((_request, response) => {
    reached++;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const command = `node -e "fetch('http://127.0.0.1:${port}').catch((e) => console.log('cut off', e.cause.code))"`;
  const replies = [{ calls: [{ name: "Shell", args: { command } }] }, "Done."];
  const said: unknown[] = [];
  for (const each of [courser, agent("cursor", { executable: courserProgram, isolation: "settings" })]) {
    using files = workspace();
    using model = scriptedModel(replies);
    const options = {
      workspace: files,
      model,
      extraArgs: ["--force", "--sandbox", "disabled"],
    };
    const run = await each.run("go", { ...options, timeoutMs: 30_000, signal: AbortSignal.timeout(25_000) });
    said.push(run.requests.at(-1)!.messages.at(-1)!.text.trim(), reached);
    other.closeAllConnections();
  }
  other.close();
  expect(said[0]).toContain("cut off ECONNREFUSED");
  expect(said[1]).toBe(0);
  expect(said[3]).toBe(1);
});

it("the testing kit refuses an unknown agent and lists the known names", () => {
  expect(() => agent("nobody" as "claude")).toThrow(
    'agent("nobody") is not known to the test kit. It knows cursor, claude',
  );
});
