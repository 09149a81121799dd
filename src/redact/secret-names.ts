// Recognises environment variables whose name implies a secret value.
import { decodeUri } from "../text/decode-uri.ts";

/** Words that must stand alone, because they occur inside others: KEYBOARD, AUTHOR, PATH, SACRED. */
const secretWords = new Set(
  "KEY KEYS APIKEY APIKEYS PASS AUTH JWT PAT BEARER COOKIE COOKIES DSN PIN PW OTP SAS".split(" "),
);

/** Other patterns for secret names. All ignore case. */
const secretNames: readonly RegExp[] = [
  // Unambiguous words in any position: openaiApiKey, GITHUBTOKEN, VAULT_SECRETS_JSON.
  /(api_?key|access_?key|private_?key)$|token(?!i[sz])|secret(?!ar)|passw(or)?d|passphrase|credential/i,
  // Formats that keys are stored in: STRIPE_SK, TLS_PEM, SIGNING_PRIVATE, KUBECONFIG_DATA.
  /_(SK|PEM)$|private|^KUBECONFIG_DATA$/i,
  // Short forms of password: DBPASS, MYSQL_PWD.
  /(pass|pwd)$/i,
  // Addresses that contain a login.
  /connection_?string|conn_?str(_|$)/i,
  /(^|_)((DATABASE|DB|REDIS|MONGO\w*|AMQP|POSTGRES\w*|MYSQL|BROKER|RABBITMQ)_UR[LI]|WEBHOOK(_URL)?)$/i,
  // Headers sent to a telemetry collector, which usually identify the sender.
  /^OTEL_\w*_HEADERS$/i,
];

/** Each secret name contains one of these. Most names do not, and then no pattern is compiled. */
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

/** Names that look similar but hold no secret, and why. */
const harmlessNames: readonly RegExp[] = [
  // The current or previous working directory.
  /^(old|init_?|logical_?)?pwd$/i,
  // Locations, whose contents are guarded by file permissions and path rules. Addresses with a login are excluded.
  /^(?!.*(DATABASE|DB|REDIS|MONGO|AMQP|POSTGRES|MYSQL|BROKER|RABBITMQ|WEBHOOK)).*_(FILE|PATH|DIR|HOME|SOCK|URL|URI|ENDPOINT)$/i,
  // Modules that Go does not look up publicly, and packages that must not be published.
  /^GOPRIVATE$|^npm_(config|package)_private$/i,
  // The name of a key, and programs that ask for a password.
  /^GPG_KEY_ID$|askpass/i,
  // Words with this ending: BYPASS, COMPASS, a compiler's FIRST_PASS.
  /(by|com|tres|sur|over|(first|second|single|multi|two|one|dry|last|all)_?)pass$/i,
  // Numbers and properties of secrets: MAX_TOKENS, PASSWORD_LENGTH, TOKEN_TYPE, KEY_NAME.
  /(^|_)(max|min|num|total|n)_(\w+_)?tokens?$|(token|pass\w*|secret|key)s?_(limit|count|budget|ttl|type|length|len|size|timeout|expir\w*|lifetime|policy|rotation|prefix|name|id)$/i,
];

/** `value` is checked too, because a name such as PROJECT_PWD may hold a path. */
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

/** Matches `scheme://name:password@host`, whatever the variable is called. */
export function holdsLogin(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i.test(value);
}

/** Returns what is secret in an address: a password, a login without a name, and parameters with a secret name. */
export function addressSecrets(address: string): string[] {
  const [, login] = /^[a-z][a-z0-9+.-]*:\/\/([^\s/@]+)@/i.exec(address) ?? [];
  const parameters = [...address.matchAll(/[?&]([\w-]+)=([^&#\s]+)/g)].filter(([, name]) =>
    isSecretName(name!.replaceAll("-", "_")),
  );
  const found = [login?.replace(/^[^:]*:/, "") ?? "", ...parameters.map(([, , value]) => value!)];
  return [...new Set(found.flatMap((value) => [value, decodeUri(value)]))].filter((value) => value !== "");
}

/** Returns what follows `Bearer` or another scheme in a header. */
export function withoutScheme(header: string): string {
  return header.replace(/^(Bearer|Basic|Token)\s+/i, "");
}

/**
 * Returns the values of secret variables and the logins in addresses, except words such as `disabled`, `postgres` and `true`,
 * which many texts contain.
 */
export function secretValues(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .flatMap(([name, value = ""]) => {
      if (!isSecretName(name, value)) return addressSecrets(value);
      // `OTEL_EXPORTER_OTLP_HEADERS=name=key,name=key`
      const headers = /_HEADERS$/i.test(name) ? value.split(",").map((pair) => pair.replace(/^[^=]*=\s*/, "")) : [];
      return [value, ...headers.map((header) => withoutScheme(decodeUri(header))), ...addressSecrets(value)];
    })
    .filter((value) => !isWord(value));
}

/** Returns whether a value is so short or plain that many texts contain it. */
export function isWord(value: string): boolean {
  return value.length < 8 || /^[A-Za-z]{1,11}$/.test(value);
}
