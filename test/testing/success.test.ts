// Success means done: what a result lists, what makes it a failure, and runs that say that they live. By the built CLI.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { UsageBudget } from "../../src/agent/usage-budget.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
beforeEach(() => {
  place = createWorkspace({ "a.txt": "hello\n" });
});
afterEach(() => place.remove());

const shell = (command: string, more: object = {}) => ({ name: "Shell", args: { command, ...more } });
const resultOf = (run: { stdout: string }) => JSON.parse(run.stdout.trim().split("\n").at(-1)!);

it("the result lists refused calls with rule, file and reason", async () => {
  const file = place.file(".cursor/cli.json", JSON.stringify({ permissions: { deny: ["Shell(rm)"] } }));
  const script = [{ calls: [shell("rm a.txt"), { name: "Read", args: { path: "a.txt" } }] }, { text: "ok" }];
  const run = await place.play(script);
  const [denial] = resultOf(run).permission_denials;
  expect([run.exit, denial]).toEqual([
    0,
    expect.objectContaining({ tool: "Shell", rule: "Shell(rm)", file, reason: expect.stringContaining(file) }),
  ]);
  expect(run.stdout).toContain(`"reason":${JSON.stringify(denial.reason)}`);
  const failed = await place.play(script, ["--fail-on", "empty,denied"]);
  expect([failed.exit, resultOf(failed).error_code]).toEqual([5, "NOT_DONE"]);
  expect(resultOf(failed).result).toContain("1 refused: Shell (Shell(rm)");
  expect(resultOf(failed).permission_denials).toHaveLength(1);
});

it("a run waits for background work and reports its end, never cutting it off as a success", async () => {
  const short = await place.play([{ calls: [shell("sleep 0.3; exit 3", { isBackground: true })] }, { text: "ok" }]);
  expect(resultOf(short)).toMatchObject({
    is_error: false,
    background: [{ id: "shell_1", status: "exited", exit_code: 3 }],
  });
  expect(resultOf(short).duration_ms).toBeGreaterThanOrEqual(300); // the wait is a part of the run
  writeFileSync(place.file("../home/.cursor/courser.json", ""), '{"backgroundWaitMs": 100}');
  const long = [{ calls: [shell("sleep 77", { isBackground: true })] }, { text: "ok" }];
  const cut = await place.play(long);
  expect(cut.exit).toBe(1);
  expect(resultOf(cut)).toMatchObject({ error_code: "BACKGROUND_CUT_OFF", background: [{ status: "cut_off" }] });
  const told = {
    expect: ["shell_1 (sleep 77) still runs. Await it, or stop it with kill: true, then end"],
    text: " Yes.",
  };
  const ignored = await place.play([...long, told]);
  expect([ignored.exit, resultOf(ignored).error_code]).toEqual([1, "BACKGROUND_CUT_OFF"]);
  const heeded = { ...told, calls: [{ name: "Await", args: { taskId: "shell_1", kill: true } }] };
  const ended = await place.play([...long, heeded, { text: " Done." }]);
  expect([ended.exit, resultOf(ended).result]).toEqual([0, "ok Yes. Done."]);
  const stop = { calls: [{ name: "Await", args: { taskId: "shell_1", kill: true } }] };
  const stopped = await place.play([long[0], stop, { text: "ok" }], ["--fail-on", "background"]);
  expect([stopped.exit, resultOf(stopped).background[0].status]).toEqual([0, "stopped"]);
});

it("--fail-on fails a run for the conditions that it names, and no others", async () => {
  const nothing = await place.play([{ text: "ok" }], ["--fail-on", "empty"]);
  expect([nothing.exit, resultOf(nothing).error_code]).toEqual([5, "NOT_DONE"]);
  const something = [{ calls: [{ name: "LS", args: {} }] }, { text: "ok" }];
  expect((await place.play(something, ["--fail-on", "empty,denied,background,mcp,replay"])).exit).toBe(0);
  expect((await place.run(["-p", "--force", "--fail-on", "emtpy", "hi"])).stderr).toContain("Did you mean empty?");
  const mcp = JSON.stringify({ mcpServers: { gone: { command: "no-such-program" } } });
  const missing = await place.play(something, ["--mcp-config", mcp, "--fail-on", "mcp"]);
  expect([missing.exit, resultOf(missing).missing_mcp_servers[0]]).toEqual([
    5,
    expect.objectContaining({ name: "gone" }),
  ]);
});

it("print mode shows the answer even if the run fails by --fail-on", async () => {
  const args = ["-p", "--force", "--model", "offline", "--fail-on", "empty", "what is 2+2?"];
  const text = await place.run(args);
  expect([text.exit, text.stdout]).toEqual([5, "2 + 2 = 4\n"]);
  expect(text.stderr).toContain("[NOT_DONE]");
  const json = await place.run(["--output-format", "json", ...args]);
  expect(json.lines()[0]).toMatchObject({ is_error: true, error_code: "NOT_DONE", answer: "2 + 2 = 4" });
});

it("the result reports no cost if the model failed before using anything", async () => {
  const error = { code: "MODEL_RATE_LIMIT", message: "later" };
  const run = await place.play([{ error }]);
  expect(run.lines().at(-1)).toMatchObject({ error_code: error.code, usage: { inputTokens: 0, totalCost: 0 } });
});

it("every result reports usage, even without a turn or a price", async () => {
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, totalCost: 0 };
  const script = JSON.stringify([{ text: "ok" }]);
  const model = ["--model", `script:${place.file("../script.json", script)}`];
  const early = [
    ["--nonsense", "hi"],
    [...model], // no prompt
    ["--model", "nonesuch/x", "hi"],
    ["--model", "script:/nonexistent.json", "hi"],
    ["--model", "replay:/nonexistent.jsonl", "hi"],
    [...model, "--resume", "00000000-0000-4000-8000-000000000001", "hi"],
    [...model, "--require-mcp", "nobody", "hi"],
    [...model, "--image", "/nonexistent.png", "hi"],
    [...model, "--record", "/nonexistent/run.jsonl", "hi"],
  ];
  for (const [index, args] of early.entries()) {
    const format = index % 2 === 0 ? "json" : "stream-json";
    const run = await place.run(["-p", "--force", "--output-format", format, ...args]);
    expect([args, resultOf(run).is_error, resultOf(run).usage]).toEqual([args, true, none]);
  }
  const spending = new UsageBudget();
  expect(spending.total(undefined)).toEqual(none);
  spending.add({ ...none, inputTokens: 7 }, undefined);
  expect(spending.total(undefined)).toMatchObject({ inputTokens: 7, totalCost: null });
});

it("--fail-on replay fails a replay that continued after a difference", async () => {
  const file = join(place.home, "run.jsonl");
  await place.play([{ calls: [{ name: "LS", args: {} }] }, { text: "ok" }], ["--record", file]);
  for (const tools of ["recorded", "live"]) {
    const args = ["--model", `replay:${file}`, "--replay-tools", tools, "--replay-on-mismatch", "continue"];
    const run = await place.run(["-p", "--force", "--output-format", "json", ...args, "--fail-on", "replay", "other"]);
    expect([run.exit, resultOf(run).error_code]).toEqual([5, "NOT_DONE"]);
  }
});

it("--require-mcp fails the run before the model gets a request", async () => {
  const fixture = join(repository, "test/support/mcp-server.mjs");
  const mcp = JSON.stringify({ mcpServers: { demo: { command: process.execPath, args: [fixture] } } });
  const script = [{ text: "asked" }];
  const there = await place.play(script, ["--mcp-config", mcp, "--require-mcp", "demo"]);
  expect([there.exit, resultOf(there).result]).toEqual([0, "asked"]);
  const gone = await place.play(script, ["--mcp-config", mcp, "--require-mcp", "docs"]);
  expect([gone.exit, resultOf(gone).error_code]).toEqual([1, "MCP_UNREACHABLE"]);
  expect(gone.stdout).not.toContain("asked");
});

it("--heartbeat says what a run waits for, and --max-silence ends a run in which nothing happens", async () => {
  const script = [{ delayMs: 700, calls: [shell("sleep 0.7")] }, { text: "ok" }];
  const run = await place.play(script, ["--heartbeat", "200ms"]);
  const beats = run.lines().filter(({ subtype }) => subtype === "heartbeat");
  const kinds = new Set(beats.map(({ waiting_for: [first] }) => `${first.kind} ${first.name}`));
  expect([run.exit, [...kinds]]).toEqual([0, expect.arrayContaining(["model Script", "tool Shell"])]);
  const silent = await place.play([{ delayMs: 60_000, text: "late" }], ["--max-silence", "2s"]);
  expect([silent.exit, resultOf(silent).error_code]).toEqual([1, "MAX_SILENCE"]);
  expect(resultOf(silent).result).toContain("the model Script");
});

it("the result reports cost and budget, and a limit that cannot be enforced is refused", async () => {
  const usage = { inputTokens: 1000, outputTokens: 100 };
  const script = [{ text: "ok", usage }];
  expect(resultOf(await place.play(script)).usage.totalCost).toBe(0);
  const priced = resultOf(await place.play(script, ["--price", "3,15", "--max-cost", "1", "--max-turns", "4"]));
  expect(priced.usage.totalCost).toBe(0.0045);
  expect(priced.budget).toEqual({ turns: 1, max_turns: 4, cost_usd: 0.0045, max_cost_usd: 1 });
  const unknown = ["-p", "--force", "--model", "openrouter/some/new-model", "--api-key", "k", "--max-cost", "1", "hi"];
  expect((await place.run(unknown)).stderr).toContain("--price 3,15");
  const old = await place.play(script, [], { env: { COURSER_COMPAT: "2025" } });
  expect(Object.keys(resultOf(old).usage)).not.toContain("totalCost");
  expect(old.lines()[0]).not.toHaveProperty("policy_hash");
});

it("the init line identifies the permission policy by a hash of its content", async () => {
  const hashOf = async (...args: string[]) => (await place.play([{ text: "ok" }], args)).lines()[0]!["policy_hash"];
  // A plain run has nothing but its mode, which the line names.
  expect(await hashOf()).toBeUndefined();
  const first = await hashOf("--disallowed-tools", "Task");
  expect(first).toMatch(/^[0-9a-f]{12}$/);
  expect(await hashOf("--disallowed-tools", "Task")).toBe(first);
  expect(await hashOf("--disallowed-tools", "Shell")).not.toBe(first);
  place.file(".cursor/cli.json", JSON.stringify({ permissions: { deny: ["Shell(rm)"] } }));
  const ruled = await hashOf();
  expect([ruled, ruled === first]).toEqual([expect.any(String), false]);
});
