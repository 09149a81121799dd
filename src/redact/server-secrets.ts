// Collects the secrets in an MCP server's definition: its headers, arguments and variables.
import { isSecretName, isWord, secretValues } from "./secret-names.ts";

export type ServerTexts = {
  headers?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
  /** Variables from an env file. It exists for secrets, so every value counts, except paths and plain words. */
  fromFile?: Readonly<Record<string, string>>;
};

export function serverSecrets({ headers = {}, env = {}, args = [], fromFile = {} }: ServerTexts): string[] {
  const isPlace = (value: string) => /^(\/|\.{1,2}\/|~|[a-z]+:\/\/[^@]*$)/i.test(value);
  return [
    ...args.flatMap((word) => {
      const [, name = "", value = ""] = /^--?([\w-]+)=(.+)$/s.exec(word) ?? [];
      return isSecretName(name.replaceAll("-", "_")) ? [value] : [];
    }),
    ...Object.values(headers).map((value) => value.replace(/^Bearer\s+/i, "")),
    ...secretValues(env),
    ...Object.values(fromFile).filter((value) => !isWord(value) && !isPlace(value)),
  ];
}
