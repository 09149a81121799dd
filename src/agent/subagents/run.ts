// Runs one subagent from its prompt to its answer: an agent like its parent, with fewer tools and permissions.

import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent, Denial } from "../../protocol/event.ts";
import { collectSteps } from "../../protocol/task-call.ts";
import { callName } from "../../protocol/tool-calls.ts";
import { NotRun, unlessStopped } from "../../protocol/unless-stopped.ts";
import type { SubagentOutput } from "../../store/subagent-output.ts";
import { oneLine } from "../../text/one-line.ts";
import { type Agent, type AgentModel, modelChange, type Session } from "../agent.ts";
import type { AgentHooks } from "../hooks/agent-hooks.ts";
import type { SubagentStartInfo } from "../hooks/subagent-hooks.ts";
import { runTurn } from "../loop.ts";
import { findTool } from "../tools/index.ts";
import { TodoList } from "../tools/todos.ts";
import type { Subagent } from "./definitions.ts";
import type { SubagentEnd, SubagentRequest } from "./index.ts";

/** The state that all subagents of an agent share. */
export type SubagentContext = {
  subagents: readonly Subagent[];
  /** How many more levels of subagents may be nested. */
  levels: number;
  chats: SubagentChats;
  branch?: string | undefined;
  /** Opens the model with this name. Throws if it is unknown or has no key. */
  openModel(name: string): Promise<Pick<Agent, "provider" | "model">>;
  systemFor(subagent: Subagent): string;
  instructionsFor(): (path: string) => string | undefined;
  /** Shows an event of a subagent to those watching the run; waits while they cannot keep up. */
  watch?(agentId: string, event: AgentEvent, number: number | undefined): Promise<void> | undefined;
  nested(agent: Agent, place: SubagentContext): NonNullable<Agent["subagents"]>;
};

/** Where the conversations of subagents are stored. */
export type SubagentChats = {
  /** Returns the type of the subagent with this id; undefined if there is none. */
  typeOf(id: string): string | undefined;
  open(id: string, info: { type: string; model: AgentModel; title: string; parentId: string }): SubagentChat;
  openOutput(id: string): SubagentOutput;
};

export type SubagentChat = {
  session: Session;
  /** Stores an event. Returns its number, or undefined if events are not stored. */
  record(event: AgentEvent): number | undefined;
  transcriptPath?: string | undefined;
  close(): void;
};

type Work = { id: string; subagent: Subagent; parent: Agent; place: SubagentContext };

export async function runSubagent(request: SubagentRequest, work: Work): Promise<SubagentEnd> {
  const { id, parent } = work;
  const { now } = parent.seams;
  const startedAt = now();
  const collected = collectSteps();
  const denials: Denial[] = [];
  let failure: SubagentEnd["failure"];
  let chat: SubagentChat | undefined;
  const refuse = (message: string, isRefused = false) => {
    failure = { message, isRefused };
  };
  try {
    const chosen = await chooseModel(request, work);
    const startInfo = describeSubagentStart(request, work, chosen.model);
    const { refusal } = (await parent.hooks?.subagentStart(startInfo, request.signal)) ?? {};
    if (refusal !== undefined && !request.signal.aborted) {
      denials.push({ tool: "Task", callId: request.callId, reason: refusal });
      refuse(refusal, true);
    } else {
      const { type, description: title, parentId } = startInfo;
      const place = { type, model: chosen.model, title, parentId };
      chat = unlessStopped(request.signal, () => work.place.chats.open(id, place));
      const recording = recordOrStop(chat, request.signal);
      const child = createChild(request, work, { ...chosen, chat });
      if (!work.subagent.readOnly) await parent.decide([], { readOnly: false, changes: true });
      if (parent.hooks) child.hooks = hooksOf(parent.hooks, startInfo, { chat, collected, startedAt, now });
      const parts = [{ type: "text" as const, text: request.prompt }];
      for await (const event of runTurn(child, { text: request.prompt, parts, requestId: id }, recording.signal)) {
        await work.place.watch?.(id, event, recording.record(event));
        collected.add(event);
        passOn(event, request);
        if (event.type === "done" || event.type === "fail") denials.push(...(event.denials ?? []));
        if (event.type === "fail") refuse(event.message);
      }
    }
  } catch (error) {
    if (error instanceof NotRun || (!(error instanceof UserError) && !request.signal.aborted)) throw error;
    refuse(error instanceof Error ? error.message : String(error));
  } finally {
    chat?.close();
  }
  return {
    id,
    answer: collected.lastText,
    ...(failure && { failure }),
    steps: collected.steps,
    durationMs: now() - startedAt,
    denials,
    ...(chat?.transcriptPath !== undefined && { transcriptPath: chat.transcriptPath }),
  };
}

/** Stops the subagent if its chat can no longer be written; its running calls then end. */
function recordOrStop(chat: SubagentChat, outer: AbortSignal): { signal: AbortSignal; record: SubagentChat["record"] } {
  const broken = new AbortController();
  return {
    signal: AbortSignal.any([outer, broken.signal]),
    record(event) {
      try {
        return broken.signal.aborted ? undefined : chat.record(event);
      } catch (error) {
        broken.abort(error);
        return undefined;
      }
    },
  };
}

/** Uses another model if one is named and available; a definition that names a vendor without a key must not stop the work. */
async function chooseModel(
  { model, emit }: SubagentRequest,
  { subagent, parent, place }: Work,
): Promise<Pick<Agent, "provider" | "model">> {
  const parentModel = { provider: parent.provider, model: parent.model };
  // Scripted replies are only for the author of a definition: a model may not choose them.
  const name = model !== undefined && !/^(script|replay):/i.test(model) ? model : subagent.model;
  if (name === undefined || name.toLowerCase() === "inherit") return parentModel;
  try {
    return await place.openModel(name);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { displayName } = parent.model;
    const reason = `The subagent ${subagent.name} wants the model ${name}, but uses ${displayName}: ${error.message}`;
    emit(modelChange({ model: displayName, reason }, parent.seams.now()));
    return parentModel;
  }
}

function createChild(
  { spending, callId: _callId }: SubagentRequest,
  { id, subagent, parent, place }: Work,
  { chat, provider, model }: Pick<Agent, "provider" | "model"> & { chat: SubagentChat },
): Agent {
  const { parent: _of, subagents: _started, hooks: _hooks, answer: _form, control, ...same } = parent;
  const child: Agent = {
    ...same,
    parent,
    // A changed mode applies to the subagent too; messages of the user go only to the main agent.
    ...(control && {
      control: { settle: () => control.settle(), takeSteered: async () => [], takeCompact: () => false },
    }),
    session: chat.session,
    provider,
    model,
    get review() {
      return parent.review;
    },
    get system() {
      return place.systemFor(subagent);
    },
    // A subagent cannot ask the user: it works for another agent.
    hiddenTools: new Set([...(parent.hiddenTools ?? []), "AskQuestion"]),
    get tools() {
      return toolsOf(subagent, parent, place.levels);
    },
    decide: (needs, options) =>
      parent.decide(needs, { ...options, readOnly: subagent.readOnly || options?.readOnly === true }),
    spending,
    toolContext: {
      ...parent.toolContext,
      // Read this only when needed, since the sandbox may be created later.
      get sandbox() {
        return parent.toolContext.sandbox;
      },
      numbersLines: subagent.readOnly || parent.toolContext.numbersLines === true,
      get openSandbox() {
        return parent.toolContext.openSandbox;
      },
      sessionId: id,
      todos: new TodoList(),
    },
    instructionsFor: place.instructionsFor(),
  };
  if (place.levels > 1) child.subagents = place.nested(child, { ...place, levels: place.levels - 1 });
  return child;
}

/** Returns the tools of the parent that the subagent may use. */
function toolsOf({ readOnly, tools }: Subagent, parent: Agent, levels: number): Agent["tools"] {
  const named = tools?.flatMap((name) => findTool(parent.tools, name) ?? []);
  return parent.tools.filter((tool) => {
    if (tool.wire === "createPlan" || (tool.wire === "task" && levels <= 1)) return false;
    return (!readOnly || tool.readOnly) && (!named || named.includes(tool));
  });
}

function describeSubagentStart(
  request: SubagentRequest,
  { id, subagent, parent, place }: Work,
  model: AgentModel,
): SubagentStartInfo {
  return {
    id,
    type: subagent.name,
    task: request.prompt,
    description: request.description,
    parentId: parent.toolContext.sessionId,
    callId: request.callId,
    model: model.displayName,
    isParallel: request.isParallel,
    branch: place.branch,
  };
}

/** Creates the hooks of a subagent. Its tool calls fire the usual hooks; its start and end have their own. */
function hooksOf(
  hooks: AgentHooks,
  startInfo: SubagentStartInfo,
  work: { chat: SubagentChat; collected: ReturnType<typeof collectSteps>; startedAt: number; now(): number },
): AgentHooks {
  let rounds = 0;
  return {
    ...hooks,
    beforePrompt: async () => ({ context: [] }),
    afterReply: async () => {},
    async stop(status, signal) {
      const { chat, collected, startedAt, now } = work;
      const end = {
        status,
        summary: collected.lastText,
        durationMs: now() - startedAt,
        messages: chat.session.messages.length,
        calls: collected.calls,
        rounds,
        changed: [...collected.changed],
        transcriptPath: chat.transcriptPath,
      };
      const followup = await hooks.subagentStop(startInfo, end, signal);
      if (followup !== undefined) rounds++;
      return followup;
    },
  };
}

/** Passes events on to those watching the parent: questions and notices unchanged, each step as one line. */
function passOn(event: AgentEvent, { emit, callId, description }: SubagentRequest): void {
  switch (event.type) {
    case "ask":
    case "answer":
    case "notice":
      emit(event);
      break;
    case "tool_start": {
      const values = Object.values(event.args ?? {});
      const first = values.find((value) => typeof value === "string" && value !== "") ?? "";
      const line = oneLine(`${description}: ${callName(event.tool, event.args)} ${String(first)}`, 150);
      emit({ type: "tool_output", callId, chunk: `  ${line}\n` });
      break;
    }
    default:
      break;
  }
}
