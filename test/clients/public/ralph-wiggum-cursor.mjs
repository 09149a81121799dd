// agrimsingh/ralph-wiggum-cursor: a loop in bash. Its parser reads the stream with jq, keeps a log of what the agent does and counts tokens.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, check, prompts, repository, workspace } from "./check.mjs";

/** As its own description says: the agent's stream, piped into the parser. */
function turn(prompt) {
  const parser = join(repository, "scripts/stream-parser.sh");
  const { stdout } = spawnSync(
    "bash",
    [
      "-c",
      'cursor-agent -p --force --output-format stream-json --model auto "$0" 2>&1 | bash "$1" "$2"',
      prompt,
      parser,
      workspace,
    ],
    { cwd: workspace, encoding: "utf8", timeout: 90_000 },
  );
  const log = join(workspace, ".ralph/activity.log");
  return { signals: stdout.split("\n"), log: existsSync(log) ? readFileSync(log, "utf8") : "" };
}

await attempt("work", async () => {
  const { signals, log } = turn(prompts.work);
  check("logs the start, with the model", /SESSION START.*model=\S/.test(log), log);
  check("the file that was read, with its lines", /READ \S*notes\.txt \([1-9]\d* lines/.test(log), log);
  check("the command, with its exit code", /SHELL wc -l < notes\.txt → exit 0/.test(log), log);
  check("the end, with its duration", /SESSION END: [1-9]\d*ms/.test(log), log);
  check("no signal that something is wrong", !signals.some((line) => /GUTTER|DEFER|ROTATE/.test(line)), signals);
});
await attempt("finish", async () => {
  const { signals } = turn(prompts.finish);
  check("hears that the task is complete", signals.includes("COMPLETE"), signals);
  check("the work is done", existsSync(join(workspace, "done.txt")), signals);
});
