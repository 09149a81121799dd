// Reports an evaluation: a table, JUnit, and predictions in SWE-bench's format.

import { oneLine } from "../text/one-line.ts";
import { padded } from "../text/width.ts";
import { xmlAttribute } from "../text/xml.ts";
import type { AttemptResult } from "./attempt.ts";
import type { Evaluation, Summary } from "./evaluate.ts";

const marks = { passed: "ok", failed: "FAILED", error: "ERROR", skipped: "skipped" };

type Column = { title: string; of(result: AttemptResult): string; right?: true };

const columns: readonly Column[] = [
  { title: "", of: ({ status }) => marks[status] },
  { title: "task", of: ({ task }) => task },
  { title: "attempt", of: ({ attempt }) => attempt },
  { title: "time", of: ({ durationMs }) => seconds(durationMs), right: true },
  { title: "steps", of: ({ agent }) => String(agent.steps), right: true },
  { title: "tokens", of: ({ agent }) => formatTokens(agent.inputTokens + agent.outputTokens), right: true },
  { title: "cost", of: ({ agent }) => formatDollars(agent.costUsd), right: true },
  { title: "denied", of: ({ agent }) => String(agent.denials.length), right: true },
];

export function reportText({ results, summary, interrupted }: Evaluation): string {
  const rows = [columns.map(({ title }) => title), ...results.map((result) => columns.map(({ of }) => of(result)))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (columns[column]!.right ? cell.padStart(widths[column]!) : padded(cell, widths[column]!)))
      .join("  ")
      .trimEnd();
  const reasons = (result: AttemptResult | undefined) =>
    result?.why === undefined ? [] : [`${" ".repeat(widths[0]! + 2)}${oneLine(result.why, 300)}`];
  const lines = rows.flatMap((row, index) => [line(row), ...reasons(results[index - 1])]);
  return `${lines.join("\n")}\n\n${interrupted ? "Interrupted. " : ""}${summaryLine(summary)}\n`;
}

export function summaryLine(summary: Summary): string {
  const { tasks, passed, failed, error, skipped, passAt, inputTokens, outputTokens, costUsd, denials, durationMs } =
    summary;
  const counts = [
    `${passed} passed`,
    `${failed} failed`,
    ...(error > 0 ? [`${error} could not be judged`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  const most = Object.keys(passAt).length;
  const passes = Object.entries(passAt)
    .filter(([k]) => usualK.includes(k) || Number(k) === most)
    .map(([k, share]) => `pass@${k} ${(share * 100).toFixed(1)} %`);
  const used = [
    `${formatTokens(inputTokens + outputTokens)} tokens`,
    ...(costUsd === undefined ? [] : [formatDollars(costUsd)]),
    ...(denials > 0 ? [`${denials} denied`] : []),
    seconds(durationMs),
  ];
  return `${tasks} ${tasks === 1 ? "task" : "tasks"}: ${counts.join(", ")}. ${[...passes, ...used].join(", ")}.`;
}

/** The values of k for which the table shows pass@k; results.json contains all. */
const usualK = ["1", "2", "3", "5", "10", "50", "100"];

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function formatTokens(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`;
}

function formatDollars(cost: number | undefined): string {
  if (cost === undefined) return "";
  return cost === 0 ? "$0" : `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`;
}

export function reportJunit({ results, summary }: Evaluation): string {
  const cases = results.map((result) => {
    const { task, attempt, status, why = "", durationMs } = result;
    const names = `classname=${xmlAttribute(`eval.${task}`)} name=${xmlAttribute(`${task} #${attempt}`)}`;
    const head = `  <testcase ${names} time="${(durationMs / 1000).toFixed(3)}"`;
    if (status === "passed") return `${head}/>`;
    const kind = { failed: "failure", error: "error", skipped: "skipped" }[status];
    return `${head}><${kind} message=${xmlAttribute(why)}/></testcase>`;
  });
  const { attempts, failed, error, skipped, durationMs } = summary;
  const totals = `tests="${attempts}" failures="${failed}" errors="${error}" skipped="${skipped}"`;
  const time = `time="${(durationMs / 1000).toFixed(3)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="eval" ${totals} ${time}>\n${cases.join("\n")}\n</testsuite>\n`;
}

/** Writes a line per attempt; readers that take only one per task take the first. */
export function predictions({ results }: Evaluation, model: string): string {
  return results
    .filter(({ status }) => status !== "skipped")
    .map(({ task, patch, agent }) => ({
      instance_id: task,
      model_name_or_path: agent.model ?? model,
      model_patch: patch,
    }))
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

export function resultsJson({ results, summary, interrupted }: Evaluation, settings: object): string {
  const withoutPatches = results.map(({ patch: _, ...result }) => result);
  const head = { ...settings, ...(interrupted && { interrupted }) };
  return `${JSON.stringify({ ...head, summary, results: withoutPatches }, null, 2)}\n`;
}

/** Returns the exit code. 0: all passed. 5: some failed. 1: an error left the result open. */
export function exitCodeOf({ error, failed, passed }: Summary): number {
  if (error > 0) return 1;
  return failed > 0 || passed === 0 ? 5 : 0;
}
