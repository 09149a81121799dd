// A bearer token that a program of the user's prints: asked for when it is needed, kept until it expires or is refused.
import { isObject, tryParse } from "../json/object.ts";
import type { Fetch } from "../net/fetch.ts";
import { ModelError } from "./provider.ts";

/** Runs the command and returns what it printed. Throws an Error that says why there is nothing. */
export type RunCommand = (command: string, signal: AbortSignal | undefined) => Promise<string>;

type Token = { text: string; until: number };

/** One for a command, whoever asks: subagents and fallbacks use the same. */
const tokens = new Map<string, Promise<Token>>();

/** So long before its end a token is no longer used. */
const marginMs = 60_000;

export type TokenUse = { command: string; run: RunCommand; onToken(token: string): void };

/** Requests with the token in the place of any key, and once more with a new one where it is refused. */
export function bearing(ask: Fetch, use: TokenUse): Fetch {
  const send: Fetch = async (url, init = {}) => {
    const token = await tokenFrom(use, init.signal ?? undefined);
    const response = await ask(url, withToken(init, token.text));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    if ((await tokens.get(use.command)) === token) tokens.delete(use.command);
    const next = await tokenFrom(use, init.signal ?? undefined);
    return ask(url, withToken(init, next.text));
  };
  return send;
}

const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];

function withToken(init: RequestInit, token: string): RequestInit {
  const given = Object.entries((init.headers ?? {}) as Record<string, string>);
  const headers = given.filter(([name]) => !keyHeaders.includes(name.toLowerCase()));
  return { ...init, headers: Object.fromEntries([...headers, ["authorization", `Bearer ${token}`]]) };
}

async function tokenFrom({ command, run, onToken }: TokenUse, signal: AbortSignal | undefined): Promise<Token> {
  const kept = await tokens.get(command);
  if (kept && kept.until > Date.now()) return kept;
  const asked = run(command, signal).then(readToken);
  tokens.set(command, asked);
  try {
    const token = await asked;
    onToken(token.text);
    return token;
  } catch (error) {
    tokens.delete(command);
    if (signal?.aborted) throw error;
    throw new ModelError("MODEL_AUTH_ERROR", `The token command gave no token: ${(error as Error).message}`);
  }
}

/** The token alone, or JSON as the programs of clouds print it. Its end is what is said of it, or what stands in it. */
export function readToken(printed: string): Token {
  const text = printed.trim();
  const json = tryParse(text);
  const fields = isObject(json) ? { ...json, ...(isObject(json["status"]) && json["status"]) } : undefined;
  const named = fields && ["access_token", "accessToken", "token", "id_token"].map((name) => fields[name]);
  const token = fields ? named?.find((value) => typeof value === "string" && value !== "") : text;
  if (typeof token !== "string" || token === "" || /\s/.test(token))
    throw new Error("it must print the token alone, or JSON with the field access_token or token.");
  return { text: token, until: ((fields && endOf(fields)) ?? endOfJwt(token) ?? Number.POSITIVE_INFINITY) - marginMs };
}

function endOf(fields: Record<string, unknown>): number | undefined {
  const seconds = Number(fields["expires_in"] ?? fields["expiresIn"]);
  if (seconds > 0) return Date.now() + seconds * 1000;
  for (const name of [
    "expires_at",
    "expiresAt",
    "expires_on",
    "expiresOn",
    "expiry",
    "token_expiry",
    "expirationTimestamp",
  ]) {
    const value = fields[name];
    const end =
      typeof value === "number" || /^\d+$/.test(String(value)) ? instant(Number(value)) : Date.parse(String(value));
    if (end > 0) return end;
  }
  return undefined;
}

/** Seconds or milliseconds since 1970. */
function instant(value: number): number {
  return value < 1e11 ? value * 1000 : value;
}

function endOfJwt(token: string): number | undefined {
  const [, payload, signature] = token.split(".");
  if (!payload || !signature) return undefined;
  const claims = tryParse(Buffer.from(payload, "base64url").toString("utf8"));
  return isObject(claims) && typeof claims["exp"] === "number" ? claims["exp"] * 1000 : undefined;
}
