// `record -o FILE -- claude …` and `replay FILE -- claude …`: run an agent CLI with its vendor's
// answers recorded, or replayed from the file.
import { resolve } from "node:path";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { readExchanges } from "../../testing/exchanges/exchange-file.ts";
import { programOf, recordCli, replayCli, startAndWait } from "../../testing/exchanges/run-cli.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { secretsInUse } from "../secrets-in-use.ts";
import { writeStderr } from "../stdout.ts";

export async function record(invocation: Invocation): Promise<number> {
  const { line, name } = invocation;
  const file = flagText(line.flags, "output");
  if (file === undefined || line.words.length === 0)
    throw usageError(`record needs a file and a command: ${name} record -o run.jsonl -- claude -p "…"`);
  return recordCli(resolve(file), commandToRecord(invocation, line.words));
}

export async function replayCommand(
  invocation: Invocation,
  { file, words, speed }: { file: string; words: readonly string[]; speed: number | undefined },
): Promise<number> {
  const { flags } = invocation.line;
  const recordedCommand = commandToRecord(invocation, words);
  const exchanges = readExchanges(file);
  const onMismatch = flagText(flags, "replay-on-mismatch") === "continue" ? "continue" : "stop";
  if (!exchanges) {
    const { tool, words: program, args } = await programOf(recordedCommand);
    if (tool !== "cursor")
      throw new UserError(
        "RECORDING_INVALID",
        `${file} is no recording of ${tool}. Make one with: ${invocation.name} record -o FILE -- ${words[0]} …`,
      );
    const how = ["--model", `replay:${file}`, "--replay-on-mismatch", onMismatch];
    const tools = flagText(flags, "replay-tools") ?? "recorded";
    return startAndWait([...program, ...how, "--replay-tools", tools, ...withoutModel(args)], recordedCommand);
  }
  const { exitCode, differences } = await replayCli(exchanges, {
    ...recordedCommand,
    onMismatch,
    ...(speed !== undefined && { speed }),
  });
  const [first] = differences;
  if (first === undefined) return exitCode;
  if (onMismatch === "stop") {
    const next = "Record it again, or continue anyway with --replay-on-mismatch continue.";
    throw new UserError("REPLAY_DIVERGED", `${first.replace(/\.?$/, ".")} ${next}`);
  }
  for (const difference of differences) writeStderr(`Warning: ${difference}\n`);
  return exitCode;
}

function commandToRecord({ env, version }: Invocation, command: readonly string[]) {
  return { command, cwd: process.cwd(), env, version, secrets: secretsInUse(process.argv, env) };
}

/** Drops --model, because in a replay the model is the recording. */
function withoutModel(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  const isFlag = (index: number) => (end < 0 || index < end) && args[index] === "--model";
  return args.filter((word, index) => !isFlag(index) && !isFlag(index - 1) && !word.startsWith("--model="));
}
