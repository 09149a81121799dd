// Collects the secrets in an MCP server's definition: its address, headers, arguments and variables.
import { addressSecrets, isSecretName, isWord, secretValues, withoutScheme } from "./secret-names.ts";

export type ServerTexts = {
  url?: URL | string;
  headers?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
  auth?: { readonly CLIENT_SECRET?: string };
  /** Variables from an env file. It exists for secrets, so every value counts, except paths and plain words. */
  fromFile?: Readonly<Record<string, string>>;
};

export function serverSecrets(given: ServerTexts): string[] {
  const { url = "", headers = {}, env = {}, args = [], auth, fromFile = {} } = given;
  const isPlace = (value: string) => /^(\/|\.{1,2}\/|~|[a-z]+:\/\/[^@]*$)/i.test(value);
  return [
    ...args.flatMap((word, at) => argumentSecrets(word, args[at - 1] ?? "")),
    ...[...addressSecrets(String(url)), ...secretValues(env)].filter((value) => !isWord(value)),
    ...Object.values(headers).map(withoutScheme),
    ...(auth?.CLIENT_SECRET === undefined ? [] : [auth.CLIENT_SECRET]),
    ...Object.values(fromFile).filter((value) => !isWord(value) && !isPlace(value)),
  ];
}

/** `--api-key=…`, `--api-key …`, `-e API_KEY=…`, `--header "Authorization: Bearer …"`, `postgres://user:password@host`. */
function argumentSecrets(word: string, before: string): string[] {
  const isNamed = (name: string) => isSecretName(name.replace(/^--?/, "").replaceAll("-", "_"));
  const [, name = "", value = ""] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
  const header = /^(-H|--headers?)$/.test(before) ? word.replace(/^[^:]*:\s*/, "") : undefined;
  if (header !== undefined) return [withoutScheme(header)];
  if (before.startsWith("-") && !before.includes("=") && !word.startsWith("-") && isNamed(before)) return [word];
  return [...(isNamed(name) ? [value] : []), ...addressSecrets(value || word)].filter((each) => !isWord(each));
}
