// The keys that this run could use: nothing that it says about itself may show them.
import { isObject, tryParse } from "../json/object.ts";
import { marker } from "../redact/redact.ts";
import { isSecretName, secretValues } from "../redact/secret-names.ts";
import { readKeys } from "../store/auth.ts";
import { configDir } from "../store/config-dir.ts";
import { readCourserSettings } from "../store/courser-settings.ts";
import { readTokens } from "../store/mcp-logins.ts";

/** From the command line, from the environment, saved by `login`, and from the variables and headers of configured endpoints. */
export function secretsInUse(argv: readonly string[], env: NodeJS.ProcessEnv): string[] {
  return [...flagSecrets(argv), ...secretValues(env), ...loginOf(env["COURSER_FLEET"] ?? ""), ...savedSecrets(env)];
}

/** Without the parser: it may be the parser that failed. */
export function flagSecrets(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    const [, flag, inside] = /^(--api-key|--header|-H|--mcp-config|--fleet|--endpoint|-e)(?:=(.*))?$/s.exec(word) ?? [];
    const value = flag === undefined ? undefined : (inside ?? argv[index + 1]);
    if (value === undefined) return [];
    if (flag === "--mcp-config") return serverSecrets(value);
    if (/^(--fleet|--endpoint|-e)$/.test(flag!)) return loginOf(value);
    return flag === "--api-key" ? [value] : [value.replace(/^[^:]*:\s*(?:Bearer\s+)?/i, "")];
  });
}

/** `nats://token@host`, `nats://user:password@host`: what stands there in the place of a secret. */
function loginOf(url: string): string[] {
  const [, login] = /^[a-z]+:\/\/([^\s/@]+)@/i.exec(url) ?? [];
  return login === undefined ? [] : [login.replace(/^[^:]*:/, "")];
}

/** Of servers that were given as JSON: what their headers hold, and variables whose names say so. */
function serverSecrets(given: string): string[] {
  const content = tryParse(given);
  const servers = isObject(content) && isObject(content["mcpServers"]) ? Object.values(content["mcpServers"]) : [];
  return servers.filter(isObject).flatMap(({ headers, env, args }) => [
    ...(Array.isArray(args) ? args : []).flatMap((word) => {
      const [, name = "", value = ""] = /^--?([\w-]+)=(.+)$/s.exec(String(word)) ?? [];
      return isSecretName(name.replaceAll("-", "_")) ? [value] : [];
    }),
    ...(isObject(headers) ? Object.values(headers) : []).flatMap((value) =>
      typeof value === "string" ? [value.replace(/^Bearer\s+/i, "")] : [],
    ),
    ...(isObject(env) ? secretValues(env as Record<string, string>) : []),
  ]);
}

/** A file that cannot be read is somebody else's error to tell. */
function savedSecrets(env: NodeJS.ProcessEnv): string[] {
  try {
    const folder = configDir(env);
    const { providers, search, embeddings } = readCourserSettings(`${folder}/courser.json`, []);
    const configured = Object.values(providers).flatMap(({ keyEnv, keys = [], headers = {} }) => [
      ...[keyEnv, ...keys].map((name) => (name === undefined ? undefined : env[name])),
      ...Object.values(headers),
    ]);
    const named = [search?.keyEnv, embeddings?.keyEnv].map((name) => (name === undefined ? undefined : env[name]));
    const logins = readTokens(folder);
    return [
      ...Object.values(readKeys(folder)),
      ...logins,
      ...[...configured, ...named].filter((value) => value !== undefined),
    ];
  } catch {
    return [];
  }
}

/** Other users of the machine can read the command line of a process. The title takes its place, without the keys. */
export function hideFlagSecrets(argv: readonly string[]): void {
  const secrets = flagSecrets(argv).filter((secret) => secret !== "");
  if (secrets.length === 0) return;
  process.title = argv
    .map((word) => secrets.reduce((shown, secret) => shown.replaceAll(secret, marker), word))
    .join(" ");
}
