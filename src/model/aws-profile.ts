// Reads the keys and region of a profile in ~/.aws, as Amazon's own tools store them.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { tryOr } from "../text/try-or.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The fields of an AWS profile, with the environment variables that mean the same. */
const variables = [
  ["aws_access_key_id", "AWS_ACCESS_KEY_ID"],
  ["aws_secret_access_key", "AWS_SECRET_ACCESS_KEY"],
  ["aws_session_token", "AWS_SESSION_TOKEN"],
] as const;

/** Adds what the profile says; keys in the environment win over it, all of them together. */
export function withAwsProfile(env: Environment): Environment {
  const profile = env["AWS_PROFILE"]?.trim() || "default";
  const folder = join(env["HOME"] || homedir(), ".aws");
  const config = section(env["AWS_CONFIG_FILE"] || join(folder, "config"), new Set([profile, `profile ${profile}`]));
  const keys = section(env["AWS_SHARED_CREDENTIALS_FILE"] || join(folder, "credentials"), new Set([profile]));
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"] || config.get("region");
  const hasKey = [env["AWS_BEARER_TOKEN_BEDROCK"], env["AWS_ACCESS_KEY_ID"]].some((key) => key?.trim());
  const found = hasKey ? [] : variables.map(([field, name]) => [name, keys.get(field) ?? config.get(field)]);
  return { ...env, ...Object.fromEntries(found), ...(region && { AWS_REGION: region }) };
}

/** Returns the fields of a section of an INI file; none if the file cannot be read. */
function section(file: string, names: ReadonlySet<string>): Map<string, string> {
  const fields = new Map<string, string>();
  let isIn = false;
  for (const line of tryOr(() => readFileSync(file, "utf8").split(/\r?\n/), [])) {
    const [, name] = /^\s*\[\s*(.*?)\s*\]/.exec(line) ?? [];
    if (name !== undefined) isIn = names.has(name);
    const [, field, value] = /^(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (isIn && field && value) fields.set(field, value);
  }
  return fields;
}
