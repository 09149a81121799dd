// Reads sessions of Gemini CLI: a log of changes to a list of messages, the list itself (older versions), or saved checkpoints.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, textIn } from "../../json/object.ts";
import { sha256 } from "../../store/chats/sha256.ts";
import { tryOr } from "../../text/try-or.ts";
import { geminiMessages, isSpoken, type MessageRecord } from "./gemini-records.ts";
import { filesBelow, firstValues, readJson, readJsonLines } from "./lines.ts";
import { finishSession, homeOf, Losses, parseTimestamp, type ReadSession, type SessionReader } from "./session.ts";

export const geminiReader: SessionReader = {
  tool: "gemini",
  folder: (env) => join(homeOf(env), ".gemini", "tmp"),
  list: (folder) => filesBelow(folder, (path) => /(^|\/)chats\/session-[^/]*\.jsonl?$/.test(path), 3),
  recognises: ([first]) =>
    isObject(first) ? isHead(first) || isContents(first.history) : isContents(first) || isPromptLog(first),
  workspaceOf: (path, guess) => projectRoot(path) ?? (guess !== undefined && isHashed(path, guess) ? guess : undefined),
  read,
};

function isHead(value: JsonObject): boolean {
  return typeof value.sessionId === "string" && typeof value.projectHash === "string";
}

/** Returns whether `/chat save` wrote a file: it contains the conversation in the format of the vendor's API. */
function isContents(value: unknown): value is JsonObject[] {
  return (
    Array.isArray(value) &&
    isObject(value[0]) &&
    Array.isArray(value[0].parts) &&
    /^(user|model)$/.test(String(value[0].role))
  );
}

/** Returns whether a file is logs.json, which contains only the prompts. */
function isPromptLog(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && isObject(value[0]) && "sessionId" in value[0] && "messageId" in value[0];
}

/** A session's messages: `current` are the ids in the list now; `all` contains all but rewound messages. */
type SessionLog = { metadata: JsonObject; current: string[]; all: Map<string, MessageRecord> };

function read(path: string): ReadSession {
  const losses = new Losses();
  const log: SessionLog = { metadata: {}, current: [], all: new Map() };
  const [first] = firstValues(path, 1);
  const whole = isObject(first) && isHead(first) && !Array.isArray(first.messages) ? undefined : readJson(path);
  if (whole === undefined)
    losses.add(
      "bad_line",
      readJsonLines(path, (value) => takeLine(log, value, losses)),
    );
  else takeWhole(log, whole, losses);

  const all = [...log.all.values()];
  const present = new Set(log.current);
  const isShortened = all.some((record) => !present.has(record.id) && isSpoken(record));
  const current = log.current.map((id) => log.all.get(id)!);
  const messages = geminiMessages(all, losses);
  const workspace = projectRoot(path);
  return finishSession({
    tool: "gemini",
    id: textIn(log.metadata, "sessionId") ?? basename(path).replace(/\.jsonl?$/, ""),
    path,
    title: textIn(log.metadata, "summary"),
    ...(workspace !== undefined && { workspace }),
    createdAt: parseTimestamp(log.metadata.startTime),
    updatedAt: parseTimestamp(log.metadata.lastUpdated),
    messages,
    ...(isShortened && { context: geminiMessages(current, new Losses()) }),
    losses,
  });
}

function takeLine(log: SessionLog, line: unknown, losses: Losses): void {
  if (!isObject(line)) {
    losses.add("unknown");
  } else if (typeof line.$rewindTo === "string") {
    rewind(log, line.$rewindTo, losses);
  } else if (isObject(line.$set)) {
    const { messages, ...metadata } = line.$set;
    Object.assign(log.metadata, metadata);
    if (Array.isArray(messages)) replaceAll(log, messages);
  } else if (typeof line.id === "string") {
    addRecord(log, { ...line, id: line.id });
  } else if (isHead(line)) {
    // A resumed session begins with another header; the first one has the start time.
    const { startTime, messages, ...metadata } = line;
    log.metadata = { startTime, ...log.metadata, ...metadata };
    if (Array.isArray(messages)) replaceAll(log, messages);
  } else {
    losses.add("unknown");
  }
}

function addRecord(log: SessionLog, record: MessageRecord): void {
  if (!log.current.includes(record.id)) log.current.push(record.id);
  log.all.set(record.id, { ...log.all.get(record.id), ...record });
}

/** Replaces the list of messages. Rewritten messages have less detail, so known versions are kept. */
function replaceAll(log: SessionLog, messages: readonly unknown[]): void {
  log.current = [];
  for (const message of messages) {
    if (!isObject(message) || typeof message.id !== "string") continue;
    const { id } = message;
    const existing = log.all.get(id);
    addRecord(log, existing?.type === message.type ? existing! : { ...message, id });
  }
}

/** Rewinds the session to a message. An unknown message id rewinds everything. */
function rewind(log: SessionLog, id: string, losses: Losses): void {
  const place = Math.max(log.current.indexOf(id), 0);
  const gone = log.current.splice(place);
  losses.add("branch", gone.filter((each) => isSpoken(log.all.get(each)!)).length);
  for (const each of gone) log.all.delete(each);
}

function takeWhole(log: SessionLog, value: unknown, losses: Losses): void {
  const contents = isObject(value) ? value.history : value;
  if (isContents(contents)) {
    for (const [index, content] of contents.entries()) {
      const type = content.role === "model" ? "gemini" : "user";
      addRecord(log, { id: `content-${index + 1}`, type, content: content.parts });
    }
  } else if (isPromptLog(value)) {
    const last = value.at(-1)!.sessionId;
    const prompts = value.filter((each) => each.sessionId === last && each.type === "user");
    log.metadata = { sessionId: last };
    for (const each of prompts) {
      addRecord(log, { id: String(each.messageId), type: "user", content: each.message, timestamp: each.timestamp });
    }
    losses.add("answers_missing", prompts.length);
  } else {
    takeLine(log, value, losses);
  }
}

/** Returns whether an older version created this folder: it used a hash of the project's path as the name. */
function isHashed(path: string, project: string): boolean {
  return basename(dirname(dirname(path))) === sha256(project);
}

/** Returns the project's path, which is in a file next to the chats. */
function projectRoot(path: string): string | undefined {
  return tryOr(
    () => readFileSync(join(dirname(dirname(path)), ".project_root"), "utf8").trim() || undefined,
    undefined,
  );
}
