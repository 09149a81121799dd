// Keys of a run: which they are, that tools do not get them, that nothing said about the run shows them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createProcessRunner, toolEnvironment } from "../../src/agent/process.ts";
import { flagSecrets, secretsInUse } from "../../src/cli/secrets-in-use.ts";
import { isSecretName, secretValues } from "../../src/redact/secret-names.ts";
import { saveKey } from "../../src/store/auth.ts";
import { updateLogin } from "../../src/store/mcp-logins.ts";
import { runSecretsCase, saidBy } from "./secrets-driver.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), "courser-keys-"));
  folders.push(folder);
  mkdirSync(join(folder, ".cursor"));
  return folder;
}

describe("secret variable names", () => {
  it.each([
    "OPENAI_API_KEY",
    "CURSOR_API_KEY",
    "GH_TOKEN",
    "GITHUB_PAT",
    "DB_PASSWORD",
    "PGPASSWORD",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "NPM_TOKEN",
    "JWT",
    "SENTRY_DSN",
    "DATABASE_URL",
    "REDIS_URL",
    "openaiApiKey",
    "GITHUBTOKEN",
    "TWILIO_AUTH",
    ...[
      "MYSQL_PWD",
      "DBPASS",
      "DB_PASS",
      "SMTP_PASS",
      "smtpPass",
      "REDIS_PASSWD",
      "ROOTPASSWD",
      "SUDO_PWD",
      "DBPWD",
      "ADMIN_PW",
    ],
    ...["VAULT_SECRETS_JSON", "MY_SECRET_1", "clientSecretValue", "AZURE_CREDS", "GCP_CRED", "AWS_CREDENTIAL_JSON"],
    ...["AZURE_STORAGE_CONNECTION_STRING", "ConnectionStrings__Default", "SQLAZURECONNSTR_main", "DB_CONNSTR"],
    ...["TOKEN", "TOKEN_PROD", "NPM_AUTH_TOKEN_2", "PASSWORD2", "DB_PASSWORD_OLD", "POSTGRES_URI", "CELERY_BROKER_URL"],
    ...["SLACK_WEBHOOK_URL", "CARD_PIN", "SSH_KEY_PASSPHRASE", "MONGODB_URI", "KEYCLOAK_CLIENT_SECRET", "HTPASSWD"],
  ])("the variable name %s is secret", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  it.each([
    "PATH",
    "HOME",
    "SSH_AUTH_SOCK",
    "GIT_ASKPASS",
    "GOOGLE_APPLICATION_CREDENTIALS_FILE",
    "KEYBOARD",
    "MONKEY",
    "TOKENIZERS_PARALLELISM",
    "AUTHOR",
    "BASE_URL",
    ...["PWD", "OLDPWD", "INIT_CWD", "PASSENGER_APP_ENV", "PASSTHROUGH", "SSH_ASKPASS_REQUIRE", "BYPASS", "COMPASS"],
    ...[
      "MAX_TOKENS",
      "OPENAI_MAX_OUTPUT_TOKENS",
      "TOKEN_LIMIT",
      "PASSWORD_MIN_LENGTH",
      "SECRET_NAME",
      "SECRETARY",
      "SACRED",
    ],
    ...[
      "PASSWORD_STORE_DIR",
      "AWS_SHARED_CREDENTIALS_FILE",
      "TOKEN_ENDPOINT",
      "GIT_AUTHOR_NAME",
      "XAUTHORITY",
      "PATTERN",
    ],
    ...[
      "DBUS_SESSION_BUS_ADDRESS",
      "SPIN",
      "PINENTRY_USER_DATA",
      "KEYMAP",
      "GPG_TTY",
      "FIRST_PASS",
      "DSNAME",
      "SASS_PATH",
    ],
    ...[
      "GOPATH",
      "NODE_PATH",
      "COMPOSE_PROJECT_NAME",
      "HISTFILE",
      "LESSKEYIN",
      "MONGO_HOST",
      "DATABASE_NAME",
      "REDIS_PORT",
    ],
  ])("the variable name %s is not secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it("the redactor does not take short values of secret variables for secrets", () => {
    expect(
      secretValues({
        API_TOKEN: "true",
        API_KEY: "12345678",
        AUTH_MODE: "disabled",
        HOME: "/home/somebody",
        X_SECRET: undefined,
      }),
    ).toEqual(["12345678"]);
  });
});

describe("keys in use", () => {
  it.each([
    [["--api-key", "k-1"], ["k-1"]],
    [["--api-key=k-1", "-p"], ["k-1"]],
    [
      ["-H", "Authorization: Bearer t-1", "--header", "X-Team:  t-2"],
      ["t-1", "t-2"],
    ],
    [["--header=X-Key: t=3"], ["t=3"]],
    [["-p", "hi", "--api-key"], []],
    [["--model", "x"], []],
    [
      [
        "--mcp-config",
        '{"mcpServers":{"a":{"url":"u","headers":{"Authorization":"Bearer t-4"}},"b":{"env":{"B_TOKEN":"token-no-5"}}}}',
      ],
      ["t-4", "token-no-5"],
    ],
    [["--mcp-config", "servers.json"], []],
  ])("the keys in the arguments %j are %j", (argv, secrets) => {
    expect(flagSecrets(argv)).toEqual(secrets);
  });

  it("the redactor collects API keys from flags, variables, saved logins and courser.json", () => {
    const folder = home();
    const config = join(folder, ".cursor");
    saveKey(config, "openai", "saved-key-1");
    const providers = {
      mine: {
        type: "openai-compatible",
        baseUrl: "http://127.0.0.1:9",
        keyEnv: "WEIRD_NAME",
        headers: { "x-a": "header-value-1" },
      },
    };
    writeFileSync(join(config, "courser.json"), JSON.stringify({ providers }));
    const tokens = { access_token: "access-1", refresh_token: "refresh-1" };
    updateLogin(config, new URL("https://example.com/mcp"), () => ({ tokens, client: { client_secret: "client-1" } }));
    const env = { HOME: folder, WEIRD_NAME: "correct-horse-battery", MY_TOKEN: "variable-1" };
    expect(secretsInUse(["--api-key", "flag-key-1"], env).sort()).toEqual(
      [
        "access-1",
        "client-1",
        "refresh-1",
        "correct-horse-battery",
        "flag-key-1",
        "header-value-1",
        "saved-key-1",
        "variable-1",
      ].sort(),
    );
  });

  it("a broken key file does not keep the redactor from other keys", () => {
    const folder = home();
    writeFileSync(join(folder, ".cursor/auth.json"), "{");
    expect(secretsInUse([], { HOME: folder, MY_TOKEN: "variable-1" })).toEqual(["variable-1"]);
  });
});

describe("keys kept from tools", () => {
  const secret = "a-secret-of-some-length-1";

  it("the environment of tools has no variable with a secret name, nor its value under another name", () => {
    const env = { PATH: "/bin", MY_API_KEY: secret, COPY: secret, GH_TOKEN: "short", PLAIN: "yes" };
    expect(toolEnvironment(env)).toEqual({ PATH: "/bin", PLAIN: "yes", CURSOR_AGENT: "1" });
  });

  it("the environment of tools has no API key in use, whatever the variable is called", () => {
    expect(toolEnvironment({ WEIRD_NAME: "k-1", PLAIN: "yes" }, ["k-1"])).toEqual({ PLAIN: "yes", CURSOR_AGENT: "1" });
  });

  it("tools see no API key in their environment or on any command line", async () => {
    const env = { PATH: process.env["PATH"] ?? "", ANTHROPIC_API_KEY: secret, CURSOR_API_KEY: secret, COPY: secret };
    const runner = createProcessRunner({ env });
    const command = `env; tr '\\0' ' ' < /proc/$$/cmdline; tr '\\0' ' ' < /proc/$$/environ`;
    const outcome = await runner.run({
      command: ["/bin/bash", "-c", command],
      cwd: tmpdir(),
      signal: new AbortController().signal,
    });
    await runner.endAll();
    expect(JSON.stringify(outcome)).toContain("CURSOR_AGENT=1");
    expect(JSON.stringify(outcome)).not.toContain(secret);
  });
});

describe("keys kept from output", () => {
  const key = "correct-horse-battery";

  it("a run's output shows no API key in use, whatever its format", async () => {
    const sinks = ["log", "debug", "error", "bug", "model"];
    const env = { PATH: process.env["PATH"] ?? "", HOME: home(), MY_TOKEN: key };
    const said = await saidBy(sinks, `it holds ${key} and more`, { folder: tmpdir(), env });
    for (const [index, text] of said.entries()) {
      expect(text, sinks[index]).toContain("it holds [redacted] and more");
      expect(text, sinks[index]).not.toContain(key);
      for (const line of text.split("\n").filter((each) => each.startsWith("{"))) JSON.parse(line);
    }
  });
});

describe("the driver of the secrets cases can fail", () => {
  const base = { id: "x", group: "secrets", why: "", config: { sink: "log" } };
  it.each([
    [{ parts: ["nothing here"] }, { absent_indexes: [0] }],
    [{ text: "nothing here" }, { absent: ["nothing"] }],
    [{ text: "DB_PASSWORD=abc12345" }, { kept: ["abc12345"] }],
    [{ chunks_parts: [["plain text that"], ["is no secret"]] }, { absent_joined: true }],
    [{ text_gen: { prefix: "a", byte: "b", count: 1000 } }, { max_ms: 0 }],
    [{ text: "x" }, { something_new: true }],
  ])("the driver of the secrets cases notices a wrong expectation: %j %j", async (input, expected) => {
    const result = await runSecretsCase({ ...base, input, expect: expected }, { driver: "library" });
    expect(result.pass).toBe(false);
  });
});
