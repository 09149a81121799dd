// The interface of a host: how its payloads are parsed and how it is answered. To add a host, add a file and a row.
import { type Check, type FieldTable, oneOf } from "../json/checks.ts";
import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import { optionsFault } from "../protocol/check-options.ts";
import type { HookAnswer, HookReply } from "./answer.ts";
import type { BridgeEvent, HookName, HostName } from "./event.ts";

/** The options of `parse`. */
export type ParseOptions = {
  /** `all` also accepts events that the host's adapter refuses by default. */
  events?: "common" | "all";
};

/** The options of `serialize`. */
export type SerializeOptions = {
  /** Replaces `ask` on versions of Cursor that do not honour it. Default: `deny`; `ask` leaves it unchanged. */
  cursorAskFallback?: "allow" | "deny" | "ask";
  /** Set to `courser` if Courser is the caller; Cursor's editor and CLI are told apart by their version. */
  cursorSurface?: "courser";
};

const parseChecks = { events: oneOf("common", "all") } satisfies Record<keyof ParseOptions, Check>;

const serializeChecks = {
  cursorAskFallback: oneOf("allow", "deny", "ask"),
  cursorSurface: oneOf("courser"),
} satisfies Record<keyof SerializeOptions, Check>;

export const hostChecks = { ...parseChecks, ...serializeChecks };

/** Parses payloads and serializes answers for one host. Pure: the same payload and answer give the same bytes. */
export interface Host {
  readonly name: HostName;
  /** Maps the host's own event names to those of the bridge. */
  readonly events: Readonly<Record<string, HookName>>;
  /** What to print when a handler makes no decision. */
  readonly silence: string;
  /** Whether the answer to this event can refuse something. */
  permits(event: BridgeEvent): boolean;
  /** Throws a BridgeError for unsupported events and malformed payloads. */
  parse(raw: unknown, options?: ParseOptions): BridgeEvent;
  /** Converts an answer to the host's format. */
  serialize(answer: HookAnswer, event: BridgeEvent, options?: SerializeOptions): HookReply;
}

/**
 * `PAYLOAD`: the payload cannot be read, so its request is unknown; a guard must refuse. `EVENT`, `HOST`, `HANDLERS`,
 * `OPTIONS`: the setup is wrong.
 */
export class BridgeError extends Error {
  readonly code: "PAYLOAD" | "EVENT" | "HOST" | "HANDLERS" | "OPTIONS";

  constructor(code: BridgeError["code"], message: string) {
    super(message);
    this.name = "BridgeError";
    this.code = code;
  }
}

/** Throws a BridgeError for an unknown or invalid option, so that a misspelt one is not silently ignored. */
export function checkOptions(caller: string, options: unknown, table: FieldTable): void {
  const fault = optionsFault(caller, options, table);
  if (fault !== undefined) throw new BridgeError("OPTIONS", fault);
}

/** Wraps a host so that the options of its callers are checked. */
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

/** Returns the payload as an object; text is parsed as JSON. */
export function payloadOf(raw: unknown): JsonObject {
  const value = typeof raw === "string" ? tryParse(raw) : raw;
  if (isObject(value)) return value;
  throw new BridgeError("PAYLOAD", "the payload is not a JSON object");
}

export function numberField(payload: JsonObject, key: string): number | undefined {
  const value = payload[key];
  return typeof value === "number" ? value : undefined;
}

/** Returns a string field of a host's payload. Throws a BridgeError if it is missing, because handlers rely on it. */
export function requiredText(payload: JsonObject, key: string): string {
  const value = payload[key];
  if (typeof value === "string") return value;
  throw new BridgeError("PAYLOAD", `the payload has no string "${key}"`);
}
