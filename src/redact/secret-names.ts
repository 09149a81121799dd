// Which names of environment variables say that the value is a secret.

const secretWord =
  /(^|_)(API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASS|PASSPHRASE|CREDENTIALS?|CREDS|AUTH|JWT|PAT|BEARER|COOKIES?|DSN)(_|$)/i;
/** camelCase and run-together forms: openaiApiKey, GITHUBTOKEN. */
const secretEnding = /(api_?key|access_?key|private_?key|token|secret|password|passwd|passphrase)$/i;
/** Addresses that carry a login. */
const secretAddress = /(^|_)(DATABASE|REDIS|MONGO\w*|AMQP)_URL$/i;

/** Names that look secret but say only where something is. */
const harmless = new Set(["SSH_AUTH_SOCK", "GPG_KEY_ID", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS"]);

export function isSecretName(name: string): boolean {
  if (harmless.has(name)) return false;
  if (secretAddress.test(name)) return true;
  // *_FILE, *_PATH and the like name a place; what lies there is guarded by file permissions and path rules.
  if (/_(FILE|PATH|DIR|HOME|SOCK|URL|ENDPOINT)$/i.test(name)) return false;
  return secretWord.test(name) || secretEnding.test(name);
}

/** The values of the variables whose names say so, but for words: `disabled`, `postgres` and `true` stand in many texts. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => value !== undefined && !isWord(value) && isSecretName(name))
    .map(([, value]) => value!);
}

/** So short or so plain that it stands in many texts. */
export function isWord(value: string): boolean {
  return value.length < 8 || /^[A-Za-z]{1,11}$/.test(value);
}
