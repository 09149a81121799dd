import { expect, it } from "vitest";
import { flagSecrets } from "../../src/cli/secrets-in-use.ts";
import { serverSecrets } from "../../src/redact/server-secrets.ts";

it("keys given on the command line are treated as secrets", () => {
  expect(flagSecrets(["-e", "http://me:hunter22@host.test/v1"])).toEqual(["hunter22"]);
  expect(flagSecrets(["--endpoint=https://me:hunter22@host.test"])).toEqual(["hunter22"]);
  expect(flagSecrets(["-e", "http://host.test/v1"])).toEqual([]);
  expect(flagSecrets(["-pehttps://me:hunter%4022@host.test?api_key=abcdef"])).toEqual([
    "hunter%4022",
    "hunter@22",
    "abcdef",
  ]);
  expect(flagSecrets(["-HX-Api-Key: hunter22", "--env", "API_KEY=hunter2233", "--env=LEVEL=verbose-all"])).toEqual([
    "hunter22",
    "hunter2233",
  ]);
  const servers = { mcpServers: { a: { command: "x", args: ["--api-key=abcdef123456", "--port=80"] } } };
  expect(flagSecrets(["--mcp-config", JSON.stringify(servers)])).toEqual(["abcdef123456"]);
});

it("keys in a server's definition are recognised wherever they are", () => {
  const args = ["run", "-e", "DB_PASSWORD=pw-in-variable", "--token", "pw-after-flag", "--api-key=pw-in-flag"];
  const found = serverSecrets({
    args: [
      ...args,
      "--header",
      "Authorization: Bearer pw-in-header",
      "postgres://me:pw-in-address@host/db",
      "--level=all",
    ],
    url: "https://me:pw-in-url@host.test/mcp?access_token=pw-in-query&page=twenty-one",
    headers: { "X-Any": "Basic pw-in-basic" },
    auth: { CLIENT_SECRET: "pw-of-client" },
    env: { OTEL_EXPORTER_OTLP_HEADERS: "x-team=Bearer%20pw-of-collector", HTTPS_PROXY: "http://me:pw-of-proxy@proxy" },
  });
  const wanted = "variable flag after-flag header address url query basic of-client of-collector of-proxy".split(" ");
  const missing = wanted.filter(
    (each) => !found.some((value) => value.endsWith(each) && /^pw-(in-)?[a-z-]+$/.test(value)),
  );
  expect(missing).toEqual([]);
  expect(found.filter((value) => !/^pw-|^x-team=/.test(value))).toEqual([]);
});
