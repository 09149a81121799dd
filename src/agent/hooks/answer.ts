// Parses what a hook printed. Parsing is strict: on an event that can refuse, output that cannot be understood refuses.

import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { Verdict } from "../../policy/need.ts";
import { type HookEventName, hookEvents } from "../../protocol/hook-events.ts";
import type { HookFormat } from "../../store/hook-entries.ts";
import { JsonTextError, parseJsonc } from "../../store/jsonc.ts";
import { list } from "../../text/words.ts";

/** The answer of one hook. All fields are optional; an empty answer means that the hook has no objection. */
export type HookReply = {
  /** The hook's decision. For a prompt, any value but `allow` blocks it. */
  permission?: Verdict;
  /** The reason for the decision, which the model receives. */
  reason?: string;
  /** A message that is shown to the user. */
  message?: string;
  updatedInput?: JsonObject;
  context?: string;
  followup?: string;
  env?: Record<string, string>;
  mcpOutput?: JsonObject;
  /** An error message, if the hook failed. */
  failure?: string;
  /**
   * Set when the hook was ended before it answered, in which case it did not allow anything. `stopped`: it ended with
   * the turn; `broken`: it timed out or was killed.
   */
  cutOff?: "stopped" | "broken";
  /** Whether the hook's output could not be parsed as an answer. */
  isMalformed?: true;
  warnings: string[];
};

export type HookKind = { event: HookEventName; format: HookFormat };

/** Returns whether a hook on this event can refuse something. */
export function isGate(event: HookEventName): boolean {
  const { effect } = hookEvents[event];
  return effect === "permit" || effect === "prompt";
}

/** Parses the answer that a hook printed. `output` is undefined when it exceeded the limit. */
export function readReply(output: string | undefined, kind: HookKind): HookReply {
  if (output === undefined) return malformed(kind, "it is longer than 1 MiB");
  const text = output.replace(/^\ufeff/, "").trim();
  if (text === "") return { warnings: [] };
  if (kind.format === "claude" && !text.includes("{")) return plainText(text, kind);
  const value = tryParse(text);
  if (!isObject(value)) return malformed(kind, value === undefined ? "it is not JSON" : "it is not a JSON object");
  const twice = repeatedKey(text);
  if (twice !== undefined) return malformed(kind, twice);
  return new Reader(value, kind).reply();
}

function malformed(kind: HookKind, why: string): HookReply {
  const sentence = `its answer could not be understood: ${why}`;
  if (!isGate(kind.event)) return { failure: sentence, warnings: [] };
  return { permission: "deny", reason: sentence, isMalformed: true, warnings: [sentence] };
}

/** Claude Code hooks may print plain text; on two events the model gets it as context. */
function plainText(text: string, { event }: HookKind): HookReply {
  const isContext = event === "sessionStart" || event === "beforeSubmitPrompt";
  return { ...(isContext && { context: text }), warnings: [] };
}

/** Returns a key that occurs twice in one object, where JSON.parse would silently keep the last. */
function repeatedKey(text: string): string | undefined {
  try {
    parseJsonc(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonTextError) return error.message;
    throw error;
  }
}

const permissions: Record<string, Verdict> = { allow: "allow", deny: "deny", ask: "ask" };
const decisions: Record<string, Verdict> = { ...permissions, approve: "allow", block: "deny" };
export const strictness: Record<Verdict, number> = { allow: 1, ask: 2, deny: 3 };

/** All answer fields; a field that an event does not accept is reported. */
const fields = list(`
  permission continue user_message agent_message updated_input additional_context followup_message env
  updated_mcp_tool_output`);

class Reader {
  readonly #value: JsonObject;
  readonly #nested: JsonObject;
  readonly #kind: HookKind;
  readonly #warnings: string[] = [];
  #fault: string | undefined;

  constructor(value: JsonObject, kind: HookKind) {
    this.#value = value;
    this.#kind = kind;
    const nested = value["hookSpecificOutput"];
    this.#nested = isObject(nested) ? nested : {};
    if (nested !== undefined && !isObject(nested)) this.#fault = '"hookSpecificOutput" must be an object';
  }

  reply(): HookReply {
    const { event } = this.#kind;
    const { effect } = hookEvents[event];
    this.#reportDropped();
    const reply: HookReply = { warnings: this.#warnings };
    const permission = isGate(event) ? this.#permission() : undefined;
    if (permission) reply.permission = event === "subagentStart" && permission === "ask" ? "deny" : permission;
    set(reply, "reason", this.#reason());
    set(reply, "message", this.#text(["user_message", "userMessage", "systemMessage"]));
    set(reply, "context", this.#context());
    if (effect === "followup") set(reply, "followup", this.#followup());
    if (event === "preToolUse") set(reply, "updatedInput", this.#updatedInput());
    if (event === "sessionStart") set(reply, "env", this.#environment());
    if (event === "postToolUse") set(reply, "mcpOutput", this.#object("updated_mcp_tool_output"));
    if (this.#fault === undefined) return reply;
    const refused = malformed(this.#kind, this.#fault);
    return { ...refused, warnings: [...refused.warnings, ...this.#warnings] };
  }

  /** Returns the strictest decision of a hook's answer, which may state it in several fields. */
  #permission(): Verdict | undefined {
    const found = [
      this.#readVerdict(this.#value, "permission", permissions),
      this.#readVerdict(this.#value, "decision", decisions),
      this.#readVerdict(this.#nested, "permissionDecision", permissions),
    ];
    const continues = this.#value["continue"];
    if (continues === false) found.push("deny");
    else if (continues !== undefined && continues !== true) this.#fault = '"continue" must be true or false';
    return strictestVerdict(found);
  }

  #readVerdict(object: JsonObject, key: string, words: Record<string, Verdict>): Verdict | undefined {
    if (!Object.hasOwn(object, key)) return undefined;
    const word = object[key];
    if (typeof word === "string" && Object.hasOwn(words, word)) return words[word];
    this.#fault = `"${key}" must be one of ${Object.keys(words).join(", ")}, not ${JSON.stringify(word)?.slice(0, 60)}`;
    return undefined;
  }

  #reason(): string | undefined {
    return (
      this.#text(["agent_message", "agentMessage"]) ??
      this.#text(["permissionDecisionReason"], this.#nested) ??
      this.#text(["reason", "stopReason"])
    );
  }

  /** Reads context for the model, which includes the reason of a block after the call has already run. */
  #context(): string | undefined {
    const { event, format } = this.#kind;
    const extraContext = this.#acceptsField("additional_context") ? this.#text(["additional_context"]) : undefined;
    const claudeOwn = this.#text(["additionalContext"], this.#nested);
    const takesClaude = format === "claude" || this.#acceptsField("additional_context");
    const blocked = event === "postToolUse" && this.#value["decision"] === "block" ? this.#reason() : undefined;
    return extraContext ?? (takesClaude ? claudeOwn : undefined) ?? blocked;
  }

  #followup(): string | undefined {
    if (this.#value["continue"] === false) return undefined;
    const followupText = this.#text(["followup_message"]);
    return followupText ?? (this.#value["decision"] === "block" ? this.#reason() : undefined);
  }

  #updatedInput(): JsonObject | undefined {
    const updatedFields = Object.hasOwn(this.#value, "updated_input")
      ? this.#value["updated_input"]
      : this.#nested["updatedInput"];
    if (updatedFields === undefined) return undefined;
    if (isObject(updatedFields)) return updatedFields;
    this.#fault = '"updated_input" must be an object';
    return undefined;
  }

  #environment(): Record<string, string> | undefined {
    const variables = this.#object("env");
    if (!variables) return undefined;
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries(variables)) {
      const isGood = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && typeof value === "string" && !value.includes("\0");
      if (isGood) env[name] = value;
      else this.#warnings.push(`"env.${name.slice(0, 40)}" must be a string and was dropped`);
    }
    return env;
  }

  #object(key: string): JsonObject | undefined {
    const value = this.#value[key];
    if (value === undefined || isObject(value)) return value;
    this.#warnings.push(`"${key}" must be an object and was dropped`);
    return undefined;
  }

  #text(keys: readonly string[], from = this.#value): string | undefined {
    for (const key of keys) {
      const value = Object.hasOwn(from, key) ? from[key] : undefined;
      if (value === undefined || value === null || value === "") continue;
      if (typeof value === "string") return value;
      this.#warnings.push(`"${key}" must be a string and was dropped`);
    }
    return undefined;
  }

  #acceptsField(field: string): boolean {
    return Object.hasOwn(hookEvents[this.#kind.event].answer, field);
  }

  #reportDropped(): void {
    const { event } = this.#kind;
    const silent = new Set(event === "sessionStart" ? ["continue", "user_message"] : []);
    if (isGate(event)) for (const field of ["permission", "continue", "agent_message"]) silent.add(field);
    for (const field of fields) {
      if (this.#acceptsField(field) || silent.has(field) || !Object.hasOwn(this.#value, field)) continue;
      if (field === "continue" && this.#value[field] === true) continue;
      this.#warnings.push(`"${field}" has no effect on ${event} and was dropped`);
    }
    const changes = event !== "preToolUse" && Object.hasOwn(this.#nested, "updatedInput");
    if (changes) this.#warnings.push(`"updatedInput" has no effect on ${event} and was dropped`);
  }
}

export function strictestVerdict(verdicts: readonly (Verdict | undefined)[]): Verdict | undefined {
  let found: Verdict | undefined;
  for (const verdict of verdicts) if (verdict && strictness[verdict] > (found ? strictness[found] : 0)) found = verdict;
  return found;
}

function set<Key extends keyof HookReply>(reply: HookReply, key: Key, value: HookReply[Key] | undefined): void {
  if (value !== undefined) reply[key] = value;
}
