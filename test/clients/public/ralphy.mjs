// ralphy-cli: a loop over tasks, each a run of the agent.
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, folder, otherWorkspace, prompts, workspace } from "./check.mjs";

const ralphy = (cwd, ...args) =>
  spawnSync(
    join(folder, "node_modules/.bin/ralphy"),
    ["--cursor", "--fast", "--no-commit", "--max-retries", "1", ...args],
    {
      cwd,
      encoding: "utf8",
      timeout: 90_000,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
const prepare = (cwd) => {
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "start"],
  ])
    spawnSync("git", args, { cwd });
};

await attempt("task", async () => {
  prepare(workspace);
  const { status, stdout, stderr } = ralphy(workspace, prompts.finish);
  check("a task: the agent does it, and it ends well", status === 0 && existsSync(join(workspace, "done.txt")), [
    status,
    stdout,
    stderr,
  ]);
});
await attempt("list", async () => {
  prepare(otherWorkspace);
  writeFileSync(join(otherWorkspace, "PRD.md"), `# Tasks\n\n- [ ] ${prompts.finish}\n`);
  const { status, stdout, stderr } = ralphy(otherWorkspace, "--prd", "PRD.md", "--max-iterations", "1");
  check("a list of tasks: one round", status === 0 && existsSync(join(otherWorkspace, "done.txt")), [
    status,
    stdout,
    stderr,
  ]);
});
await attempt("failure", async () => {
  const { stdout, stderr } = ralphy(workspace, prompts.fail);
  check("a failure is told with its reason", /no such thing/.test(stdout + stderr), [stdout, stderr]);
});
