// Reads sessions of Codex: a rollout, which is a log of response items and events; older files have bare response items.
import { basename, join } from "node:path";
import { isObject, type JsonObject, textIn } from "../../json/object.ts";
import { CodexConversation } from "./codex-items.ts";
import { filesBelow, firstText, readJsonLines } from "./lines.ts";
import { finishSession, homeOf, Losses, parseTimestamp, type ReadSession, type SessionReader } from "./session.ts";

export const codexReader: SessionReader = {
  tool: "codex",
  folder: (env) => join(env["CODEX_HOME"] || join(homeOf(env), ".codex"), "sessions"),
  list: (folder) => filesBelow(folder, (path) => /(^|\/)rollout-[^/]*\.jsonl$/.test(path)),
  recognises: ([first]) => isObject(first) && (isLine(first) || isOldHeader(first)),
  workspaceOf: (path) => firstText(path, (value) => isObject(value) && textIn(value.payload, "cwd")),
  read,
};

const lineTypes = /^(session_meta|response_item|event_msg|turn_context|compacted|world_state|token_usage_record)$/;

function isLine(value: JsonObject): boolean {
  return lineTypes.test(String(value.type)) && isObject(value.payload);
}

/** Returns whether a line is the first line of a session in the older format. */
function isOldHeader(value: JsonObject): boolean {
  return value.type === undefined && typeof value.id === "string" && "timestamp" in value && "instructions" in value;
}

type ReadState = {
  id?: string;
  createdAt?: number | undefined;
  workspace?: string;
  model?: string;
  at: number;
  history: CodexConversation;
  /** The messages that the model received since the last compaction. */
  context?: CodexConversation;
  losses: Losses;
};

function read(path: string): ReadSession {
  const losses = new Losses();
  const state: ReadState = { at: 0, history: new CodexConversation(losses), losses };
  const bad = readJsonLines(path, (value) => {
    if (!isObject(value)) return losses.add("unknown");
    state.at = parseTimestamp(value.timestamp) ?? state.at;
    if (isLine(value)) takers.get(value.type)?.(state, value.payload as JsonObject, value.metadata);
    else if (isOldHeader(value)) takeMeta(state, value);
    else if (value.record_type === undefined) takeItem(state, value);
  });
  losses.add("bad_line", bad);
  const { history, context } = state;
  return finishSession({
    tool: "codex",
    id: state.id ?? basename(path, ".jsonl"),
    path,
    ...(state.workspace !== undefined && { workspace: state.workspace }),
    ...(state.model !== undefined && { model: state.model }),
    createdAt: state.createdAt,
    messages: history.messages,
    ...(context && { context: context.messages }),
    losses,
  });
}

type LineTaker = (state: ReadState, payload: JsonObject, metadata: unknown) => void;

const takers = new Map<unknown, LineTaker>(
  Object.entries({
    session_meta: takeMeta,
    response_item(state, payload, metadata) {
      // The summary that the model wrote is not part of the conversation: it appears again in `compacted`.
      const isSummary = isObject(metadata) && metadata.compaction_output === true;
      if (!isSummary) takeItem(state, payload);
    },
    turn_context(state, payload) {
      state.model = textIn(payload, "model") ?? state.model;
      state.workspace ??= textIn(payload, "cwd");
    },
    compacted: takeCompacted,
    token_usage_record: (state, payload) => state.history.addUsage(payload.usage),
    event_msg: takeEvent,
  } satisfies Record<string, LineTaker>),
);

/** Reads the header of a session. A fork repeats the lines of its source, including the header, so only the first one counts. */
function takeMeta(state: ReadState, meta: JsonObject): void {
  if (state.id !== undefined) return;
  state.id = textIn(meta, "id") ?? textIn(meta, "session_id");
  state.createdAt = parseTimestamp(meta.timestamp);
  state.workspace = textIn(meta, "cwd");
}

function takeItem(state: ReadState, item: JsonObject): void {
  const info = { timestamp: state.at, model: state.model };
  state.history.add(item, info);
  state.context?.add(item, info);
}

function takeCompacted(state: ReadState, payload: JsonObject): void {
  const context = new CodexConversation(new Losses());
  const info = { timestamp: state.at, model: state.model };
  if (Array.isArray(payload.replacement_history)) {
    for (const item of payload.replacement_history) if (isObject(item)) context.add(item, info);
  } else {
    const text = textIn(payload, "message") ?? "";
    if (text !== "") context.add({ type: "message", role: "user", content: [{ type: "input_text", text }] }, info);
  }
  // Only the vendor can read an encrypted summary, and without it the messages after it make no sense.
  if (context.hasEncryptedSummary) {
    state.losses.add("compaction");
    delete state.context;
  } else {
    state.context = context;
  }
}

function takeEvent(state: ReadState, event: JsonObject): void {
  switch (event.type) {
    case "token_count":
      if (isObject(event.info)) state.history.addUsage(event.info.last_token_usage);
      return;
    case "item_completed": {
      const { item } = event;
      if (!isObject(item) || item.type !== "FileChange" || item.status !== "completed" || !isObject(item.changes))
        return;
      for (const each of [state.history, state.context]) each?.changed(String(item.id), item.changes);
      return;
    }
    case "thread_rolled_back": {
      const turns = typeof event.num_turns === "number" ? event.num_turns : 1;
      state.losses.add("branch", state.history.dropTurns(turns));
      state.context?.dropTurns(turns);
      return;
    }
    case "error":
    case "stream_error":
    case "warning":
    case "turn_aborted":
      state.losses.add("notice");
  }
}
