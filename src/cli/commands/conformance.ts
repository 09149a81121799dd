// `conformance -- <command…>`: prints the report as text, JSON or JUnit.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../../protocol/error-codes.ts";
import {
  type ConformanceReport,
  checkConformance,
  chosenRules,
  reportJunit,
  reportText,
} from "../../testing/conformance/index.ts";
import { rules } from "../../testing/conformance/rules.ts";
import { flagList, flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { handleShutdown } from "../shutdown.ts";
import { answer } from "./answer.ts";

export async function conformance({ line: { flags, words }, env, name }: Invocation): Promise<number> {
  if (words.length === 0)
    throw usageError(`conformance needs the command of a CLI: ${name} conformance -- cursor-agent`);
  const seconds = flagText(flags, "timeout") ?? "60";
  if (!(Number(seconds) > 0))
    throw usageError(`--timeout '${seconds}' is not a positive number. Example: --timeout 60`);
  const only = flagList(flags, "rule");
  for (const each of only)
    if (chosenRules([each]).length === 0) {
      const groups = [...new Set(rules.map(({ id }) => id.split(".")[0]))];
      throw usageError(`--rule '${each}' is neither a rule nor a group: ${groups.join(", ")}.`);
    }
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env });
  let report: ConformanceReport;
  try {
    report = await checkConformance({
      command: fromAnywhere(words),
      env,
      timeoutMs: Number(seconds) * 1000,
      signal: abort.signal,
      only,
    });
  } finally {
    watch.stop();
  }
  const written = await answer(formats[(flagText(flags, "format") ?? "text") as keyof typeof formats](report));
  return written || (report.passes ? 0 : 1);
}

/** Makes the paths of existing files absolute, since each trial runs the command in its own directory. */
function fromAnywhere([program = "", ...rest]: readonly string[]): string[] {
  const isPath = (word: string) =>
    /^[^-].*[/.]/.test(word) && (statSync(word, { throwIfNoEntry: false })?.isFile() ?? false);
  const whole = (word: string) => (isPath(word) ? resolve(word) : word);
  return [program.includes("/") ? resolve(program) : program, ...rest.map(whole)];
}

const formats = {
  text: reportText,
  json: (report: ConformanceReport) => `${JSON.stringify(report, null, 2)}\n`,
  junit: reportJunit,
};
