// @ai-hero/sandcastle: an orchestrator of agents in sandboxes; here in none.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, load, prompts, workspace } from "./check.mjs";

for (const args of [
  ["init", "-q", "-b", "main"],
  ["config", "user.name", "x"],
  ["config", "user.email", "x@x"],
  ["add", "-A"],
  ["commit", "-qm", "start"],
])
  spawnSync("git", args, { cwd: workspace });
process.chdir(workspace);
const name = "@ai-hero/sandcastle";
const { run, cursor } = await load(name, "dist/index.js");
const { noSandbox } = await load(name, "dist/sandboxes/no-sandbox.js");
const print = console.log;
console.log = (text) => typeof text === "string" && text.startsWith('{"check"') && print(text);

await attempt("run", async () => {
  const result = await run({
    agent: cursor("composer-2"),
    sandbox: noSandbox(),
    cwd: workspace,
    branchStrategy: { type: "head" },
    prompt: prompts.finish,
    maxIterations: 1,
    completionSignal: "<promise>COMPLETE</promise>",
    logging: { type: "file", path: join(workspace, "..", "sandcastle.log") },
    env: process.env,
  });
  check(
    "run: the agent works, and the signal of completion is seen",
    existsSync(join(workspace, "done.txt")) && result.completionSignal !== undefined,
    result,
  );
});
process.exit(0);
