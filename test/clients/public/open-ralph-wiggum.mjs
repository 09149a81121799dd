// Th0rgal/open-ralph-wiggum: a loop around one prompt until the agent says that it is done.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt, bun, check, otherWorkspace, prompts, repository, workspace } from "./check.mjs";

const ralph = (cwd, ...args) => {
  spawnSync("git", ["init", "-q"], { cwd });
  const { status, stdout, stderr } = spawnSync(
    bun,
    [join(repository, "ralph.ts"), ...args, "--agent", "cursor-agent", "--max-iterations", "2", "--no-commit"],
    { cwd, encoding: "utf8", timeout: 90_000, stdio: ["ignore", "pipe", "pipe"] },
  );
  return { status, output: stdout + stderr };
};

await attempt("task", async () => {
  const { status, output } = ralph(workspace, prompts.finish);
  check(
    "a task: done in the first round",
    status === 0 && /COMPLETE/.test(output) && !/Iteration 2/.test(output),
    output,
  );
  check("the work is done", existsSync(join(workspace, "done.txt")), output);
});
await attempt("work", async () => {
  const { output } = ralph(otherWorkspace, prompts.work);
  check(
    "counts the calls by their tools",
    /read\w*\D+1/i.test(output) && /(shell|bash)\w*\D+1/i.test(output),
    output.slice(-400),
  );
});
await attempt("failure", async () => {
  const { output } = ralph(workspace, prompts.fail);
  check("a failure is told with its reason", /no such thing/.test(output), output.slice(-400));
});
process.exit(0);
