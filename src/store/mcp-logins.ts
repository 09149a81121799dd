// Stores logins for MCP servers in one owner-only file, by address, so that no other server ever receives a token.
import { chmodSync } from "node:fs";
import { isObject, type JsonObject } from "../json/object.ts";
import { readJson, saveJson } from "./json-file.ts";
import { mcpLoginFile } from "./mcp-paths.ts";

/** `client` is the registration at the authorization server; `redirectUrl` is the one it was registered with. */
export type McpLogin = { tokens?: JsonObject; client?: JsonObject; redirectUrl?: string };

export function readLogin(configDir: string, url: URL): McpLogin {
  const entry = entriesIn(readJson(mcpLoginFile(configDir)) ?? {})[loginKey(url)];
  if (!isObject(entry)) return {};
  const { tokens, client, redirectUrl } = entry;
  return {
    ...(isObject(tokens) && { tokens }),
    ...(isObject(client) && { client }),
    ...(typeof redirectUrl === "string" && { redirectUrl }),
  };
}

/** Changes the saved login of a server, which another process may have renewed. `change` returns undefined to delete it. */
export function updateLogin(configDir: string, url: URL, change: (login: McpLogin) => McpLogin | undefined): void {
  const file = mcpLoginFile(configDir);
  saveJson(file, (current) => {
    const { [loginKey(url)]: entry, ...others } = entriesIn(current);
    const next = change(isObject(entry) ? (entry as McpLogin) : {});
    return { ...current, version: 1, servers: next ? { ...others, [loginKey(url)]: next } : others };
  });
  // Restrict the file's mode: if the user created it by hand, others may be able to read it.
  chmodSync(file, 0o600);
}

/** Returns all secrets in the file, which must never be shown. */
export function readTokens(configDir: string): string[] {
  return Object.values(entriesIn(readJson(mcpLoginFile(configDir)) ?? {})).flatMap((entry) => {
    const { tokens, client } = isObject(entry) ? entry : {};
    const secrets = [
      isObject(tokens) ? [tokens["access_token"], tokens["refresh_token"]] : [],
      isObject(client) ? client["client_secret"] : [],
    ];
    return secrets.flat().filter((value) => typeof value === "string");
  });
}

/** Removes the login for a server. Returns whether there was one. */
export function forgetLogin(configDir: string, url: URL): boolean {
  if (!readLogin(configDir, url).tokens && !readLogin(configDir, url).client) return false;
  updateLogin(configDir, url, () => undefined);
  return true;
}

function entriesIn({ servers }: JsonObject): JsonObject {
  return isObject(servers) ? servers : {};
}

function loginKey(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}
