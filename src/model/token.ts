// Gets a bearer token from a program of the user: run when needed, cached until the token expires or is refused.
import { isObject, tryParse } from "../json/object.ts";
import type { Fetch } from "../net/fetch.ts";
import { ModelError } from "./provider.ts";

/** Runs the command and returns its output. Throws an Error that says why there is none. */
export type RunCommand = (command: string, signal: AbortSignal | undefined) => Promise<string>;

type Token = { text: string; until: number };

/** One token per command, which subagents and fallbacks share. */
const tokens = new Map<string, Promise<Token>>();

/** How many milliseconds before its expiry a token is replaced. */
const marginMs = 60_000;

export type TokenUse = { command: string; run: RunCommand; onToken(token: string): void };

/** Sends requests with the token instead of any key, and retries once with a new one if it is refused. */
export function withBearerToken(ask: Fetch, use: TokenUse): Fetch {
  return async (url, init = {}) => {
    const token = await tokenFrom(use, init.signal ?? undefined);
    const response = await ask(url, withToken(init, token.text));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    if ((await tokens.get(use.command)) === token) tokens.delete(use.command);
    const next = await tokenFrom(use, init.signal ?? undefined);
    return ask(url, withToken(init, next.text));
  };
}

const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

function withToken(init: RequestInit, token: string): RequestInit {
  const initialHeaders = Object.entries((init.headers ?? {}) as Record<string, string>);
  const headers = initialHeaders.filter(([name]) => !keyHeaders.includes(name.toLowerCase()));
  return { ...init, headers: Object.fromEntries([...headers, ["authorization", `Bearer ${token}`]]) };
}

async function tokenFrom({ command, run, onToken }: TokenUse, signal: AbortSignal | undefined): Promise<Token> {
  try {
    let token = await tokens.get(command);
    if (!token || token.until <= Date.now()) {
      const asked = run(command, signal).then(readToken);
      tokens.set(command, asked);
      token = await asked;
    }
    onToken(token.text); // report also a token that another provider requested, so that it is redacted here too
    return token;
  } catch (error) {
    tokens.delete(command);
    if (signal?.aborted) throw error;
    throw new ModelError("MODEL_AUTH_ERROR", `The token command gave no token: ${(error as Error).message}`);
  }
}

/** Parses a plain token, or JSON as cloud tools print it. The expiry comes from the JSON or from the token itself. */
export function readToken(printed: string): Token {
  const text = printed.trim();
  const json = tryParse(text);
  const fields = isObject(json) ? { ...json, ...(isObject(json["status"]) && json["status"]) } : undefined;
  const named = fields && ["access_token", "accessToken", "token", "id_token"].map((name) => fields[name]);
  const token = fields ? named?.find((value) => typeof value === "string" && value !== "") : text;
  if (typeof token !== "string" || token === "" || /\s/.test(token))
    throw new Error("it must print the token alone, or JSON with the field access_token or token.");
  return {
    text: token,
    until: ((fields && expiryTime(fields)) ?? endOfJwt(token) ?? Number.POSITIVE_INFINITY) - marginMs,
  };
}

const endFields = "expires_at expiresAt expires_on expiresOn expiry token_expiry expirationTimestamp".split(" ");

function expiryTime(fields: Record<string, unknown>): number | undefined {
  const seconds = Number(fields["expires_in"] ?? fields["expiresIn"]);
  if (seconds > 0) return Date.now() + seconds * 1000;
  for (const name of endFields) {
    const value = fields[name];
    const end =
      typeof value === "number" || /^\d+$/.test(String(value))
        ? toMilliseconds(Number(value))
        : Date.parse(String(value));
    if (end > 0) return end;
  }
  return undefined;
}

/** Converts seconds or milliseconds since 1970 to milliseconds. */
function toMilliseconds(value: number): number {
  return value < 1e11 ? value * 1000 : value;
}

function endOfJwt(token: string): number | undefined {
  const [, payload, signature] = token.split(".");
  if (!payload || !signature) return undefined;
  const claims = tryParse(Buffer.from(payload, "base64url").toString("utf8"));
  return isObject(claims) && typeof claims["exp"] === "number" ? claims["exp"] * 1000 : undefined;
}
