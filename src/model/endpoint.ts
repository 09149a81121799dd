// Servers: the built-in vendors, and what courser.json and the environment say about them.
import { isLoopback } from "../policy/loopback.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { EndpointType } from "../protocol/run.ts";
import { findVendor, type VendorRow, vendors, type WireKind } from "./catalog.ts";
import { firstText } from "./keys.ts";
import type { EndpointSettings, ModelChoice } from "./resolve.ts";

/** A vendor, with headers of the user's own. `moved`: a built-in name at another server, which gets no saved key. */
export type ServerRow = VendorRow & {
  headers?: Readonly<Record<string, string>>;
  moved?: boolean;
  /** A program that prints a bearer token. */
  tokenCommand?: string;
  /** Tags in its text are thinking and calls. */
  textChannels?: boolean;
};

/** A built-in vendor, with what courser.json says about it. */
export function vendorRow(choice: ModelChoice, name: string): ServerRow | undefined {
  const own = ownEndpoint(choice, name.toLowerCase());
  return own ? endpointRow(name.toLowerCase(), own) : findVendor(name);
}

export function ownEndpoint({ endpoints }: ModelChoice, name: string): EndpointSettings | undefined {
  return endpoints && Object.hasOwn(endpoints, name) ? endpoints[name] : undefined;
}

export function endpointRow(name: string, endpoint: EndpointSettings): ServerRow {
  const builtIn = findVendor(name);
  const kind = endpoint.type === undefined ? (builtIn?.kind ?? "openai-compatible") : wireKinds.get(endpoint.type);
  if (!kind) {
    const known = [...wireKinds.keys()].join(", ");
    throw new UserError(
      "CONFIG_INVALID",
      `courser.json: providers.${name}.type '${endpoint.type}' is unknown. Choose ${known}.`,
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
    // A key of a built-in vendor goes to another server only when the user names its variable.
    keyVariables: variables.length > 0 ? variables : endpoint.baseUrl ? [] : (builtIn?.keyVariables ?? []),
    moved: builtIn !== undefined && endpoint.baseUrl !== undefined,
    baseUrlVariable: endpoint.baseUrl ? undefined : builtIn?.baseUrlVariable,
    ...(endpoint.headers && { headers: endpoint.headers }),
    ...(endpoint.tokenCommand && { tokenCommand: endpoint.tokenCommand }),
    ...(endpoint.textChannels !== undefined && { textChannels: endpoint.textChannels }),
  };
}

/** The values of the setting `type`, and the wire format that each stands for. */
const wireKinds: ReadonlyMap<string, WireKind> = new Map([
  ["anthropic", "anthropic"],
  ["responses", "openai"],
  ["google", "google"],
  ["openai-compatible", "openai-compatible"],
  ["openai", "openai"],
  ["azure", "azure"],
  ["bedrock", "bedrock"],
  ["vertex", "vertex"],
]);

/** What --endpoint-type may say: `openai` is the wire that most servers have taken over from it. */
const endpointTypes: Readonly<Record<EndpointType, WireKind>> = {
  openai: "openai-compatible",
  responses: "openai",
  anthropic: "anthropic",
  google: "google",
};

export function wireOfEndpoint(type: EndpointType | undefined): WireKind {
  return type === undefined ? "openai-compatible" : endpointTypes[type];
}

/** Where a variable says that the server is, else where it always is. */
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
  // OLLAMA_HOST also says where the server listens; 0.0.0.0 is every address, this machine's included.
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

/** From courser.json and -H. */
export function headersOf(choice: ModelChoice, base: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { ...base };
  for (const line of choice.headerFlags ?? []) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*([^\r\n]*)$/.exec(line.trim()) ?? [];
    if (!name || value === undefined)
      throw new UserError("USAGE", "--header must have the form 'Name: Value'. Example: --header 'X-Team: blue'"); // not shown: it may hold a key
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

/** On this machine. */
export function isLocal(url: string): boolean {
  return isLoopback(new URL(url).hostname);
}
