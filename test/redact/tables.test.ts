// What is taken for a secret and what is not, name by name, form by form and length by length. test/redact/tables.txt is the whole
// table: `-` hides the value, `+` shows it.
import { join } from "node:path";
import { expect, it } from "vitest";
import { redact } from "../../src/redact/redact.ts";
import { holdsLogin, isSecretName, isWord, secretValues } from "../../src/redact/secret-names.ts";

const secretLike = "q7Zr2Kd9Xw4Lm8Tb";
/** Put together here, so that no scanner takes the test itself for a leak. */
const made = (length: number) => secretLike.repeat(Math.ceil(length / secretLike.length)).slice(0, length);

const names = (
  "API_KEY openaiApiKey ACCESS_KEY private_key GITHUBTOKEN TOKENIZER TOKENISE VAULT_SECRETS_JSON SECRETARY PASSWORD passwd PASSPHRASE " +
  "CREDENTIALS CREDS CRED1 STRIPE_SK TLS_PEM SIGNING_PRIVATE KUBECONFIG_DATA DBPASS MYSQL_PWD CONNECTION_STRING CONN_STR CONNSTRING " +
  "DATABASE_URL DB_URI REDIS_URL MONGODB_URI AMQP_URL POSTGRES_URL MYSQL_URL BROKER_URL RABBITMQ_URI WEBHOOK WEBHOOK_URL " +
  "OTEL_EXPORTER_OTLP_HEADERS KEY KEYS APIKEY APIKEYS PASS AUTH JWT PAT BEARER COOKIE COOKIES DSN PIN PW OTP SAS " +
  "PWD OLDPWD INIT_PWD LOGICAL_PWD PROJECT_PWD TOKEN_FILE KEY_PATH SECRET_DIR KEY_HOME SSH_AUTH_SOCK TOKEN_URL TOKEN_URI AUTH_ENDPOINT " +
  "GOPRIVATE npm_config_private npm_package_private GPG_KEY_ID SSH_ASKPASS BYPASS COMPASS TRESPASS SURPASS OVERPASS FIRST_PASS SECOND_PASS " +
  "SINGLE_PASS MULTIPASS TWO_PASS ONE_PASS DRY_PASS LAST_PASS ALL_PASS MAX_TOKENS MIN_TOKENS NUM_TOKENS TOTAL_TOKENS N_TOKENS MAX_OUTPUT_TOKENS " +
  "TOKEN_LIMIT TOKEN_COUNT TOKENS_BUDGET KEY_TTL KEY_TYPE PASSWORD_LENGTH KEY_LEN KEY_SIZE SECRET_TIMEOUT TOKEN_EXPIRY TOKEN_LIFETIME " +
  "PASSWORD_POLICY KEY_ROTATION KEY_PREFIX SECRET_NAME KEY_ID KEYBOARD AUTHOR PATH SACRED MONKEY PINS PASSENGER HOME USER EDITOR"
).split(" ");

/** In which a value stands beside its name. */
const forms: [string, (name: string, value: string) => string][] = [
  ["shell", (name, value) => `${name}=${value}`],
  ["export", (name, value) => `run export ${name}=${value} now`],
  ["json", (name, value) => `{"${name}": "${value}", "b": 1}`],
  ["yaml", (name, value) => `  ${name}: ${value}`],
  ["code", (name, value) => `const ${name} = '${value}';`],
  ["option", (name, value) => `cmd --${name} ${value} --next`],
  ["query", (name, value) => `GET /x?a=1&${name}=${value}&b=2`],
  ["xml", (name, value) => `<${name}>${value}</${name}>`],
  ["in text", (name, value) => `see ${name} (${value}) there`],
  ["call", (name, value) => `${name}=${value}(1)`],
];

const show = (text: string, value: string) => (redact(text).includes(value) ? "+" : "-");

it("the redactor judges names, formats and lengths as its table says", async () => {
  const rows: string[] = [];
  for (const name of names) {
    const judged = forms.map(([form, write]) => `${show(write(name.toLowerCase(), made(24)), made(24))}${form}`);
    rows.push(`${isSecretName(name) ? "secret" : "plain "} ${name}: ${judged.join(" ")}`);
  }
  const lengths = [3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21, 23, 24, 25, 31, 32, 33, 40, 41];
  for (const name of ["password", "pass", "token", "api_key", "key", "auth", "secret", "authorization", "pwd"])
    for (const [form, write] of forms.slice(0, 6))
      rows.push(
        `${name} ${form}: ${lengths.map((length) => `${show(write(name, made(length)), made(length))}${length}`).join(" ")}`,
      );
  const values = [
    "true",
    "disabled",
    "postgres",
    "1234",
    "123",
    "12345678",
    "hello world",
    "/path/to/it",
    "~/it",
    "C:\\it",
    "<token>",
    "xxxxxxxx",
    "****",
    "changeme",
    "your-key-here",
    "${TOKEN}",
    "$TOKEN",
    "process.env.KEY",
    "getKey()",
    "example",
    "p4ss!",
    "correct horse battery",
  ];
  for (const name of ["password", "api_key", "token"])
    for (const [form, write] of forms.slice(0, 5))
      rows.push(`${name} ${form}: ${values.map((value) => `${show(write(name, value), value)}${value}`).join(" | ")}`);
  const headers = [
    "Bearer",
    "Basic",
    "Token",
    "Digest",
    "Negotiate",
    "NTLM",
    "ApiKey",
    "Key",
    "OAuth",
    "Hawk",
    "Signature",
    "AWS4-HMAC-SHA256",
    "SharedKey",
    "SharedKeyLite",
    "GitHub-Bearer",
    "",
  ];
  for (const scheme of headers)
    rows.push(
      `Authorization ${scheme}: ${[5, 6, 11, 12, 19, 20, 30].map((length) => `${show(`Authorization: ${scheme} ${made(length)}`, made(length))}${length}`).join(" ")}`,
    );
  const lines = [
    `Cookie: session=${made(20)}; theme=${made(9)}`,
    `Set-Cookie: id=${made(20)}; Path=/; HttpOnly`,
    `https://ada:${made(10)}@example.com/x`,
    `postgres://ada:${made(10)}@db:5432/x`,
    `https://example.com/x?token=${made(20)}#part`,
    `machine example.com login ada password ${made(10)}`,
    `mysql -u root -p${made(10)} db`,
    `curl -u ada:${made(12)} https://x`,
    `-----BEGIN PRIVATE KEY-----\n${made(64)}\n${made(30)}\n-----END PRIVATE KEY-----\nafter`,
    `-----BEGIN CERTIFICATE-----\n${made(64)}\n-----END CERTIFICATE-----`,
    `x ${Buffer.from(`password=${made(20)}`).toString("base64")} y`,
    `x ${Buffer.from(`password=${made(20)}`).toString("hex")} y`,
    `x ${Buffer.from("nothing to see in here at all").toString("base64")} y`,
    `{"a": "{\\"password\\": \\"${made(12)}\\"}"}`,
    `Digest username="ada", response="${made(20)}"`,
    `password: "${made(12)} and "more"`,
    `tokens: 1234, max_tokens: 5678`,
    `pass: 12, fail: 3`,
    `the password is wrong, password: required`,
    `"password", "${made(12)}"`,
  ];
  for (const line of lines) rows.push(redact(line).replaceAll("\n", "\\n"));
  await expect(`${rows.join("\n").replaceAll(made(8), "…").replaceAll(made(6), "..")}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, "tables.txt"),
  );
});

it.each([
  ["postgres://ada:pw@db/x", true],
  ["https://ada@host/", false],
  ["https://ada:@host/", false],
  ["https://host/a:b@c", false],
  ["ada:pw@host", false],
  ["HTTPS+git://:pw@host", true],
])("the redactor finds a login in %s: %s", (value, expected) => {
  expect(holdsLogin(value)).toBe(expected);
});

it("the redactor takes values of variables with secret names for secrets, except ordinary words", () => {
  expect(["1234567", "12345678", "abcdefghijk", "abcdefghijkl", "postgres1", ""].map(isWord)).toEqual([
    true,
    false,
    true,
    false,
    false,
    true,
  ]);
  const env = {
    API_KEY: made(10),
    PASSWORD: "postgres",
    HOME: made(10),
    TOKEN: undefined,
    MY_PWD: "/home/ada/work",
    DB_PWD: made(9),
  };
  expect(secretValues(env)).toEqual([made(10), made(9)]);
  expect(isSecretName("PROJECT_PWD", "C:\\work")).toBe(false);
  expect(isSecretName("PROJECT_PWD", "./work")).toBe(false);
  expect(isSecretName("PROJECT_PWD", "work")).toBe(true);
});
