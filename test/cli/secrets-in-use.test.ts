import { expect, it } from "vitest";
import { flagSecrets } from "../../src/cli/secrets-in-use.ts";

it("knows the keys that a command line holds", () => {
  expect(flagSecrets(["-e", "http://me:hunter22@host.test/v1"])).toEqual(["hunter22"]);
  expect(flagSecrets(["--endpoint=https://me:hunter22@host.test"])).toEqual(["hunter22"]);
  expect(flagSecrets(["-e", "http://host.test/v1"])).toEqual([]);
  const servers = { mcpServers: { a: { command: "x", args: ["--api-key=abcdef123456", "--port=80"] } } };
  expect(flagSecrets(["--mcp-config", JSON.stringify(servers)])).toEqual(["abcdef123456"]);
});
