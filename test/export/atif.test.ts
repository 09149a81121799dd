// Chats as ATIF trajectories: by the strict schema beside this file, and by what a schema cannot say.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Trajectory } from "../../src/export/atif.ts";
import { valueFault } from "../../src/json/schema.ts";
import { calls, chatId, recordOf, result, says, seeded, user } from "../sdk/chat-record.ts";
import { exported, hostileRecord } from "../sdk/hostile-chat.ts";
import { createWorkspace } from "../support/run-cli.ts";

const schema = JSON.parse(readFileSync(join(import.meta.dirname, "atif.schema.json"), "utf8"));
const place = createWorkspace({ "a.txt": "Hello\n" });
afterAll(() => place.remove());

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What is wrong with a trajectory. */
function faultOf(trajectory: Trajectory): string | undefined {
  const fault = valueFault(trajectory, schema, { place: "trajectory", strict: true });
  if (fault) return fault;
  const children = trajectory.subagent_trajectories ?? [];
  const ids = children.map(({ trajectory_id }) => trajectory_id);
  if (new Set(ids).size !== ids.length) return "two subagents have one id";
  for (const [index, step] of trajectory.steps.entries()) {
    if (step.step_id !== index + 1) return `step ${index + 1} has the id ${step.step_id}`;
    const calls = step.tool_calls?.map(({ tool_call_id }) => tool_call_id) ?? [];
    for (const { source_call_id, subagent_trajectory_ref = [] } of step.observation?.results ?? []) {
      if (source_call_id === undefined || !calls.includes(source_call_id)) return `${source_call_id} is not a call`;
      const lost = subagent_trajectory_ref.find(({ trajectory_id }) => !ids.includes(trajectory_id));
      if (lost) return `${lost.trajectory_id} is not a subagent`;
    }
  }
  if (trajectory.final_metrics.total_steps !== trajectory.steps.length) return "the steps are counted wrong";
  return children.map(faultOf).find(Boolean);
}

it("the ATIF schema refuses invalid trajectories", () => {
  const step = { step_id: 1, source: "user", message: "a" } as const;
  const good = {
    schema_version: "ATIF-v1.7",
    session_id: "s",
    trajectory_id: "s",
    agent: { name: "courser", version: "1" },
    steps: [step],
    final_metrics: { total_prompt_tokens: 0, total_completion_tokens: 0, total_cached_tokens: 0, total_steps: 1 },
  } as Trajectory;
  expect(faultOf(good)).toBeUndefined();
  const changed = (more: object) => faultOf({ ...good, ...more } as Trajectory);
  expect(changed({ schema_version: "ATIF-v1.6" })).toBeDefined();
  expect(changed({ other: 1 })).toBeDefined();
  expect(changed({ steps: [] })).toBeDefined();
  expect(changed({ steps: [{ ...step, step_id: 2 }] })).toBeDefined();
  expect(changed({ steps: [{ ...step, llm_call_count: 1 }] })).toBeDefined();
  expect(changed({ steps: [{ ...step, timestamp: "yesterday" }] })).toBeDefined();
  expect(changed({ steps: [{ ...step, message: [{ type: "text", text: "a", source: {} }] }] })).toBeDefined();
  expect(
    changed({ steps: [{ ...step, source: "agent", observation: { results: [{ source_call_id: "x" }] } }] }),
  ).toBeDefined();
});

it("an ATIF export contains prompts, replies, results, images, subagents, tokens and cost", async () => {
  place.file("pixel.png", Buffer.from(pixel, "base64"));
  const usage = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 5 };
  const script = [
    {
      thinking: "Two things.",
      text: "Let me look.",
      calls: [
        { name: "Read", args: { path: "a.txt" } },
        { name: "Read", args: { path: "pixel.png" } },
        { name: "Task", args: { description: "look", prompt: "Look at a.txt", subagent_type: "generalPurpose" } },
      ],
      usage,
    },
    { calls: [{ name: "Read", args: { path: "missing.txt" } }], usage },
    { text: "The subagent found nothing.", usage },
    { text: "It says hello.", usage },
  ];
  const file = place.file("script.json", JSON.stringify(script));
  const args = [
    "-p",
    "--force",
    "--price",
    "1,2",
    "--image",
    "pixel.png",
    "--output-format",
    "json",
    "--model",
    `script:${file}`,
  ];
  const run = await place.run([...args, "what is here?"]);
  const { session_id: id, usage: told } = JSON.parse(run.stdout);
  const { stdout } = await place.run(["sessions", "export", id, "--format", "atif"]);
  const trajectory = JSON.parse(stdout) as Trajectory;
  expect(faultOf(trajectory)).toBeUndefined();
  expect(trajectory).toMatchObject({
    session_id: id,
    agent: { name: "courser", model_name: "Script" },
    steps: [
      {
        source: "user",
        message: [
          { type: "text", text: "what is here?" },
          { type: "image", source: { media_type: "image/png", path: `data:image/png;base64,${pixel}` } },
        ],
      },
      {
        source: "agent",
        message: "Let me look.",
        reasoning_content: "Two things.",
        tool_calls: [
          { function_name: "Read", arguments: { path: "a.txt" } },
          { function_name: "Read", arguments: { path: "pixel.png" } },
          { function_name: "Task" },
        ],
        observation: {
          results: [
            { content: "Hello\n" },
            { content: [{ type: "text" }, { type: "image", source: { media_type: "image/png" } }] },
            { subagent_trajectory_ref: [{}] },
          ],
        },
      },
      { source: "agent", message: "It says hello." },
    ],
  });
  // Of the run: the subagent's tokens are part of it.
  const prompt = told.inputTokens + told.cacheReadTokens + told.cacheWriteTokens;
  expect(trajectory.final_metrics).toEqual({
    total_prompt_tokens: prompt,
    total_completion_tokens: told.outputTokens,
    total_cached_tokens: told.cacheReadTokens,
    total_cost_usd: told.totalCost,
    total_steps: 3,
  });
  expect(told.totalCost).toBeGreaterThan(0);
  const [child] = trajectory.subagent_trajectories!;
  expect(trajectory.subagent_trajectories).toHaveLength(1);
  expect(trajectory.steps[1]!.observation!.results[2]!.subagent_trajectory_ref).toEqual([
    { trajectory_id: child!.trajectory_id, session_id: child!.session_id },
  ]);
  expect(child!.steps.map(({ source }) => source)).toEqual(["user", "agent", "agent"]);
  expect(child!.steps[1]!.observation!.results[0]).toMatchObject({
    content: expect.stringContaining("missing.txt"),
    extra: { is_error: true },
  });
});

it("an ATIF export says how a turn failed", async () => {
  const file = place.file("fail.json", JSON.stringify([{ error: { code: "MODEL_REFUSED", message: "not this" } }]));
  const run = await place.run(["-p", "--force", "--output-format", "json", "--model", `script:${file}`, "go"]);
  const { session_id: id } = JSON.parse(run.stdout);
  const { stdout } = await place.run(["export", id, "--format", "atif"]);
  expect(faultOf(JSON.parse(stdout))).toBeUndefined();
  expect(JSON.parse(stdout).steps.at(-1)).toMatchObject({
    source: "system",
    message: expect.stringContaining("not this"),
  });
});

it("an ATIF export includes a turn of which only the end is known", async () => {
  const fail = { type: "fail" as const, message: "no", durationMs: 1, apiDurationMs: 1 };
  const turns = [{ messages: [user("one")] }, { messages: [], events: [fail] }, { messages: [user("three")] }];
  const { steps } = JSON.parse(await exported(recordOf(turns), "atif")) as Trajectory;
  expect(steps.map(({ message }) => message)).toEqual(["one", "Error: no", "three"]);
});

it("an ATIF export marks a compaction and contains the messages before it", async () => {
  const start = 1_760_000_000_000;
  const compacted = { type: "notice", kind: "compacted", message: "A summary replaces its older turns." } as const;
  const record = recordOf([
    { messages: [user("one"), says("first")] },
    { messages: [user("two"), says("second")], events: [{ ...compacted, at: start + 3500 }] },
  ]);
  const { steps } = JSON.parse(await exported(record, "atif")) as Trajectory;
  expect(steps.map(({ source, message }) => `${source}: ${message}`)).toEqual([
    "user: one",
    "agent: first",
    "user: two",
    "system: A summary replaces its older turns.",
    "agent: second",
  ]);
  expect(steps[3]!.extra).toEqual({ context_management: { type: "compaction", boundary: "replace" } });
});

it("an ATIF export names no subagent that is the chat itself, or whose chat is not there", async () => {
  const called = (callId: string, agentId: unknown) => ({
    ...{ type: "tool_end" as const, callId, tool: "task", args: {} },
    outcome: { kind: "success" as const, value: { agentId } },
  });
  const ids = [chatId, "88888888-2222-4333-8444-555555555555", "../..", 7];
  const record = recordOf([
    {
      messages: ids.flatMap((_, at) => [calls("Task", {}, `c${at}`), result("done", `c${at}`)]),
      events: ids.map((id, at) => called(`c${at}`, id)),
    },
  ]);
  const folder = join(place.home, "chats", chatId);
  mkdirSync(folder, { recursive: true });
  const exportedRecord = { ...record, metadata: { ...record.metadata, folder } };
  const trajectory = JSON.parse(await exported(exportedRecord, "atif")) as Trajectory;
  expect(trajectory.subagent_trajectories).toBeUndefined();
  const results = trajectory.steps.flatMap(({ observation }) => observation?.results ?? []);
  expect(results.map((each) => each.subagent_trajectory_ref)).toEqual(ids.map(() => undefined));
});

it("an ATIF export is valid for any chat, even an empty one", async () => {
  const below = seeded(11);
  for (let round = 0; round < 50; round++)
    expect(faultOf(JSON.parse(await exported(hostileRecord(below), "atif")))).toBeUndefined();
  expect(faultOf(JSON.parse(await exported(recordOf([]), "atif")))).toBeUndefined();
});
