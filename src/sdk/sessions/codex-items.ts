// Converts Codex's response items to unified messages; items of one model answer become one message.

import { isObject, type JsonObject, textIn, tryParse } from "../../json/object.ts";
import { unifiedToolName } from "../tool-names.ts";
import {
  imageBlock,
  type UnifiedContent,
  type UnifiedImageBlock,
  type UnifiedMessage,
  type UnifiedTextBlock,
  type UnifiedUsage,
} from "../unified.ts";
import { countAt, type Losses, pictureKinds } from "./session.ts";

type ItemInfo = { timestamp: number; model: string | undefined };

export class CodexConversation {
  readonly messages: UnifiedMessage[] = [];
  hasEncryptedSummary = false;
  readonly #losses: Losses;
  /** The names of the called tools, by call id. */
  readonly #calls = new Map<string, string>();
  readonly #files = new Map<string, readonly string[]>();
  #count = 0;

  constructor(losses: Losses) {
    this.#losses = losses;
  }

  add(item: JsonObject, info: ItemInfo): void {
    const take = takers.get(String(item.type));
    if (take) take(this, item, info);
    else if (!silent.test(String(item.type))) this.#losses.add("unknown");
  }

  lose(...loss: Parameters<Losses["add"]>): void {
    this.#losses.add(...loss);
  }

  say(
    role: "user" | "assistant",
    content: UnifiedContent[],
    { item, info }: { item: JsonObject; info: ItemInfo },
  ): void {
    if (content.length === 0) return;
    const last = this.messages.at(-1);
    // Merge items of the same answer, and results of the same round of calls.
    const isSame = last?.role === role && (role === "assistant" || (areResults(last.content) && areResults(content)));
    if (isSame) {
      last.content.push(...content);
      (last._original as unknown[]).push(item);
      return;
    }
    this.messages.push({
      id: textIn(item, "id") ?? `item-${++this.#count}`,
      role,
      content,
      timestamp: info.timestamp,
      tool: "codex",
      ...(role === "assistant" && info.model !== undefined && { model: info.model }),
      _original: [item],
    });
  }

  call(id: string, name: string, input: unknown): UnifiedContent {
    this.#calls.set(id, name);
    return { type: "tool_use", id, name: unifiedToolName("codex", name), input };
  }

  /** A command or a patch that changed files becomes one call for each of them, before it has a result. */
  changed(callId: string, changes: JsonObject): void {
    const isCall = (block: UnifiedContent) => block.type === "tool_use" && block.id === callId;
    const content = this.messages.findLast((message) => message.content.some(isCall))?.content;
    const edits = Object.entries(changes).flatMap(([path, change]) => (isObject(change) ? [editOf(path, change)] : []));
    if (!content || edits.length === 0) return;
    const ids = edits.map((_, index) => (index === 0 ? callId : `${callId}.${index + 1}`));
    const blocks = edits.map((edit, index): UnifiedContent => ({ type: "tool_use", id: ids[index]!, ...edit }));
    content.splice(content.findIndex(isCall), 1, ...blocks);
    this.#files.set(callId, ids);
  }

  /** Returns the ids of the calls that one call of Codex was converted to. */
  idsOf(callId: string): readonly string[] {
    return this.#files.get(callId) ?? [callId];
  }

  calledTool(callId: string): string | undefined {
    return this.#calls.get(callId);
  }

  /** Adds the usage of an answer. Codex sometimes reports it twice. */
  addUsage(counts: unknown): void {
    const answer = this.messages.findLast((message) => message.role === "assistant");
    if (answer && !answer.usage && isObject(counts)) answer.usage = parseUsage(counts);
  }

  /** Removes the last turns and returns the number of messages removed. */
  dropTurns(turns: number): number {
    const before = this.messages.length;
    for (let left = turns; left > 0 && this.messages.length > 0; left--) {
      const start = this.messages.findLastIndex(({ role, content }) => role === "user" && !areResults(content));
      this.messages.length = Math.max(start, 0);
    }
    return before - this.messages.length;
  }
}

function areResults(content: readonly UnifiedContent[]): boolean {
  return content.every((block) => block.type === "tool_result");
}

/** Codex includes cached tokens in its input tokens; here they are counted separately. */
function parseUsage(counts: JsonObject): UnifiedUsage {
  const cacheReadTokens = countAt(counts, "cached_input_tokens");
  const cacheWriteTokens = countAt(counts, "cache_write_input_tokens");
  return {
    ...counts,
    inputTokens: Math.max(0, countAt(counts, "input_tokens") - cacheReadTokens - cacheWriteTokens),
    outputTokens: countAt(counts, "output_tokens"),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

type ItemTaker = (to: CodexConversation, item: JsonObject, info: ItemInfo) => void;

/** Types of items that are not part of the conversation. */
const silent = /^(ghost_snapshot|tool_search_output|other)$/;

const takers = new Map<string, ItemTaker>(
  Object.entries({
    message: takeMessage,
    reasoning: takeReasoning,
    function_call(to, item, info) {
      const given = textIn(item, "arguments") ?? "{}";
      takeCall(to, item, info, { name: String(item.name), input: tryParse(given) ?? given });
    },
    custom_tool_call: (to, item, info) =>
      takeCall(to, item, info, { name: String(item.name), input: { input: item.input } }),
    local_shell_call: (to, item, info) => takeCall(to, item, info, { name: "local_shell", input: item.action ?? {} }),
    function_call_output: takeOutput,
    custom_tool_call_output: takeOutput,
    web_search_call: loseHostedCall,
    image_generation_call: loseHostedCall,
    tool_search_call: loseHostedCall,
    compaction: takeEncryptedSummary,
    compaction_summary: takeEncryptedSummary,
    context_compaction: takeEncryptedSummary,
  } satisfies Record<string, ItemTaker>),
);

/** Converts a file change to a call of an edit tool that most agents have. */
function editOf(path: string, { type, content, unified_diff: diff }: JsonObject): { name: string; input: JsonObject } {
  if (type === "add") return { name: "Write", input: { path, content } };
  if (type === "delete") return { name: "Delete", input: { path } };
  return { name: "Edit", input: { path, edits: editsIn(typeof diff === "string" ? diff : "") } };
}

/** An edit for each group of changed lines, with the unchanged lines around it. */
function editsIn(diff: string): { oldText: string; newText: string }[] {
  const hunks = diff.split(/^@@.*\n/m).map((hunk) => hunk.split("\n").filter((line) => /^[ +-]/.test(line)));
  return hunks.flatMap((lines) => {
    const groups = [{ lines: [] as string[], after: [] as string[] }];
    for (const line of lines) {
      const { lines: group, after } = groups.at(-1)!;
      const isChanged = group.some((each) => each[0] !== " ");
      if (line[0] === " ") (isChanged ? after : group).push(line);
      else if (after.length > 0) groups.push({ lines: [...after, line], after: [] });
      else group.push(line);
    }
    const textOf = (group: readonly string[], without: string) =>
      group.flatMap((line) => (line[0] === without ? [] : [line.slice(1)])).join("\n");
    return groups
      .map((group) => [...group.lines, ...group.after])
      .filter((group) => group.some((line) => line[0] !== " "))
      .map((group) => ({ oldText: textOf(group, "+"), newText: textOf(group, "-") }));
  });
}

function callIdOf(item: JsonObject): string {
  return textIn(item, "call_id") ?? textIn(item, "id") ?? "";
}

function takeCall(...[to, item, info, call]: [...Parameters<ItemTaker>, { name: string; input: unknown }]): void {
  to.say("assistant", [to.call(callIdOf(item), call.name, call.input)], { item, info: info });
}

function loseHostedCall(to: CodexConversation): void {
  to.lose("hosted_call");
}

function takeEncryptedSummary(to: CodexConversation, item: JsonObject): void {
  if (typeof item.encrypted_content === "string") to.hasEncryptedSummary = true;
}

function takeMessage(to: CodexConversation, item: JsonObject, info: ItemInfo): void {
  const { role } = item;
  if ((role === "user" && !isNote(item)) || role === "assistant") {
    to.say(role, contentBlocks(item.content, to), { item, info: info });
  } else {
    to.lose("context");
  }
}

/** Matches messages that are not prompts, by their beginning. */
const notes =
  /^\s*(<(environment_context|user_instructions|permissions instructions|skills_instructions|collaboration_mode|turn_aborted|subagent_notification|user_shell_command|user_action|model_switch|skill|plugins_instructions)>|# AGENTS\.md instructions)/i;

/** Returns whether a message is not a prompt. Newer versions say so; in older ones its beginning shows it. */
function isNote(item: JsonObject): boolean {
  const metadata = item.internal_chat_message_metadata_passthrough;
  const kinds = isObject(metadata) ? metadata.content_item_kinds : undefined;
  if (Array.isArray(kinds) && kinds.every((kind) => typeof kind === "string" && kind !== "unknown")) {
    return kinds.every((kind) => !/^(user\.|compaction\.summary$)/.test(String(kind)));
  }
  const content = Array.isArray(item.content) ? item.content : [];
  return content.length > 0 && content.every((block) => notes.test(textIn(block, "text") ?? ""));
}

function contentBlocks(content: unknown, to: CodexConversation): (UnifiedTextBlock | UnifiedImageBlock)[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block): (UnifiedTextBlock | UnifiedImageBlock)[] => {
    const text = textIn(block, "text") ?? textIn(block, "refusal");
    if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
    const picture = pictureIn(textIn(block, "image_url"));
    if (picture) return [imageBlock(picture)];
    to.lose("attachment");
    return [];
  });
}

function pictureIn(url: string | undefined): { mime: string; base64: string } | undefined {
  const [, mime, base64] = /^data:([^;,]+);base64,([A-Za-z0-9+/=]+)$/.exec(url ?? "") ?? [];
  return mime !== undefined && pictureKinds.has(mime) ? { mime, base64: base64! } : undefined;
}

function takeReasoning(to: CodexConversation, item: JsonObject, info: ItemInfo): void {
  const pieces = [item.summary, item.content].flatMap((list) =>
    Array.isArray(list) ? list.map((each) => textIn(each, "text") ?? "") : [],
  );
  const thinking = pieces.filter(Boolean).join("\n\n");
  if (thinking === "") {
    to.lose("thinking");
    return;
  }
  if (typeof item.encrypted_content === "string") to.lose("signature");
  to.say("assistant", [{ type: "thinking", thinking }], { item, info: info });
}

function takeOutput(to: CodexConversation, item: JsonObject, info: ItemInfo): void {
  const id = callIdOf(item);
  const result = convertResult(item.output, to.calledTool(id) ?? "", to);
  const results = to.idsOf(id).map((each): UnifiedContent => ({ type: "tool_result", tool_use_id: each, ...result }));
  to.say("user", results, { item, info: info });
}

type CallResult = { content: string | (UnifiedTextBlock | UnifiedImageBlock)[]; is_error: boolean };

/** Accepts text, blocks, or an object around them; for commands, the exit status precedes the output. */
function convertResult(output: unknown, name: string, to: CodexConversation): CallResult {
  if (isObject(output)) {
    const inner = convertResult(output.content ?? output.content_items ?? "", name, to);
    return { ...inner, is_error: inner.is_error || output.success === false };
  }
  if (Array.isArray(output)) {
    const blocks = contentBlocks(output, to);
    if (blocks.some((block) => block.type === "image")) return { content: blocks, is_error: false };
    return convertResult(blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n"), name, to);
  }
  const text = typeof output === "string" ? output : "";
  const wrapped = text.startsWith("{") ? tryParse(text) : undefined;
  if (isObject(wrapped) && typeof wrapped.output === "string" && isObject(wrapped.metadata)) {
    return { content: wrapped.output, is_error: countAt(wrapped.metadata, "exit_code") !== 0 };
  }
  return unifiedToolName("codex", name) === "Bash" ? shellResult(text) : { content: text, is_error: false };
}

const shellHead =
  /^((?:(?:Chunk ID|Wall time|Process exited with code|Exit code|Original token count|Total output lines|Command)\b.*\n)+)Output:\n/;

/** Separates the exit status, which precedes the output, sometimes twice. */
function shellResult(text: string): CallResult {
  let printed = text;
  let head = "";
  for (let match = shellHead.exec(printed); match; match = shellHead.exec(printed)) {
    head += match[1]!;
    printed = printed.slice(match[0].length);
  }
  const exit = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(head)?.[1] ?? "0";
  return exit === "0"
    ? { content: printed, is_error: false }
    : { content: `${printed.trimEnd()}\n[exit code ${exit}]`.trimStart(), is_error: true };
}
