// Task: hands part of the work to a subagent, which has its own conversation.
import * as v from "valibot";
import { UserError } from "../../protocol/error-codes.ts";
import { taskArgs, taskSuccess } from "../../protocol/task-call.ts";
import { randomUuid } from "../../store/chats/random-uuid.ts";
import type { SubagentEnd, SubagentRequest, Subagents } from "../subagents/index.ts";
import { tool } from "./define.ts";
import { type CallIdentity, failure, ToolFailure, type ToolResult } from "./tool.ts";

/** Subagent ids by call arguments. The id is in the start event, so that a reader can match the subagent's later events to it. */
const ids = new WeakMap<object, string>();

function idOf(args: { resume?: string | undefined }, { newId = randomUuid }: Pick<CallIdentity, "newId">): string {
  const id = args.resume ?? ids.get(args) ?? newId();
  ids.set(args, id);
  return id;
}

export const task = tool({
  name: "Task",
  wire: "task",
  aliases: ["Agent", "subagent"],
  description:
    "Start a subagent for a part of the work. It knows only its prompt; only its last message comes back. explore only reads, shell runs commands. Independent ones: several calls in one reply.",
  readOnly: true,
  once: true,
  args: v.object({
    description: v.pipe(v.string(), v.description("3 to 5 words")),
    prompt: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
      v.description("Everything it must know, and what to answer"),
    ),
    subagent_type: v.optional(v.pipe(v.string(), v.description("generalPurpose (default), explore, shell or another"))),
    model: v.optional(v.string()),
    resume: v.optional(v.pipe(v.string(), v.description("Id of an earlier subagent, to resume it"))),
    run_in_background: v.optional(v.boolean()),
  }),
  spellings: {
    subagentType: "subagent_type",
    agent_type: "subagent_type",
    agent: "subagent_type",
    agentId: "resume",
    agent_id: "resume",
    runInBackground: "run_in_background",
    is_background: "run_in_background",
    background: "run_in_background",
  },
  wireArgs: (args, place) =>
    taskArgs({
      description: args.description,
      prompt: args.prompt,
      subagent: args.subagent_type ?? "generalPurpose",
      agentId: idOf(args, place),
      model: args.model,
      resume: args.resume,
      isBackground: args.run_in_background,
    }),
  // Starting a subagent needs no permission: each of its calls does.
  needs: () => [],
  async run(args, context) {
    const { turn, callId, signal, resultLimit } = context;
    const { subagents } = turn ?? {};
    if (!turn || !subagents) throw failure("Subagents cannot be started here: do the work yourself.");
    const { isBackground } = chooseSubagent(subagents, args.subagent_type, args.resume);
    const request: SubagentRequest = {
      id: idOf(args, context),
      callId,
      type: args.subagent_type,
      description: args.description.trim() || "subagent",
      prompt: args.prompt,
      model: args.model,
      resume: args.resume,
      isBackground: args.run_in_background ?? isBackground,
      isParallel: turn.isParallel,
      signal,
      spending: turn.spending,
      emit: turn.emit,
    };
    if (!request.isBackground) return resultOfEnd(await subagents.run(request), resultLimit);
    const { id, outputFile } = startSubagent(subagents, request);
    return {
      outcome: { kind: "success", value: taskSuccess({ agentId: id, steps: [], isBackground: true }) },
      text: `Started in the background: ${id}. You will be told when it ends; Await with this taskId waits for it. What it does: ${outputFile}`,
    };
  },
});

function chooseSubagent(subagents: Subagents, type: string | undefined, resume: string | undefined) {
  try {
    return subagents.choose(type, resume);
  } catch (error) {
    throw failureValue(error);
  }
}

function startSubagent(subagents: Subagents, request: SubagentRequest) {
  try {
    return subagents.start(request);
  } catch (error) {
    throw failureValue(error);
  }
}

function failureValue(error: unknown): unknown {
  return error instanceof UserError ? failure(error.message) : error;
}

function resultOfEnd(end: SubagentEnd, limit: number): ToolResult {
  const { id, answer, failure: failed, steps, durationMs, denials, transcriptPath } = end;
  if (failed?.isRefused) {
    const { kind, value } = new ToolFailure("rejected", { reason: failed.message }, failed.message);
    return { outcome: { kind, value }, text: failed.message, denials };
  }
  if (failed) {
    const lastAnswer = answer === "" ? "" : `\nWhat it said last:\n${answer}`;
    const message = `The subagent failed: ${failed.message}`;
    const { kind, value } = failure(message, { agentId: id });
    return {
      outcome: { kind, value },
      text: cutText(`${message}\nIts id is ${id}, to resume it.${lastAnswer}`, limit),
      denials,
    };
  }
  const value = taskSuccess({ agentId: id, steps, isBackground: false, durationMs, transcriptPath });
  return { outcome: { kind: "success", value }, text: `${cutText(answer, limit)}\n[subagent ${id}]`, denials };
}

function cutText(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}\n[truncated: ${text.length} characters in all]` : text;
}
