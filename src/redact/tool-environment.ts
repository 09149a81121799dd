// Builds the environment of commands: the user's own, without secrets or variables that change what a command means.

import { words } from "../text/words.ts";
import { holdsLogin, isSecretName, isWord } from "./secret-names.ts";

/**
 * Variables that make the shell run code at start, or change the meaning of a permitted name. The descriptors and the parent watch belong
 * to this process alone.
 */
const notInherited = words(`
  BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND CDPATH GLOBIGNORE OLDPWD _ NODE_CHANNEL_FD
  NODE_CHANNEL_SERIALIZATION_MODE COURSER_EXIT_WITH_PARENT`);

/**
 * Passes all variables that are not on a list, because a build must work as in the user's own shell, and no list of the variables that
 * builds need would be complete. Removes keys and tokens under every name they have, including `keys`, those of the models in use.
 */
export function toolEnvironment(env: NodeJS.ProcessEnv, keys: readonly string[] = []): Record<string, string> {
  const kept: Record<string, string> = {};
  const secrets = new Set(keys);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || notInherited.has(name) || name.startsWith("BASH_FUNC_")) continue;
    // Keep variables for proxies, which do not work without their login.
    if (isSecretName(name, value) || (holdsLogin(value) && !/_proxy$/i.test(name))) {
      // Do not treat plain words such as "true" or "postgres" as secrets, since other variables have them too.
      if (!isWord(value)) secrets.add(value);
      continue;
    }
    kept[name] = value;
  }
  for (const [name, value] of Object.entries(kept)) if (secrets.has(value)) delete kept[name];
  kept["CURSOR_AGENT"] = "1";
  return kept;
}
