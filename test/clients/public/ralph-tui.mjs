// ralph-tui: a loop over a list of tasks. It runs on bun, which comes beside it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, folder, prompts, workspace } from "./check.mjs";

const bun = join(folder, "node_modules/@oven/bun-linux-x64/bin/bun");
const cli = join(folder, "node_modules/ralph-tui/dist/cli.js");
for (const args of [
  ["init", "-q"],
  ["add", "-A"],
  ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "start"],
])
  spawnSync("git", args, { cwd: workspace });
mkdirSync(join(workspace, ".ralph-tui"), { recursive: true });
// By itself it looks for the editor's command, and keeps keys from agents.
const config = [
  'agent = "cursor"',
  'tracker = "json"',
  "autoCommit = false",
  'command = "cursor-agent"',
  'envPassthrough = ["ANTHROPIC_API_KEY"]',
];
writeFileSync(join(workspace, ".ralph-tui/config.toml"), `${config.join("\n")}\n`);
const story = {
  id: "US-001",
  title: prompts.finish,
  description: prompts.finish,
  acceptanceCriteria: ["done.txt"],
  priority: 1,
  passes: false,
};
writeFileSync(join(workspace, "prd.json"), JSON.stringify({ name: "P", branchName: "main", userStories: [story] }));

await attempt("run", async () => {
  const args = [cli, "run", "--headless", "--no-setup", "--agent", "cursor", "--prd", "prd.json", "--iterations", "1"];
  const { status, stdout, stderr } = spawnSync(bun, args, {
    cwd: workspace,
    encoding: "utf8",
    timeout: 90_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
  check("run: finds the agent, and it does the task", existsSync(join(workspace, "done.txt")), [
    status,
    stdout?.slice(-1500),
    stderr?.slice(-1500),
  ]);
});
