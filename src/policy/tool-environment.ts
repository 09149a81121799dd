// The environment that commands run in: the user's own, without what could be stolen or could change what a command means.
import { holdsLogin, isSecretName, isWord } from "../redact/secret-names.ts";
import { words } from "../text/words.ts";

/**
 * Variables that make the shell run code at its start, or make a permitted name mean something else. The descriptors
 * and the parent watch belong to this process alone.
 */
const notInherited = words(`
  BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE OLDPWD _ NODE_CHANNEL_FD
  NODE_CHANNEL_SERIALIZATION_MODE COURSER_EXIT_WITH_PARENT`);

/**
 * Everything passes that is not on a list, because a build must work here as it does in the user's own shell, and no list
 * of the variables that builds need would ever be complete. Keys and tokens stay behind, under every name they have;
 * so do `keys`, those of the models in use.
 */
export function toolEnvironment(env: NodeJS.ProcessEnv, keys: readonly string[] = []): Record<string, string> {
  const kept: Record<string, string> = {};
  const secrets = new Set(keys);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || notInherited.has(name) || name.startsWith("BASH_FUNC_")) continue;
    // A proxy is no use without its login.
    if (isSecretName(name, value) || (holdsLogin(value) && !/_proxy$/i.test(name))) {
      // Words such as "true" or "postgres" are what other variables hold as well.
      if (!isWord(value)) secrets.add(value);
      continue;
    }
    kept[name] = value;
  }
  for (const [name, value] of Object.entries(kept)) if (secrets.has(value)) delete kept[name];
  kept["CURSOR_AGENT"] = "1";
  return kept;
}
