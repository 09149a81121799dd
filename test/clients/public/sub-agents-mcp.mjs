// shinpr/sub-agents-mcp: an MCP server whose tool runs a described agent, here with this CLI.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, bun, check, conclusion, prompts, repository, workspace } from "./check.mjs";

const agents = join(workspace, "agents");
mkdirSync(agents);
writeFileSync(join(agents, "reader.md"), "# Reader\n\nYou read notes.\n");
const server = spawn(bun, [join(repository, "src/index.ts")], {
  cwd: workspace,
  env: { ...process.env, AGENTS_DIR: agents, AGENT_TYPE: "cursor", AGENT_PERMISSION: "yolo", LOG_LEVEL: "error" },
  stdio: ["pipe", "pipe", "pipe"],
});
let log = "";
server.stderr.on("data", (chunk) => (log += chunk));
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message.result ?? message.error);
});
let count = 0;
const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params) =>
  new Promise((settle) => {
    waiting.set(++count, settle);
    send({ id: count, method, params });
  });
const run = (prompt) =>
  ask("tools/call", { name: "run_agent", arguments: { agent: "reader", prompt, cwd: workspace } });

await attempt("server", async () => {
  const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  await ask("initialize", client);
  send({ method: "notifications/initialized" });
  const done = await run(prompts.work);
  const said = JSON.stringify(done);
  check("a subagent works in a folder that nobody trusted, and its answer comes back", said.includes(conclusion), [
    done,
    log,
  ]);
  check("it ended well", done.isError !== true, done);
  const failed = await run(prompts.fail);
  check("a failure comes back as one, with its reason", /no such thing/.test(JSON.stringify(failed)), [failed, log]);
});
server.kill();
process.exit(0);
