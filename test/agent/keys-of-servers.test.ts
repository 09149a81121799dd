// What an MCP server is given as a key is not seen by commands, hooks, logs and recordings; a hook may ask for a key by its name.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

const key = "plain-looking-value-4711";
let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace({ "server.env": `STORE=${key}\nFOLDER=/var/lib/store\n` });
  mkdirSync(workspace.config, { recursive: true });
  mkdirSync(join(workspace.path, ".cursor"), { recursive: true });
  // It never answers, and what it says on its way out is told.
  const server = { command: "sh", args: ["-c", "echo $STORE >&2; exit 1"], envFile: "${workspaceFolder}/server.env" };
  writeFileSync(join(workspace.path, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { store: server } }));
});
afterEach(() => workspace.remove());

it("variables from an MCP server's env file do not reach commands, hooks or logs", async () => {
  const [plain, asking] = ["plain.txt", "asking.txt"].map((name) => join(workspace.home, name));
  const hooks = {
    beforeShellExecution: [{ command: `printenv > '${plain}'` }, { command: `printenv > '${asking}'`, env: ["OTHER"] }],
  };
  writeFileSync(join(workspace.config, "hooks.json"), JSON.stringify({ version: 1, hooks }));
  const log = join(workspace.home, "log.jsonl");
  const replies = [
    { calls: [{ name: "Shell", args: { command: "printenv OTHER; printenv FOLDER" } }] },
    { text: "end" },
  ];
  const run = await workspace.play(replies, ["--trust", "--force", "--approve-mcps", "--log", log], {
    env: { OTHER: key, FOLDER: "/var/lib/store" },
  });
  expect(run.stdout).toContain("/var/lib/store");
  expect(run.stdout).not.toContain(key);
  expect(run.stderr).not.toContain(key);
  expect(readFileSync(log, "utf8")).not.toContain(key);
  expect(readFileSync(plain!, "utf8")).not.toContain(key);
  expect(readFileSync(asking!, "utf8")).toContain(`OTHER=${key}`);
});
