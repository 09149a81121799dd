// What the bridge knows of a host: how its payloads are read and how it wants to be answered. A new host is a file and a row.
import { type Check, type FieldTable, oneOf } from "../json/checks.ts";
import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import { optionsFault } from "../protocol/check-options.ts";
import type { HookAnswer, HookReply } from "./answer.ts";
import type { BridgeEvent, HookName, HostName } from "./event.ts";

export type ParseOptions = {
  /** `all`: also events that the host's adapter does not take by default. */
  events?: "common" | "all";
};

export type SerializeOptions = {
  /** What becomes of `ask` on versions of Cursor that do not honour it. `deny` unless told; `ask` leaves it alone. */
  cursorAskFallback?: "allow" | "deny" | "ask";
  /** Who calls itself cursor: an editor or its CLI (told by the version), or Courser. */
  cursorSurface?: "courser";
};

const parseChecks = { events: oneOf("common", "all") } satisfies Record<keyof ParseOptions, Check>;

const serializeChecks = {
  cursorAskFallback: oneOf("allow", "deny", "ask"),
  cursorSurface: oneOf("courser"),
} satisfies Record<keyof SerializeOptions, Check>;

export const hostChecks = { ...parseChecks, ...serializeChecks };

/** Pure: the same payload and the same answer give the same bytes. */
export interface Host {
  readonly name: HostName;
  /** The host's own events -> ours. */
  readonly events: Readonly<Record<string, HookName>>;
  /** What is printed when there is nothing to say. */
  readonly silence: string;
  /** Can its answer to this event refuse something? */
  permits(event: BridgeEvent): boolean;
  /** Throws BridgeError for events that it does not take and payloads that are not what they should be. */
  parse(raw: unknown, options?: ParseOptions): BridgeEvent;
  serialize(answer: HookAnswer, event: BridgeEvent, options?: SerializeOptions): HookReply;
}

/**
 * `PAYLOAD`: it cannot be read, so nothing is known of what it asks; whoever guards must refuse. `EVENT`, `HOST`,
 * `HANDLERS`, `OPTIONS`: something is set up wrongly.
 */
export class BridgeError extends Error {
  readonly code: "PAYLOAD" | "EVENT" | "HOST" | "HANDLERS" | "OPTIONS";

  constructor(code: BridgeError["code"], message: string) {
    super(message);
    this.name = "BridgeError";
    this.code = code;
  }
}

/** Throws BridgeError: a misspelt option would be passed over in silence. */
export function checkOptions(caller: string, options: unknown, table: FieldTable): void {
  const fault = optionsFault(caller, options, table);
  if (fault !== undefined) throw new BridgeError("OPTIONS", fault);
}

/** The host, with its callers' options checked. */
export function checkedHost(host: Host): Host {
  return {
    ...host,
    parse(raw, options = {}) {
      checkOptions("parse", options, parseChecks);
      return host.parse(raw, options);
    },
    serialize(answer, event, options = {}) {
      checkOptions("serialize", options, serializeChecks);
      return host.serialize(answer, event, options);
    },
  };
}

/** The payload as an object; text is read as JSON. */
export function payloadOf(raw: unknown): JsonObject {
  const value = typeof raw === "string" ? tryParse(raw) : raw;
  if (isObject(value)) return value;
  throw new BridgeError("PAYLOAD", "the payload is not a JSON object");
}

export function textOf(payload: JsonObject, key: string): string | undefined {
  const value = payload[key];
  return typeof value === "string" ? value : undefined;
}

export function numberOf(payload: JsonObject, key: string): number | undefined {
  const value = payload[key];
  return typeof value === "number" ? value : undefined;
}

/** What a handler relies on. */
export function requiredText(payload: JsonObject, key: string): string {
  const value = payload[key];
  if (typeof value === "string") return value;
  throw new BridgeError("PAYLOAD", `the payload has no string "${key}"`);
}
