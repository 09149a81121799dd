// Collects the keys that this run could use, so that they can be removed from its messages.
import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import { marker } from "../redact/redact.ts";
import { addressSecrets, secretValues, withoutScheme } from "../redact/secret-names.ts";
import { serverSecrets } from "../redact/server-secrets.ts";
import { readKeys } from "../store/auth.ts";
import { configDir } from "../store/config-dir.ts";
import { readCourserSettings } from "../store/courser-settings.ts";
import { readTokens } from "../store/mcp-logins.ts";

/** Collects keys from the command line, the environment, `login`, and the variables and headers of configured endpoints. */
export function secretsInUse(argv: readonly string[], env: NodeJS.ProcessEnv): string[] {
  return [
    ...flagSecrets(argv),
    ...secretValues(env),
    ...addressSecrets(env["COURSER_FLEET"] ?? ""),
    ...savedSecrets(env),
  ];
}

/** Reads the flags without the parser, because it may be the parser that failed. */
export function flagSecrets(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    const [, long, joined, short, rest] =
      /^(?:--(api-key|auth-token|header|mcp-config|fleet|endpoint|env)(?:=(.*))?|-[a-zA-Z]*?([He])=?(.*))$/s.exec(
        word,
      ) ?? [];
    const flag = long ?? short;
    const value = flag === undefined ? undefined : (joined ?? (rest || argv[index + 1]));
    if (value === undefined) return [];
    if (flag === "mcp-config") return givenSecrets(value);
    if (/^(fleet|endpoint|e)$/.test(flag!)) return addressSecrets(value);
    if (flag === "env") return secretValues(texts({ [value.replace(/=.*/s, "")]: value.replace(/^[^=]*=/, "") }));
    return /^(api-key|auth-token)$/.test(flag!) ? [value] : [withoutScheme(value.replace(/^[^:]*:\s*/, ""))];
  });
}

/** Returns the secrets of servers that were given as JSON. */
function givenSecrets(text: string): string[] {
  const content = tryParse(text);
  const servers = isObject(content) && isObject(content["mcpServers"]) ? Object.values(content["mcpServers"]) : [];
  return servers.filter(isObject).flatMap(({ url, headers, env, args }) =>
    serverSecrets({
      url: typeof url === "string" ? url : "",
      args: (Array.isArray(args) ? args : []).map(String),
      ...(isObject(headers) && { headers: texts(headers) }),
      ...(isObject(env) && { env: texts(env) }),
    }),
  );
}

function texts(values: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** Returns the saved keys. A file that cannot be read is ignored, since other code reports it. */
function savedSecrets(env: NodeJS.ProcessEnv): string[] {
  try {
    const folder = configDir(env);
    const { providers, search, embeddings } = readCourserSettings(`${folder}/courser.json`, []);
    const configured = Object.values(providers).flatMap(({ baseUrl = "", keyEnv, keys = [], headers = {} }) => [
      ...addressSecrets(baseUrl),
      ...[keyEnv, ...keys].map((name) => (name === undefined ? undefined : env[name])),
      ...Object.values(headers).map(withoutScheme),
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

/** Replaces the process title by one without keys, because other users of the machine can read command lines. */
export function hideFlagSecrets(argv: readonly string[]): void {
  const secrets = flagSecrets(argv).filter((secret) => secret !== "");
  if (secrets.length === 0) return;
  process.title = argv
    .map((word) => secrets.reduce((shown, secret) => shown.replaceAll(secret, marker), word))
    .join(" ");
}
