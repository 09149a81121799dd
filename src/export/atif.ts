// Exports a chat as a trajectory in Harbor's Agent Trajectory Interchange Format, ATIF-v1.7, for tools that compare and train agents.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../json/object.ts";
import type { EventOf } from "../protocol/event.ts";
import { isPrompt, type Message, messageText } from "../protocol/message.ts";
import { isEnding } from "../protocol/run.ts";
import type { ChatRecord, StoredMessage } from "../store/chats/chat.ts";
import { isChatId } from "../store/chats/layout.ts";
import { readWhatIsLeft } from "../store/chats/read-chat.ts";

type Content = { type: "text"; text: string } | { type: "image"; source: { media_type: string; path: string } };

type Metrics = { prompt_tokens: number; completion_tokens: number; cached_tokens: number; cost_usd?: number };

type ObservedResult = {
  source_call_id?: string;
  content: string | Content[];
  subagent_trajectory_ref?: { trajectory_id: string; session_id: string }[];
  extra?: { is_error: true };
};

type Step = {
  step_id: number;
  timestamp?: string;
  source: "system" | "user" | "agent";
  model_name?: string;
  message: string | Content[];
  reasoning_content?: string;
  tool_calls?: { tool_call_id: string; function_name: string; arguments: object }[];
  observation?: { results: ObservedResult[] };
  metrics?: Metrics;
  llm_call_count?: number;
  extra?: { context_management: { type: "compaction"; boundary: "replace" } };
};

export type Trajectory = {
  schema_version: "ATIF-v1.7";
  session_id: string;
  trajectory_id: string;
  agent: { name: string; version: string; model_name?: string };
  steps: Step[];
  notes?: string;
  final_metrics: {
    total_prompt_tokens: number;
    total_completion_tokens: number;
    total_cached_tokens: number;
    total_cost_usd?: number;
    total_steps: number;
  };
  subagent_trajectories?: Trajectory[];
};

export function* atifExport(record: ChatRecord): Generator<string> {
  yield `${JSON.stringify(trajectoryOf(record, new Set()), null, 2)}\n`;
}

/** Converts a chat to a trajectory. `seen` contains the chats that are included already, since ids must be unique. */
function trajectoryOf(record: ChatRecord, seen: Set<string>): Trajectory {
  const { metadata, problems } = record;
  seen.add(metadata.id);
  const subagents = subagentsOf(record, seen);
  const steps = stepsOf(record, subagents.ofCall);
  const endings = record.events.flatMap(({ event }) => (isEnding(event) ? [metricsOf(event)] : []));
  const sum = (of: (metrics: Metrics) => number) => endings.reduce((total, each) => total + (each ? of(each) : 0), 0);
  const costs = endings.flatMap((metrics) => metrics?.cost_usd ?? []);
  return {
    schema_version: "ATIF-v1.7",
    session_id: metadata.id,
    trajectory_id: metadata.id,
    // The version is unknown, since chats do not record it.
    agent: { name: "courser", version: "unknown", ...(metadata.model !== undefined && { model_name: metadata.model }) },
    steps,
    ...(problems.length > 0 && { notes: problems.map(({ message }) => message).join("\n") }),
    final_metrics: {
      total_prompt_tokens: sum((metrics) => metrics.prompt_tokens),
      total_completion_tokens: sum((metrics) => metrics.completion_tokens),
      total_cached_tokens: sum((metrics) => metrics.cached_tokens),
      ...(costs.length > 0 && { total_cost_usd: costs.reduce((total, each) => total + each, 0) }),
      total_steps: steps.length,
    },
    ...(subagents.trajectories.length > 0 && { subagent_trajectories: subagents.trajectories }),
  };
}

/** Creates a step for each prompt and each reply; tool results belong to the reply that called them. */
function stepsOf(record: ChatRecord, subagents: ReadonlyMap<string, string>): Step[] {
  const steps: Omit<Step, "step_id">[] = [];
  const models = modelsOf(record);
  const callers = new Map<string, Omit<Step, "step_id">>();
  const endings = new Map(
    record.events.flatMap(({ event, turn }) => (isEnding(event) ? [[turn, event] as const] : [])),
  );
  const turns = [...new Set([...record.messages.map(({ turn }) => turn), ...endings.keys()])].sort((a, b) => a - b);
  for (const turn of turns) {
    const compactions = compactionsIn(record, turn);
    for (const stored of record.messages.filter((each) => each.turn === turn)) {
      const { message, at } = stored;
      while (at !== undefined && compactions[0] && compactions[0].at <= at) steps.push(compactions.shift()!.step);
      const base = at === undefined ? {} : { timestamp: new Date(at).toISOString() };
      if (message.role === "assistant") {
        const step = { ...base, ...replyStep(message, models.get(turn)) };
        for (const { tool_call_id } of step.tool_calls ?? []) callers.set(tool_call_id, step);
        steps.push(step);
      } else if (isPrompt(message)) steps.push({ ...base, source: "user", message: messageContent(message) });
      else observe(stored, callers, subagents);
    }
    steps.push(...compactions.map(({ step }) => step));
    const ending = endings.get(turn);
    if (!ending) continue;
    const metrics = metricsOf(ending);
    const last = steps.findLast(({ source }) => source === "agent");
    // Put the usage of a turn on its last reply, since it is not stored for each reply.
    if (last && metrics && last.metrics === undefined) last.metrics = metrics;
    if (ending.type === "fail") {
      const base = ending.at === undefined ? {} : { timestamp: new Date(ending.at).toISOString() };
      steps.push({ ...base, source: "system", message: `Error: ${ending.message}` });
    }
  }
  if (steps.length === 0) steps.push({ source: "system", message: "Nothing was said in this chat." });
  return steps.map((step, index) => ({ step_id: index + 1, ...step }));
}

/** Finds where the model's context was compacted: the model no longer saw the steps before as they are here. */
function compactionsIn({ events }: ChatRecord, wanted: number): { at: number; step: Omit<Step, "step_id"> }[] {
  return events.flatMap(({ event, turn }) => {
    if (turn !== wanted || event.type !== "notice" || event.kind !== "compacted") return [];
    const { at = 0, message } = event;
    const extra = { context_management: { type: "compaction", boundary: "replace" } } as const;
    const timestamp = event.at === undefined ? {} : { timestamp: new Date(at).toISOString() };
    return [{ at, step: { ...timestamp, source: "system", message, extra } }];
  });
}

function replyStep(message: Message, model: string | undefined): Omit<Step, "step_id"> {
  const thoughts = message.parts.map((part) => (part.type === "thinking" ? part.text : "")).join("");
  const calls = message.parts.flatMap((part) => {
    if (part.type !== "tool_call") return [];
    const { id, name, args } = part;
    return [{ tool_call_id: id, function_name: name, arguments: isObject(args) ? args : { value: args } }];
  });
  return {
    source: "agent",
    ...(model !== undefined && { model_name: model }),
    message: messageText(message),
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
    llm_call_count: 1,
  };
}

function observe(
  { message }: StoredMessage,
  callers: ReadonlyMap<string, Omit<Step, "step_id">>,
  subagents: ReadonlyMap<string, string>,
): void {
  for (const part of message.parts) {
    if (part.type !== "tool_result") continue;
    const step = callers.get(part.id);
    if (!step) continue; // the tool call of this result is missing
    const pictures = (part.images ?? []).map(pictureOf);
    const child = subagents.get(part.id);
    step.observation ??= { results: [] };
    step.observation.results.push({
      source_call_id: part.id,
      content: pictures.length > 0 ? [{ type: "text", text: part.text }, ...pictures] : part.text,
      ...(child !== undefined && { subagent_trajectory_ref: [{ trajectory_id: child, session_id: child }] }),
      ...(part.isError && { extra: { is_error: true } }),
    });
  }
}

function messageContent(message: Message): string | Content[] {
  const pictures = message.parts.flatMap((part) => (part.type === "image" ? [pictureOf(part)] : []));
  return pictures.length > 0 ? [{ type: "text", text: messageText(message) }, ...pictures] : messageText(message);
}

const pictureTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Returns a picture as a data URL, since the format refers to pictures by address. Other types are not supported. */
function pictureOf({ mime, base64 }: { mime: string; base64: string }): Content {
  if (!pictureTypes.includes(mime)) return { type: "text", text: `(a picture of the type ${mime})` };
  return { type: "image", source: { media_type: mime, path: `data:${mime};base64,${base64}` } };
}

type Ending = EventOf<"done" | "fail">;

function metricsOf({ usage, costUsd }: Ending): Metrics | undefined {
  if (!usage) return undefined;
  const cost = usage.totalCost ?? costUsd;
  return {
    prompt_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    completion_tokens: usage.outputTokens,
    cached_tokens: usage.cacheReadTokens,
    ...(cost !== undefined && { cost_usd: cost }),
  };
}

/** Returns the model of each turn: the one at its start, or else that of the previous turn. */
function modelsOf({ events, turns, metadata }: ChatRecord): Map<number, string> {
  const begun = new Map(
    events.flatMap(({ event, turn }) =>
      event.type === "init" && event.model !== undefined ? [[turn, event.model] as const] : [],
    ),
  );
  let last = metadata.model;
  const models = new Map<number, string>();
  for (const number of new Set([...begun.keys(), ...turns.map((turn) => turn.number)])) {
    last = begun.get(number) ?? last;
    if (last !== undefined) models.set(number, last);
  }
  return models;
}

/** Returns the chats of subagents, which are stored beside their parent's chat and named by its Task calls. */
function subagentsOf(
  record: ChatRecord,
  seen: Set<string>,
): { trajectories: Trajectory[]; ofCall: Map<string, string> } {
  const ofCall = new Map<string, string>();
  const trajectories: Trajectory[] = [];
  for (const { event } of record.events) {
    if (event.type !== "tool_end" || event.tool !== "task") continue;
    const value = event.outcome?.value;
    const id = isObject(value) ? value["agentId"] : undefined;
    if (typeof id !== "string" || !isChatId(id)) continue;
    const folder = join(dirname(record.metadata.folder), id);
    const isKnown = trajectories.some(({ trajectory_id }) => trajectory_id === id);
    if (!isKnown && (seen.has(id) || !existsSync(folder))) continue;
    ofCall.set(event.callId, id);
    if (!isKnown) trajectories.push(trajectoryOf(readWhatIsLeft(folder, { events: true }), seen));
  }
  return { trajectories, ofCall };
}
