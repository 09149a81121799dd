// The call that starts a subagent, as the wire spells it: its arguments, its steps and its end.
import { expect, test } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { collectSteps, taskArgs, taskNotice, taskSuccess } from "../../src/protocol/task-call.ts";

const request = { description: "d", prompt: "p", subagent: "explore", agentId: "a" };

test.each([
  ["explore", { explore: {} }],
  ["bash", { bash: {} }],
  ["shell", { shell: {} }],
  ["reviewer", { custom: { name: "reviewer" } }],
])("the subagent %s is named %j on the wire", (subagent, subagentType) => {
  expect(taskArgs({ ...request, subagent })).toEqual({
    ...{ description: "d", prompt: "p", agentId: "a", attachments: [], respondingToMessageIds: [] },
    ...{ mode: "TASK_MODE_UNSPECIFIED", environment: "SUBAGENT_EXECUTION_ENVIRONMENT_LOCAL" },
    subagentType,
  });
});

test("a Task call names model, subagent to resume and background where they are given", () => {
  expect(taskArgs({ ...request, model: "m", resume: "b", isBackground: true })).toMatchObject({
    model: "m",
    resume: "b",
    runInBackground: true,
  });
  expect(Object.keys(taskArgs({ ...request, isBackground: false }))).not.toContain("runInBackground");
});

test("the result of a Task call says whether the subagent went on in the background", () => {
  const end = { agentId: "a", steps: [], isBackground: false };
  expect(taskSuccess(end)).toEqual({
    ...{ agentId: "a", conversationSteps: [], isBackground: false },
    backgroundReason: "SUBAGENT_BACKGROUND_REASON_UNSPECIFIED",
  });
  expect(taskSuccess({ ...end, isBackground: true, durationMs: 5, transcriptPath: "/t" })).toMatchObject({
    backgroundReason: "SUBAGENT_BACKGROUND_REASON_AGENT_REQUEST",
    durationMs: "5",
    transcriptPath: "/t",
  });
  const notice = (status: string) => taskNotice({ agentId: "a", status, title: "T", detail: "x" });
  expect(notice("success")).toMatchObject({
    message: 'The subagent "T" has ended.',
    fields: { task_id: "a", status: "success", title: "T", detail: "x" },
  });
  expect(notice("error")).toMatchObject({ message: 'The subagent "T" failed.' });
});

test("the result of a Task call lists the subagent's thoughts, texts and calls, without results beyond a limit", () => {
  const seen = collectSteps();
  const ended = (callId: string, tool: string, args: unknown, outcome?: object): AgentEvent =>
    ({ type: "tool_end", callId, tool, args, ...(outcome && { outcome }) }) as AgentEvent;
  const success = (value: object) => ({ kind: "success", value });
  const events: AgentEvent[] = [
    { type: "thinking_end" },
    { type: "thinking", text: "so ", at: 10 },
    { type: "thinking", text: "then", at: 20 },
    { type: "thinking_end", at: 35 },
    { type: "text_end", text: "I read." },
    ended("1", "read", { path: "a" }, { ...success({ content: "A" }), siblings: { isBackground: false } }),
    ended("2", "edit", { path: "b" }, success({})),
    ended("3", "edit", { path: "c" }, { kind: "error", value: {} }),
    ended("4", "delete", { path: "d" }, success({})),
    ended("5", "edit", null, success({})),
    ended("6", "shell", { command: "x" }),
    ended("7", "read", { path: "e" }, success({ content: "x".repeat(200_000) })),
    ended("8", "read", { path: "f" }, success({})),
    { type: "text_end", text: "Done." },
  ];
  for (const event of events) seen.add(event);
  expect(seen.steps).toEqual([
    { thinkingMessage: { text: "so then", durationMs: 25 } },
    { assistantMessage: { text: "I read." } },
    {
      toolCall: {
        readToolCall: { args: { path: "a" }, result: { success: { content: "A" }, isBackground: false } },
        toolCallId: "1",
      },
    },
    { toolCall: { editToolCall: { args: { path: "b" }, result: { success: {} } }, toolCallId: "2" } },
    { toolCall: { editToolCall: { args: { path: "c" }, result: { error: {} } }, toolCallId: "3" } },
    { toolCall: { deleteToolCall: { args: { path: "d" }, result: { success: {} } }, toolCallId: "4" } },
    { toolCall: { editToolCall: { args: null, result: { success: {} } }, toolCallId: "5" } },
    { toolCall: { shellToolCall: { args: { command: "x" } }, toolCallId: "6" } },
    { toolCall: { readToolCall: { args: { path: "e" } }, toolCallId: "7" } },
    { toolCall: { readToolCall: { args: { path: "f" } }, toolCallId: "8" } },
    { assistantMessage: { text: "Done." } },
  ]);
  expect([seen.calls, [...seen.changed], seen.lastText]).toEqual([8, ["b", "d"], "Done."]);
});
