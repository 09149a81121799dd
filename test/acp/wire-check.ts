// Every line that an agent writes, against the schema of the protocol's own package: by its method, or by what it answers.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { valueFault } from "../../src/json/schema.ts";

const file = createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
const schema = JSON.parse(readFileSync(file, "utf8")) as { $defs: Record<string, Definition> };

type Definition = { "x-method"?: string; "x-side"?: string; properties?: object; [key: string]: unknown };
type Message = {
  jsonrpc?: unknown;
  id?: unknown;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: unknown;
};

/** Of a request, a notification or an answer. */
function definition(method: string, kind: "Request" | "Notification" | "Response"): string | undefined {
  return Object.entries(schema.$defs).find(
    ([name, { "x-method": named }]) => named === method && name.endsWith(kind),
  )?.[0];
}

function faultOf(value: unknown, name: string): string | undefined {
  return valueFault(value, { ...schema, anyOf: undefined, $ref: `#/$defs/${name}` }, { strict: true, place: name });
}

/** Extensions have no schema; these are ours to send, where the client announced them. */
const extensions = ["cursor/ask_question", "cursor/create_plan", "cursor/update_todos", "cursor/task"];
/** Beside the schema, and on purpose: a client that resumes looks for it in the answer to load. */
const added: Record<string, readonly string[]> = { "session/load": ["sessionId"], "session/resume": ["sessionId"] };

export class WireCheck {
  readonly faults: string[] = [];
  /** What the client asked, by its id as JSON. */
  readonly #asked = new Map<string, string>();

  sent(message: Message): void {
    if (message.method !== undefined && message.id !== undefined)
      this.#asked.set(JSON.stringify(message.id), message.method);
  }

  received(line: string): void {
    const fault = this.#fault(line);
    if (fault) this.faults.push(`${fault}: ${line.slice(0, 300)}`);
  }

  #fault(line: string): string | undefined {
    let message: Message;
    try {
      message = JSON.parse(line) as Message;
    } catch {
      return "not JSON";
    }
    if (message.jsonrpc !== "2.0") return "no JSON-RPC 2.0";
    if (message.method !== undefined) return callFault(message.method, message);
    if ("result" in message === "error" in message) return "an answer must have a result or an error";
    if ("error" in message) return faultOf(message.error, "Error") ?? messageFault(message.error);
    const asked = this.#asked.get(JSON.stringify(message.id));
    if (asked === undefined) return "an answer to nothing";
    const name = definition(asked, "Response");
    return name && (faultOf(message.result, name) ?? unknownKeys(message.result, name, added[asked]));
  }
}

function callFault(method: string, { id, params }: Message): string | undefined {
  if (extensions.includes(method)) return undefined;
  const name = definition(method, id === undefined ? "Notification" : "Request");
  if (!name) return `unknown method ${method}`;
  return faultOf(params, name) ?? unknownKeys(params, name);
}

/** A concise sentence. */
function messageFault(error: unknown): string | undefined {
  const { message } = error as { message: string };
  return message === "" || message.includes("\n") ? "the message of an error must be one line" : undefined;
}

/** The specification allows no fields of one's own at the root of what it describes. */
function unknownKeys(value: unknown, name: string, allowed: readonly string[] = []): string | undefined {
  const known = keysOf(schema.$defs[name]!);
  const key = Object.keys(value as object).find((each) => !known.has(each) && !allowed.includes(each));
  return key === undefined ? undefined : `${name} has no "${key}"`;
}

function keysOf(part: Definition, seen = new Set<object>()): Set<string> {
  if (seen.has(part)) return new Set();
  seen.add(part);
  const keys = new Set(Object.keys(part.properties ?? {}));
  const inner = [...list(part["allOf"]), ...list(part["anyOf"]), ...list(part["oneOf"])];
  const reference = part["$ref"];
  if (typeof reference === "string") inner.push(schema.$defs[reference.replace("#/$defs/", "")]!);
  for (const each of inner) for (const key of keysOf(each, seen)) keys.add(key);
  return keys;
}

function list(value: unknown): Definition[] {
  return Array.isArray(value) ? (value as Definition[]) : [];
}
