// What is found, and what is left alone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createRedactor, marker, redact } from "../../src/redact/redact.ts";
import { type Alphabet, made } from "./made.ts";

/** A token by its prefix. */
const shapes: [prefix: string, alphabet: Alphabet, length: number][] = [
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map(
    (prefix) => [prefix, "alphanumeric", 36] as [string, Alphabet, number],
  ),
  ["github_pat_", "alphanumeric", 82],
  ...["glpat-", "gldt-", "glrt-", "glcbt-64_", "glptt-", "glsoat-", "glft-", "gloas-"].map(
    (prefix) => [prefix, "word", 20] as [string, Alphabet, number],
  ),
  ["npm_", "alphanumeric", 36],
  ["pypi-AgEIcHlwaS5vcmc", "word", 60],
  ["rubygems_", "hex", 48],
  ["dckr_pat_", "word", 27],
  ["sk-", "alphanumeric", 48],
  ["sk-", "hex", 32],
  ["sk-proj-", "word", 120],
  ["sk-svcacct-", "word", 120],
  ["sk-ant-api03-", "word", 95],
  ["sk-ant-admin01-", "word", 95],
  ["sk-ant-oat01-", "word", 95],
  ["sk-or-v1-", "hex", 64],
  ["key_", "hex", 64],
  ["crsr_", "hex", 64],
  ["hf_", "alphanumeric", 34],
  ["r8_", "alphanumeric", 37],
  ["gsk_", "alphanumeric", 52],
  ["pplx-", "alphanumeric", 48],
  ["xai-", "alphanumeric", 80],
  ["nvapi-", "word", 64],
  ["tvly-", "alphanumeric", 32],
  ["AKIA", "upper", 16],
  ["ASIA", "upper", 16],
  ["AIza", "word", 35],
  ["ya29.", "word", 100],
  ["GOCSPX-", "word", 28],
  ["LTAI", "alphanumeric", 20],
  ["dop_v1_", "hex", 64],
  ["dapi", "hex", 32],
  ["shpat_", "hex", 32],
  ["hvs.", "word", 95],
  ["pul-", "hex", 40],
  ["sbp_", "hex", 40],
  ["tskey-auth-", "alphanumeric", 32],
  ["dp.pt.", "alphanumeric", 43],
  ["pscale_pw_", "word", 43],
  ["xoxb-123456789012-123456789012-", "alphanumeric", 24],
  ["xoxp-123456789012-123456789012-123456789012-", "hex", 32],
  ["xapp-1-A0123456789-1234567890123-", "hex", 64],
  ["SG.", "word", 66],
  ["SK", "hex", 32],
  ["xkeysib-", "hex", 64],
  ["key-", "hex", 32],
  ["re_", "alphanumeric", 33],
  ["PMAK-", "hex", 59],
  ["sk_live_", "alphanumeric", 24],
  ["rk_test_", "alphanumeric", 24],
  ["whsec_", "base64", 32],
  ["sq0atp-", "word", 22],
  ["EAACEdEose0cBA", "alphanumeric", 120],
  ["ATATT3xFfGF0", "word", 180],
  ["NRAK-", "upper", 27],
  ["lin_api_", "alphanumeric", 40],
  ["ntn_", "alphanumeric", 46],
  ["figd_", "word", 40],
  ["glsa_", "alphanumeric", 40],
  ["eyJrIjoi", "alphanumeric", 60],
  ["sntryu_", "hex", 64],
  ["sha256~", "word", 43],
  ["AGE-SECRET-KEY-1", "upper", 58],
  ["A3-", "upper", 34],
  ["HRKU-", "word", 60],
  ["v1.0-", "word", 170],
  ["AKID", "alphanumeric", 32],
  ["vercel_", "alphanumeric", 24],
  ["CCIPAT_", "alphanumeric", 40],
  ["phx_", "alphanumeric", 43],
  ["pat-na1-", "word", 36],
  ["sl.", "word", 135],
  ["secret-token:", "word", 20],
];

describe("secrets recognised by format", () => {
  it.each(shapes)("the redactor recognises a secret by its format: %s %s %i", (prefix, alphabet, length) => {
    const token = made(alphabet, length);
    const around = [
      ["", ""],
      ["token is ", ", use it"],
      ['{"value":"', '"}'],
      ["https://x.test/?t=", "&y=1"],
      ["\x1b[31m", "\x1b[0m"],
      ["line\\n", "\\nline"],
      ["(", ")"],
      ["=", ""],
      ["'", "'"],
    ];
    for (const [before, after] of around) {
      const out = redact(`${before}${prefix}${token}${after}`);
      expect(out).not.toContain(token);
      expect(out.startsWith(before!) && out.endsWith(after!), out).toBe(true);
    }
  });

  it("the redactor recognises tokens without a prefix", () => {
    const entra = `a1~${made("alphanumeric", 1)}8Q~${made("alphanumeric", 34)}`.slice(-40);
    const bot = `${"1234567890"}:AA${made("word", 33)}`;
    const discord = `M${made("alphanumeric", 25)}.${made("alphanumeric", 6)}.${made("word", 38)}`;
    for (const token of [entra, bot, discord]) expect(redact(`use ${token} now`)).not.toContain(token.slice(-30));
  });
});

/** Text before the secret, its length, text after it. */
const named: [before: string, alphabet: Alphabet, length: number, after: string][] = [
  ["DB_PASSWORD=", "alphanumeric", 14, ""],
  ["export API_SECRET='", "alphanumeric", 20, "'"],
  ["SECRET_KEY_BASE=", "hex", 128, "\nPORT=1\n"],
  ["MYSQL_PWD=", "alphanumeric", 10, " mysqldump"],
  ["REDIS_PASS=", "alphanumeric", 12, ""],
  ["env:\n  - name: x\n    clientSecret: ", "alphanumeric", 24, "\n"],
  ["aws_secret_access_key = ", "base64", 40, "\n"],
  ["AWS_SESSION_TOKEN=", "base64", 200, ""],
  ['{"SecretAccessKey": "', "base64", 40, '"}'],
  ['{"password": "', "alphanumeric", 9, '"}'],
  ['{"client_secret":"', "word", 40, '","x":1}'],
  ['{\\"access_token\\":\\"', "word", 40, '\\"}'],
  ['{\\\\\\"refresh_token\\\\\\": \\\\\\"', "word", 40, '\\\\\\"}'],
  ["{'apiKey': '", "alphanumeric", 32, "'}"],
  ["privateKey => '", "alphanumeric", 32, "',"],
  ["x-api-key: ", "alphanumeric", 32, "\r\n"],
  ["X-Auth-Token:", "hex", 32, "\n"],
  ["PRIVATE-TOKEN: ", "word", 20, "'"],
  ["Ocp-Apim-Subscription-Key: ", "hex", 32, ""],
  ["api-key: ", "hex", 32, ""],
  ["courser --api-key ", "alphanumeric", 32, " -p hi"],
  ["mysql --password=", "alphanumeric", 12, " db"],
  ["mysqldump -u root -p", "alphanumeric", 12, " shop"],
  ["sshpass -p ", "alphanumeric", 12, " ssh host"],
  ["zip -r -P ", "alphanumeric", 12, " a.zip src"],
  ["7z a -p", "alphanumeric", 12, " a.7z src"],
  ["ldapsearch -x -w ", "alphanumeric", 12, " -b dc=test"],
  ["smbclient -U 'me%", "alphanumeric", 12, "' //host/share"],
  ["gh secret set NAME --body ", "alphanumeric", 24, ""],
  ["aws configure set aws_secret_access_key ", "alphanumeric", 40, ""],
  ["ENC_KEY=", "alphanumeric", 44, ""],
  ["fernet_key: '", "alphanumeric", 44, "'"],
  ["sshpass -p'", "alphanumeric", 12, "' ssh host"],
  ["docker login -u me -p ", "alphanumeric", 20, " registry.test"],
  ["mongosh host -u me -p ", "alphanumeric", 12, ""],
  ["redis-cli -h x -a ", "alphanumeric", 16, " ping"],
  ["openssl rsa -in k.pem -passin pass:", "alphanumeric", 12, " -out x"],
  ["npm config set //r.test/:_authToken ", "alphanumeric", 36, "\n"],
  ['["--token","', "alphanumeric", 40, '"]'],
  ["https://x.test/?access_token=", "alphanumeric", 40, "&x=1"],
  ["https://x.test/a?key=", "alphanumeric", 39, ""],
  ["https://x.blob.test/a?sv=2020&sig=", "alphanumeric", 43, "%3D"],
  ["AccountName=x;AccountKey=", "base64", 86, "==;EndpointSuffix=y"],
  ["SharedAccessKeyName=x;SharedAccessKey=", "base64", 43, "="],
  ["Server=x;User Id=sa;Password=", "alphanumeric", 12, ";Encrypt=1"],
  ["<password>", "alphanumeric", 12, "</password>"],
  ['<add key="Password" value="', "alphanumeric", 12, '" />'],
  ["machine x.test login me password ", "alphanumeric", 12, "\n"],
  ["//npm.test/:_authToken=", "hex", 36, ""],
  ["//npm.test/:_auth=", "base64", 40, ""],
  ['{"auths":{"x.test":{"auth":"', "base64", 32, '"}}}'],
  ["password: ", "alphanumeric", 12, "\n"],
  ['const token: string = "', "alphanumeric", 24, '";'],
  ["Authorization: Bearer ", "word", 40, ""],
  ["authorization:bearer\t", "word", 40, ""],
  ["AUTHORIZATION : BEARER   ", "word", 40, ""],
  ["Proxy-Authorization: Basic ", "base64", 24, "=="],
  ["Authorization: token ", "hex", 40, ""],
  ["Authorization: ", "hex", 40, ""],
  ['"authorization":"Bearer ', "word", 40, '"'],
  ['["authorization","Bearer ', "word", 40, '"]'],
  ["curl -H 'Authorization: Bearer ", "word", 40, "' https://x.test"],
  ["sent with Bearer ", "word", 40, " to it"],
  ["curl -u me:", "alphanumeric", 12, " https://x.test"],
  ["Cookie: session=", "alphanumeric", 32, "; theme=dark"],
  ["Set-Cookie: sid=", "alphanumeric", 32, "; Path=/"],
  ["postgres://app:", "alphanumeric", 20, "@db.test:5432/x"],
  ["redis://:", "alphanumeric", 20, "@cache.test"],
  ["mongodb+srv://u:", "alphanumeric", 20, "@c.test/?x=1"],
  ["https://me:", "alphanumeric", 20, "@git.test/x.git"],
  ["https://", "hex", 40, "@git.test/x.git"],
  ["https://hooks.slack.com/services/T00000000/B00000000/", "alphanumeric", 24, ""],
  ["https://discord.test/api/webhooks/123456789012345678/", "word", 68, ""],
  ["https://hooks.zapier.test/hooks/catch/123456/", "alphanumeric", 24, "/"],
  ["https://x.webhook.office.test/webhookb2/a/IncomingWebhook/", "hex", 32, "/y"],
  ["https://api.telegram.test/bot1234567890:AA", "word", 33, "/getMe"],
];

describe("secrets recognised by name and position", () => {
  it.each(named)(
    "the redactor recognises a secret by its name and position: %s … %s %i",
    (before, alphabet, length, after) => {
      const secret = made(alphabet, length);
      const out = redact(`${before}${secret}${after}`);
      expect(out).not.toContain(secret);
      expect(out).toContain(marker);
      expect(out.startsWith(before.slice(0, before.search(/[=:"' >]/))), out).toBe(true);
      // A secret in the query of a URL may end in an escape that belongs to it.
      if (!/^[%=;]/.test(after) && !/Cookie/.test(before)) expect(out.endsWith(after), out).toBe(true);
    },
  );

  it.each([
    ["-----BEGIN RSA PRIVATE KEY-----\n", "\n", "-----END RSA PRIVATE KEY-----\n"],
    ["-----BEGIN OPENSSH PRIVATE KEY-----\r\n", "\r\n", "-----END OPENSSH PRIVATE KEY-----"],
    ["-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n", "\n", "-----END PGP PRIVATE KEY BLOCK-----"],
    ['{"private_key":"-----BEGIN PRIVATE KEY-----\\n', "\\n", '-----END PRIVATE KEY-----\\n"}'],
    ["+-----BEGIN EC PRIVATE KEY-----\n+", "\n+", "-----END EC PRIVATE KEY-----"],
    ["key: |\n  -----BEGIN PRIVATE KEY-----\n  ", "\n  ", "-----END PRIVATE KEY-----"],
  ])("the redactor hides a private key: %j", (head, lineBreak, tail) => {
    const lines = [1, 2, 3].map((seed) => made("base64", 64, seed));
    const text = `${head}${[...lines, "q7=="].join(lineBreak)}${lineBreak}${tail}`;
    const out = redact(text);
    for (const line of lines) expect(out).not.toContain(line);
    expect(out.startsWith(head.slice(0, -2))).toBe(true);
    expect(out.endsWith(tail)).toBe(true);
  });

  it("the redactor hides private keys in PuTTY's format", () => {
    const lines = [1, 2].map((seed) => made("base64", 64, seed));
    const text = `Public-Lines: 1\n${made("base64", 64, 9)}\nPrivate-Lines: 2\n${lines.join("\n")}\nPrivate-MAC: ${made("hex", 40)}\n`;
    const out = redact(text);
    for (const line of lines) expect(out).not.toContain(line);
    expect(out).toContain(made("base64", 64, 9));
  });

  it("the redactor keeps public keys and certificates", () => {
    for (const kind of ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY"]) {
      const text = `-----BEGIN ${kind}-----\n${made("base64", 64)}\n-----END ${kind}-----\n`;
      expect(redact(text)).toBe(text);
    }
  });
});

describe("encoded secrets", () => {
  const body = made("alphanumeric", 36);
  const token = `ghp_${body}`;
  const halves = [body.slice(0, 12), body.slice(12)];
  it.each([
    ["coloured inside", `ghp_${halves.join("\x1b[0m")}`],
    ["coloured before and inside", `x\x1b[1;31mghp_${halves.join("\x1b[38;5;1m")}\x1b[0m`],
    ["a link of a terminal inside", `ghp_${halves.join("\x1b]8;;https://x.test\x07")}`],
    ["a colour spelt out", `ghp_${halves.join("\\u001b[0m")}`],
    ["percent-encoded", `ghp%5F${body}`],
    ["percent-encoded twice", `ghp%255F${body}`],
    ["percent-encoded letters", `%67hp_${body}`],
    ["a JSON escape", `ghp\\u005f${body}`],
    ["a JSON escape in JSON", `ghp\\\\u005F${body}`],
    ["an HTML entity", `ghp&#95;${body}`],
    ["zero-width characters", `ghp_${halves.join("\u200b")}`],
    ["a percent-encoded header", `Authorization%3A%20Bearer%20${body}`],
    ["percent-encoded JSON", `%7B%22password%22%3A%22${body}%22%7D`],
    ["HTML in JSON", `&quot;password&quot;:&quot;${body}&quot;`],
    ["a coloured name", `\x1b[32mDB_PASSWORD\x1b[0m=\x1b[33m${body}\x1b[0m`],
  ])("the redactor hides an encoded secret: %s", (_, text) => {
    const out = redact(`before ${text} after`);
    for (const half of halves) expect(out).not.toContain(half);
    expect(out.startsWith("before ") && out.endsWith(" after"), out).toBe(true);
  });

  it("the redactor hides secrets in hexadecimal", () => {
    expect(redact(`data: ${Buffer.from(token).toString("hex")}.`)).toBe(`data: ${marker}.`);
  });

  it("the redactor hides secrets in base64", () => {
    const packed = Buffer.from(`{"password":"${token}"}`).toString("base64");
    expect(redact(`data: ${packed}`)).toBe(`data: ${marker}`);
    expect(redact(`data: ${Buffer.from(token).toString("base64url")}.`)).toBe(`data: ${marker}.`);
  });
});

describe("known secret values", () => {
  const value = "correct-horse-battery";
  const { redact: hide } = createRedactor({
    values: [value, "a b/c+d&e?f", 'quo"te\\d', "line one of it\nsecond line of it\n", "ab"],
  });
  it.each([
    ["as it is", value],
    ["twice", `${value}${value}`],
    ["in hexadecimal", Buffer.from(value).toString("hex")],
    ["in capital hexadecimal", Buffer.from(value).toString("hex").toUpperCase()],
    ...[0, 1, 2, 3, 4, 5].flatMap((before): [string, string][] => [
      [`in base64 at ${before}`, Buffer.from(`${"x".repeat(before)}${value}yz`).toString("base64")],
      [`in base64 for URLs at ${before}`, Buffer.from(`${"?".repeat(before)}${value}??`).toString("base64url")],
    ]),
    ["coloured", `correct-\x1b[1mhorse\x1b[0m-battery`],
    ["percent-encoded", "correct%2Dhorse%2dbattery"],
    ["blanks and signs in a URL", encodeURIComponent("a b/c+d&e?f")],
    ["blanks as plus", encodeURIComponent("a b/c+d&e?f").replaceAll("%20", "+")],
    ["as JSON", JSON.stringify('quo"te\\d').slice(1, -1)],
    ["one of its lines", "second line of it"],
  ])("the redactor hides a known secret value: %s", (_, text) => {
    const out = hide(`before ${text} after`);
    expect(out.startsWith("before ")).toBe(true);
    expect(out).toContain(marker);
    expect(out.endsWith(" after")).toBe(true);
    expect(out.length).toBeLessThan(40 + marker.length * 2);
  });

  it("the redactor does not hide short known values that may be ordinary words", () => {
    expect(hide("abandon the cabin")).toBe("abandon the cabin");
  });
});

describe("text that is not secret", () => {
  const sha = made("hex", 40);
  const integrity = `${made("base64", 86)}==`;
  it.each([
    `commit ${sha}`,
    `index ${sha.slice(0, 7)}..${sha.slice(7, 14)} 100644`,
    `sha256:${made("hex", 64)}`,
    `"integrity": "sha512-${integrity}"`,
    `"resolved": "https://npm.test/x/-/x-1.0.0.tgz#${sha}"`,
    `session 0bae1f09-3bb0-49b8-9b9d-96a70ede533f`,
    `{"session_id":"0bae1f09-3bb0-49b8-9b9d-96a70ede533f","request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`,
    `{"call_id":"toolu_01A09q90qw90lq917835lq9","model_call_id":"59ff63a6-195e-463f-89ce-f26a820987bf-0-c94p"}`,
    `data:image/png;base64,${made("base64", 4000)}`,
    "mysql -p shop < dump.sql",
    "docker login -p $TOKEN registry.test",
    "docker run -p 8080:80 web && docker login",
    "sshpass -p <password> ssh host",
    "zip -P <password> a.zip b",
    "7z a -p a.7z",
    "config set token to the value of the form",
    "redis-cli -h host -p 6379 ping",
    "npm config set registry https://r.test/",
    "v1.0-beta-2 of vercel_project_settings",
    `ETag: "${made("hex", 32)}"`,
    "token count: 12345; password field is empty; sk-learn installed",
    "max_tokens: 4096, input_tokens=120, tokens: 99999, token_count=1234567",
    "task-runner-with-a-long-name-42 risk-assessment-2024 disk-usage-report-2025-01-01",
    "Password: ",
    "Enter password:\nRetype password:\n",
    '{"password": "Enter your password", "token": "The token has expired."}',
    "password: string; token?: string | undefined; apiKey: SecretString",
    "const password = process.env.DB_PASSWORD; token = getToken(request); key = keys[0]",
    "password=$DB_PASSWORD token=${TOKEN} secret=$(cat file) key={{ api_key }}",
    "API_KEY=<your key> TOKEN=your-token-here PASSWORD=******** SECRET=xxxxxxxx",
    "export ANTHROPIC_API_KEY=<key>, or courser login anthropic",
    "Type: export OPENAI_API_KEY=<key>, or pass it with --api-key <key>.",
    "Authorization: required; Bearer token required; Basic authentication is off",
    "authorization: none",
    "/etc/passwd:1:root:x:0:0:root:/root:/bin/bash",
    "PWD=/home/me/project OLDPWD=/tmp/a1b2c3d4",
    "pass: 12 fail: 3",
    "passed: 1200, compass: 45, bypass=12345678",
    "author: me@x.test, authority: x1234567890123456",
    "primary_key: id1234567890, cache-key: linux-node-20-abc123def456, publicKey: 12345678abcdefgh",
    "tokenizer_config: cl100k_base, secretName: my-k8s-secret-1, password_field=user_password1",
    "git clone https://git.test/a/b.git; ssh git@git.test; mailto:me@x.test",
    "http://user:password@host/ http://$USER:$PASS@host/ http://user:***@host/",
    "https://docs.test/webhooks/getting-started-2 https://git.test/a/b/settings/hooks/12345678",
    "docker run -u 1000:1000 image; sudo -u postgres psql",
    "cookie: enabled, cookies=3",
    "Set the header 'Cookie: <name>=<value>'.",
    "C:\\new\\token\\secret\\key_file.txt",
    "\x1b[31mred\x1b[0m 100% \\u00e9 &amp; %20",
    "eyJhbGciOiJub25lIn0 is a header of a token without its other parts",
    "AKIA is the prefix of such keys, ghp_ and sk- of others",
    "npm_config_registry=https://npm.test npm_lifecycle_event=test npm_package_version=1.2.3",
    "re_export_all_of_the_modules_in_this_folder hf_hub_download_with_progress_bar",
    "1//0 2//3 key-value-store-with-a-very-long-name",
    "SKU0123456789 API-DOCUMENTATION",
    "import { token } from './token-2024.ts'; secret: Secret::Named2",
    "x = 'password', 'salt2024', 64",
  ])("the redactor keeps text that is not secret: %s", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("the redactor changes nothing in the sources, documents and lock file of this repository", () => {
    const root = join(import.meta.dirname, "../..");
    const files = [
      "package-lock.json",
      "README.md",
      ...sources(join(root, "src"), "src"),
      ...sources(join(root, "docs"), "docs"),
    ];
    const changed = files.filter((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return redact(text) !== text;
    });
    expect(files.length).toBeGreaterThan(100);
    expect(changed).toEqual([]);
  });
});

describe("redacted text", () => {
  it("the redactor returns text without secrets unchanged", () => {
    const text = "\ufeffa\r\n\u0000\ud800 \u2028 é 😀\t\x1b[0m";
    expect(redact(text)).toBe(text);
    expect(redact("")).toBe("");
  });

  it("redacting a text a second time changes nothing", () => {
    for (const [before, alphabet, length, after] of named) {
      const once = redact(`${before}${made(alphabet, length)}${after}`);
      expect(redact(once)).toBe(once);
    }
  });

  it.each([
    [{ text: `a\nnpm_${made("alphanumeric", 36)}\tb` }],
    [{ text: `\\nghp_${made("alphanumeric", 36)}\\"` }],
    [{ password: 12345678, token: 1234567890123456, n: 1 }],
    [{ inner: JSON.stringify({ password: 12345678, deeper: JSON.stringify({ secret: made("word", 30) }) }) }],
    [{ password: 'a"b\\c\nd1', next: "x" }],
    [{ password: "é\u0001😀\\", next: "\\" }],
    [{ env: `A=1\nDB_PASSWORD=${made("alphanumeric", 12)}\nB=2` }],
    [{ command: `curl -u me:${made("alphanumeric", 12)} "https://x.test"` }],
    [{ key: `-----BEGIN PRIVATE KEY-----\n${made("base64", 64)}\n-----END PRIVATE KEY-----\n` }],
    [{ headers: [["authorization", `Bearer ${made("word", 30)}`]] }],
  ])("redacted JSON is still JSON: %j", (value) => {
    const line = JSON.stringify(value);
    const out = redact(line);
    expect(out).toContain(marker);
    const parsed = JSON.parse(out) as object;
    expect(Object.keys(parsed)).toEqual(Object.keys(value));
  });
});

function sources(folder: string, name: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|md)$/.test(file))
    .map((file) => join(name, file));
}
