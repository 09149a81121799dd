// Resolves servers: the built-in vendors, and what courser.json and the environment say about them.

import { UserError, usageError } from "../protocol/error-codes.ts";
import type { EndpointType } from "../protocol/run.ts";
import { isLoopback } from "../text/loopback.ts";
import { findVendor, type VendorRow, vendors, type WireKind } from "./catalog.ts";
import { firstText } from "./keys.ts";
import type { EndpointSettings, ModelChoice } from "./resolve.ts";

/** A vendor with the user's headers. `moved`: a built-in name at another server, which gets no saved key. */
export type ServerRow = VendorRow & {
  headers?: Readonly<Record<string, string>>;
  moved?: boolean;
  /** A command that prints a bearer token for the server. */
  tokenCommand?: string;
  /** Whether tags in the text of answers mark thinking and tool calls. */
  textChannels?: boolean;
};

/** Returns a built-in vendor or an endpoint, with its settings from courser.json. */
export function vendorRow(choice: ModelChoice, name: string): ServerRow | undefined {
  const ownSettings = ownEndpoint(choice, name.toLowerCase());
  return ownSettings ? endpointRow(name.toLowerCase(), ownSettings) : findVendor(name);
}

export function ownEndpoint({ endpoints }: ModelChoice, name: string): EndpointSettings | undefined {
  return endpoints && Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
}

export function endpointRow(name: string, endpoint: EndpointSettings): ServerRow {
  const builtIn = findVendor(name);
  const kind = endpoint.type === undefined ? (builtIn?.kind ?? "openai-compatible") : wireKinds.get(endpoint.type);
  if (!kind) {
    const typeNames = [...wireKinds.keys()].join(", ");
    throw new UserError(
      "CONFIG_INVALID",
      `courser.json: providers.${name}.type '${endpoint.type}' is unknown. Choose ${typeNames}.`,
    );
  }
  const sameKind = vendors.find((row) => row.name === kind);
  const baseUrl = endpoint.baseUrl ?? builtIn?.baseUrl ?? sameKind?.baseUrl;
  if (!baseUrl) {
    throw new UserError(
      "CONFIG_INVALID",
      `courser.json: providers.${name} has no baseUrl. Add one, like "baseUrl": "http://127.0.0.1:8000/v1".`,
    );
  }
  const variables = [endpoint.keyEnv, ...(endpoint.keys ?? [])].filter((each) => each !== undefined);
  return {
    ...builtIn,
    name,
    label: builtIn?.label ?? name,
    kind,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    // A key of a built-in vendor is sent to another server only if the user names its variable.
    keyVariables: variables.length > 0 ? variables : endpoint.baseUrl ? [] : (builtIn?.keyVariables ?? []),
    moved: builtIn !== undefined && endpoint.baseUrl !== undefined,
    baseUrlVariable: endpoint.baseUrl ? undefined : builtIn?.baseUrlVariable,
    ...(endpoint.headers && { headers: endpoint.headers }),
    ...(endpoint.tokenCommand && { tokenCommand: endpoint.tokenCommand }),
    ...(endpoint.textChannels !== undefined && { textChannels: endpoint.textChannels }),
  };
}

/** The values of the setting `type`, and the wire format of each. */
const wireKinds: ReadonlyMap<string, WireKind> = new Map([
  ...vendors.map(({ kind }) => [kind, kind] as const),
  ["responses", "openai"],
]);

/** The values of --endpoint-type: `openai` is the chat completions API that most servers have adopted. */
const endpointTypes: Readonly<Record<EndpointType, WireKind>> = {
  openai: "openai-compatible",
  responses: "openai",
  anthropic: "anthropic",
  google: "google",
};

export function wireOfEndpoint(type: EndpointType | undefined): WireKind {
  return type === undefined ? "openai-compatible" : endpointTypes[type];
}

/** Returns the address from the vendor's variable, or its default. */
export function movedUrl(vendor: VendorRow, choice: ModelChoice): string {
  const moved = vendor.baseUrlVariable && firstText(choice.env[vendor.baseUrlVariable]);
  if (!moved) return filledIn(vendor, choice);
  const text = /^https?:\/\//.test(moved) ? moved : `http://${moved}`;
  if (!URL.canParse(text))
    throw new UserError(
      "CONFIG_INVALID",
      `${vendor.baseUrlVariable} is not an http or https address. Correct or unset it.`,
    );
  const url = new URL(text);
  // OLLAMA_HOST may contain the address that the server listens on. 0.0.0.0 means all addresses, including this
  // machine's.
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (vendor.local && !url.port) url.port = new URL(vendor.baseUrl).port;
  if (url.pathname === "/") url.pathname = new URL(vendor.baseUrl).pathname;
  return url.href.replace(/\/+$/, "");
}

function filledIn({ name, baseUrl }: VendorRow, { env }: ModelChoice): string {
  return baseUrl.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, variable: string, usual?: string) => {
    const value = firstText(env[variable]) ?? usual;
    if (value !== undefined && /^[\w.-]+$/.test(value)) return value;
    throw new UserError(
      "CONFIG_INVALID",
      `${variable} says which ${name} of yours is meant, and is ${value === undefined ? "not set" : "not a name"}. Type: export ${variable}=<name>, or set providers.${name}.baseUrl in courser.json.`,
    );
  });
}

/** Merges the headers from courser.json with those of the -H flag. */
export function headersOf(choice: ModelChoice, base: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { ...base };
  for (const line of choice.headerFlags ?? []) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([^\r\n]*)$/.exec(line.trim()) ?? [];
    if (!name || value === undefined)
      // do not print the header's value, which may be a key
      throw usageError("--header must have the form 'Name: Value'. Example: --header 'X-Team: blue'");
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

/** Returns whether a URL points to this machine. */
export function isLocal(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}
