// ReadSession: a session that an agent CLI stored on disk, as unified messages, with a list of what could not be converted.
import { statSync } from "node:fs";
import { isObject } from "../../json/object.ts";
import { collapsed } from "../../text/one-line.ts";
import type { BuiltInTool, UnifiedContent, UnifiedMessage } from "../unified.ts";

/** Something that could not be converted. */
export type Loss = {
  /** The kind of loss, for programs. */
  kind: LossKind;
  count: number;
  /** The loss as a sentence. */
  message: string;
};

/** A session that an agent CLI stored on disk. */
export type ReadSession = {
  tool: BuiltInTool;
  /** The CLI's own id of the session. */
  id: string;
  path: string;
  title: string;
  /** The directory of the session, if it is recorded. */
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
  /** The whole history that leads to the current state of the session, in order. */
  messages: UnifiedMessage[];
  /** What the model is still given of it, if that is less than the history. */
  context?: UnifiedMessage[];
  losses: Loss[];
};

export type SessionFile = { path: string; updatedAt: number };

export function homeOf(env: NodeJS.ProcessEnv): string {
  return env["HOME"] || env["USERPROFILE"] || "";
}

/** Reads the sessions of one CLI. */
export type SessionReader = {
  tool: BuiltInTool;
  /** Where the CLI keeps its sessions. */
  folder(env: NodeJS.ProcessEnv): string;
  /** Lists the session files in a folder, at any depth. */
  list(folder: string): SessionFile[];
  /** Detects a session of this CLI by the first values of a file. */
  recognises(values: readonly unknown[]): boolean;
  /** The directory of a session, found without reading all of it. Some readers can only confirm `guess`. */
  workspaceOf(path: string, guess?: string): string | undefined;
  read(path: string): ReadSession;
  /** Changes stored sessions. Undefined for CLIs whose sessions only they can change. */
  editor?: SessionEditor;
};

/** Changes the stored sessions of one CLI. */
export type SessionEditor = {
  rename(session: ReadSession, title: string): void;
  delete(session: ReadSession): void;
  /** Copies a session and returns the id of the copy. */
  fork(session: ReadSession): string;
};

/** `#` is replaced by the count; of `one/many` the first form is singular. */
const lossSentences = {
  bad_line: "# line/lines could not be read and is/are missing.",
  branch: "# message/messages is/are on branches that were abandoned (rewound, edited or retried) and is/are left out.",
  subagent: "# message/messages of sub-agents is/are left out; what they reported is in the results.",
  context: "# note/notes that the CLI itself gave its model (environment, instructions, reminders) is/are left out.",
  command: "# command/commands of the CLI itself, such as /clear, is/are left out.",
  notice: "# notice/notices of the CLI (errors, warnings, information) is/are left out.",
  thinking: "# thought/thoughts that only the vendor can read is/are left out.",
  signature:
    "# thought/thoughts is/are kept for reading, but not sent back to a model: the vendor's signature is valid only for its own CLI.",
  attachment: "# attachment/attachments that is/are neither text nor an image with its data is/are left out.",
  hosted_call: "# call/calls that the vendor's servers ran is/are left out; the result/results is/are in the answers.",
  orphan_result: "# result/results without a call is/are left out.",
  open_call: "# call/calls has/have no result: the session was cut off there.",
  answers_missing: "Only what was typed is on record, # prompt/prompts: the answers are not in this file.",
  compaction: "# summary of the vendor's own making is/are encrypted: the model is told the whole history instead.",
  unknown: "# entry/entries of an unknown kind is/are left out.",
};

/** The kind of something that could not be converted. */
export type LossKind = keyof typeof lossSentences;

function lossSentence(kind: LossKind, count: number): string {
  const chosen = lossSentences[kind].replace(/(\w+)\/(\w+)/g, count === 1 ? "$1" : "$2");
  return chosen.replace("#", String(count));
}

/** Counts losses by kind while a session is read. */
export class Losses {
  readonly #counts = new Map<LossKind, number>();

  add(kind: LossKind, count = 1): void {
    if (count > 0) this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + count);
  }

  list(): Loss[] {
    return [...this.#counts].map(([kind, count]) => ({ kind, count, message: lossSentence(kind, count) }));
  }
}

/** A session as its reader returns it, before `finishSession` completes it. */
export type FoundSession = Omit<ReadSession, "losses" | "title" | "createdAt" | "updatedAt"> & {
  title?: string | undefined;
  createdAt?: number | undefined;
  updatedAt?: number | undefined;
  losses: Losses;
};

/** Completes a session: gives calls unique ids, drops results without calls, and adds a title and times. */
export function finishSession(found: FoundSession): ReadSession {
  const { losses } = found;
  const modified = statSync(found.path).mtimeMs;
  const messages = pairCalls(found.messages, losses);
  const { title, createdAt, updatedAt, context, model = lastModel(messages), ...rest } = found;
  const start = createdAt ?? messages[0]?.timestamp ?? modified;
  return {
    ...rest,
    title: title?.trim() || titleFrom(messages) || "Imported session",
    ...(model !== undefined && { model }),
    createdAt: Math.round(start),
    updatedAt: Math.round(Math.max(updatedAt ?? messages.at(-1)?.timestamp ?? modified, start)),
    messages,
    ...(context && { context: pairCalls(context, new Losses()) }),
    losses: losses.list(),
  };
}

function lastModel(messages: readonly UnifiedMessage[]): string | undefined {
  return messages.findLast((message) => message.model !== undefined)?.model;
}

/** Gives each call a unique id: some CLIs reuse ids, and some files begin or end in the middle of a call. */
function pairCalls(unpaired: readonly UnifiedMessage[], losses: Losses): UnifiedMessage[] {
  /** How many times an id was used, and the id that replaces it in its current use. */
  const uses = new Map<string, number>();
  const open = new Map<string, string>();
  const messages: UnifiedMessage[] = [];
  for (const message of unpaired) {
    const content: UnifiedContent[] = [];
    for (const block of message.content) {
      if (block.type === "tool_use") {
        const use = (uses.get(block.id) ?? 0) + 1;
        uses.set(block.id, use);
        const id = use === 1 ? block.id : `${block.id}_${use}`;
        if (open.has(block.id)) losses.add("open_call");
        open.set(block.id, id);
        content.push({ ...block, id });
      } else if (block.type === "tool_result") {
        const id = open.get(block.tool_use_id);
        open.delete(block.tool_use_id);
        if (id === undefined) losses.add("orphan_result");
        else content.push({ ...block, tool_use_id: id });
      } else {
        content.push(block);
      }
    }
    if (content.length > 0) messages.push({ ...message, content });
  }
  losses.add("open_call", open.size);
  return messages;
}

function titleFrom(messages: readonly UnifiedMessage[]): string {
  for (const { role, content } of messages) {
    if (role !== "user") continue;
    const text = content.find((block) => block.type === "text");
    if (text) return shortTitle(text.text);
  }
  return "";
}

/** Returns the first line that is not blank, cut at a word. */
function shortTitle(text: string, most = 60): string {
  const line = collapsed(text.split("\n").find((each) => each.trim() !== "") ?? "");
  if (line.length <= most) return line;
  const cut = line.slice(0, most);
  const space = cut.lastIndexOf(" ");
  return `${(space > most / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Converts ISO text, or a number of seconds or milliseconds, to milliseconds. */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === "number" && value > 0) return value < 1e11 ? value * 1000 : value;
  if (typeof value !== "string") return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}

export function countAt(value: unknown, key: string): number {
  if (!isObject(value)) return 0;
  const count = value[key];
  return typeof count === "number" && Number.isFinite(count) && count > 0 ? count : 0;
}

/** The image types that every program can display. */
export const pictureKinds: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
