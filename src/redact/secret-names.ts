// Which names of environment variables say that the value is a secret.

/** Words that mean other things inside of others, so they must stand by themselves: KEYBOARD, AUTHOR, PATH, SACRED. */
const secretWords = new Set(
  "KEY KEYS APIKEY APIKEYS PASS AUTH JWT PAT BEARER COOKIE COOKIES DSN PIN PW OTP SAS".split(" "),
);

/** Names that say it otherwise. Letters have no case. */
const secretNames: readonly RegExp[] = [
  // Words that mean nothing else, wherever they stand: openaiApiKey, GITHUBTOKEN, VAULT_SECRETS_JSON.
  /(api_?key|access_?key|private_?key)$|token(?!i[sz])|secret(?!ar)|passw(or)?d|passphrase|credential/i,
  // Keys in the forms that they are kept in: STRIPE_SK, TLS_PEM, SIGNING_PRIVATE, KUBECONFIG_DATA.
  /_(SK|PEM)$|private|^KUBECONFIG_DATA$/i,
  // What people call a password for short: DBPASS, MYSQL_PWD.
  /(pass|pwd)$/i,
  // Addresses that carry a login.
  /connection_?string|conn_?str(_|$)/i,
  /(^|_)((DATABASE|DB|REDIS|MONGO\w*|AMQP|POSTGRES\w*|MYSQL|BROKER|RABBITMQ)_UR[LI]|WEBHOOK(_URL)?)$/i,
  // What a collector of telemetry is told along with the data, as a rule who sends it.
  /^OTEL_\w*_HEADERS$/i,
];

/** Each of these names holds one of them. Most names do not, and no pattern is compiled for those. */
const hints = [
  "_SK",
  "PEM",
  "PRIVATE",
  "KUBECONFIG_DATA",
  "KEY",
  "TOKEN",
  "SECRET",
  "PASS",
  "CREDENTIAL",
  "PWD",
  "CONN",
  "_UR",
  "WEBHOOK",
  "OTEL",
];

/** Names that look like these, and why they hold no secret. */
const harmlessNames: readonly RegExp[] = [
  // Where a shell is, or was.
  /^(old|init_?|logical_?)?pwd$/i,
  // Where something is; what lies there is guarded by file permissions and path rules. An address with a login is not one.
  /^(?!.*(DATABASE|DB|REDIS|MONGO|AMQP|POSTGRES|MYSQL|BROKER|RABBITMQ|WEBHOOK)).*_(FILE|PATH|DIR|HOME|SOCK|URL|URI|ENDPOINT)$/i,
  // Which modules Go does not ask others about, and packages that are not to be published.
  /^GOPRIVATE$|^npm_(config|package)_private$/i,
  // The name of a key, and programs that ask for a password.
  /^GPG_KEY_ID$|askpass/i,
  // Words that end so: BYPASS, COMPASS, a compiler's FIRST_PASS.
  /(by|com|tres|sur|over|(first|second|single|multi|two|one|dry|last|all)_?)pass$/i,
  // How many, how long, of which kind.
  /(^|_)(max|min|num|total|n)_(\w+_)?tokens?$|(token|pass\w*|secret|key)s?_(limit|count|budget|ttl|type|length|len|size|timeout|expir\w*|lifetime|policy|rotation|prefix|name|id)$/i,
];

/** `value`: a name such as PROJECT_PWD may also say where something is. */
export function isSecretName(name: string, value = ""): boolean {
  const upper = name.toUpperCase();
  const isHinted = () => hints.some((hint) => upper.includes(hint)) && secretNames.some((each) => each.test(name));
  if (!upper.split("_").some(isSecretWord) && !isHinted()) return false;
  if (harmlessNames.some((each) => each.test(name))) return false;
  return !(/pwd$/i.test(name) && /^([/~.]|[A-Z]:)/i.test(value));
}

function isSecretWord(word: string): boolean {
  return secretWords.has(word) || (word.startsWith("CRED") && /^[A-Z]+$/.test(word));
}

/** `scheme://name:password@host`, whatever the variable is called. */
export function holdsLogin(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i.test(value);
}

/** The values of the variables whose names say so, but for words: `disabled`, `postgres` and `true` stand in many texts. */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => value !== undefined && !isWord(value) && isSecretName(name, value))
    .map(([, value]) => value!);
}

/** So short or so plain that it stands in many texts. */
export function isWord(value: string): boolean {
  return value.length < 8 || /^[A-Za-z]{1,11}$/.test(value);
}
