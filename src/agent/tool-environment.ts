// The environment that commands run in: the user's own, without what could be stolen or could change what a command means.

const secretName =
  /(^|_)(API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASS|PASSPHRASE|CREDENTIALS?|CREDS|AUTH|JWT|PAT|BEARER|COOKIES?|DSN)(_|$)/i;
/** camelCase and run-together forms: openaiApiKey, GITHUBTOKEN. */
const secretEnding = /(api_?key|access_?key|private_?key|token|secret|password|passwd|passphrase)$/i;

/** Names that look secret but say only where something is. */
const harmless = new Set(["SSH_AUTH_SOCK", "GPG_KEY_ID", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS"]);

/**
 * Variables that make the shell run code at its start, or make a permitted name mean something else. The descriptors
 * and the parent watch belong to this process alone.
 */
const notInherited = new Set([
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "PS4",
  "PROMPT_COMMAND",
  "CDPATH",
  "GLOBIGNORE",
  "OLDPWD",
  "_",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "COURSER_EXIT_WITH_PARENT",
]);

/**
 * Everything passes that is not on a list, because a build must work here as it does in the user's own shell, and no list
 * of the variables that builds need would ever be complete. Keys and tokens stay behind, under every name they have.
 */
export function toolEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const kept: Record<string, string> = {};
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || notInherited.has(name) || name.startsWith("BASH_FUNC_")) continue;
    if (looksSecret(name)) {
      // Short values are words such as "true" or "none", which other variables share.
      if (value.length >= 12) secrets.add(value);
      continue;
    }
    kept[name] = value;
  }
  for (const [name, value] of Object.entries(kept)) if (secrets.has(value)) delete kept[name];
  kept["CURSOR_AGENT"] = "1";
  return kept;
}

function looksSecret(name: string): boolean {
  if (harmless.has(name)) return false;
  // *_FILE, *_PATH and the like name a place; what lies there is guarded by file permissions and path rules.
  if (/_(FILE|PATH|DIR|HOME|SOCK|URL|ENDPOINT)$/i.test(name) && !/(^|_)(DATABASE|REDIS|MONGO\w*|AMQP)_URL$/i.test(name))
    return false;
  return secretName.test(name) || secretEnding.test(name) || /(^|_)(DATABASE|REDIS|MONGO\w*|AMQP)_URL$/i.test(name);
}
