// Shows the progress of a batch on stderr: a bar that is redrawn on a terminal, otherwise a line for each finished run.
import { visible } from "../../../text/visible.ts";
import { cut } from "../../../text/width.ts";
import { dollars, duration } from "../../../view/numbers.ts";
import { writeProgress, writeStderr } from "../../stdout.ts";
import type { BatchResult } from "./results.ts";

export type BatchCounts = {
  total: number;
  passed: number;
  failed: number;
  /** The number of runs that were started and have not finished. */
  running: number;
  costUsd: number;
  startedAt: number;
  /** How many runs had finished before the batch was resumed. */
  earlier: number;
};

export interface BatchProgress {
  /** Redraws the progress after a run has begun. */
  update(): void;
  ended(result: BatchResult): void;
  say(line: string): void;
  close(): void;
}

const everyMs = 200;
const barWidth = 24;

export function createProgress(counts: BatchCounts, { isTerminal }: { isTerminal: boolean }): BatchProgress {
  if (!isTerminal)
    return {
      update() {},
      ended: (result) => writeStderr(`${endedLine(result, counts)}\n`),
      say: (line) => writeStderr(`${line}\n`),
      close() {},
    };
  const draw = () => writeProgress(`\r${cut(barLine(counts), (process.stderr.columns ?? 80) - 1)}\u001b[K`);
  const above = (line: string) => {
    writeProgress("\r\u001b[K");
    writeStderr(`${line}\n`);
    draw();
  };
  const timer = setInterval(draw, everyMs);
  return {
    update: draw,
    ended: (result) => (result.outcome === "success" ? draw() : above(endedLine(result, counts))),
    say: above,
    close() {
      clearInterval(timer);
      writeProgress("\r\u001b[K");
    },
  };
}

export function barLine({ total, passed, failed, running, costUsd, startedAt, earlier }: BatchCounts): string {
  const over = passed + failed;
  const filled = Math.round((over / total) * barWidth);
  const bar = `${"█".repeat(filled)}${"░".repeat(barWidth - filled)}`;
  const spent = Date.now() - startedAt;
  const here = over - earlier;
  const left = here > 0 && over < total ? `about ${duration((spent / here) * (total - over))} left` : "";
  const parts = [
    `${bar} ${over}/${total}`,
    failed > 0 ? `${failed} failed` : "",
    running > 0 ? `${running} running` : "",
    costUsd > 0 ? dollars(costUsd) : "",
    duration(spent),
    left,
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function endedLine(result: BatchResult, { passed, failed, total }: BatchCounts): string {
  const { id, outcome, durationMs, costUsd, code, text } = result;
  const cost = costUsd === undefined ? "" : ` ${dollars(costUsd)}`;
  const head = `${outcome === "success" ? "✓" : "✗"} ${passed + failed}/${total} ${visible(id)} ${duration(durationMs)}${cost}`;
  return outcome === "success"
    ? head
    : `${head} ${outcome}: ${firstLine(text)}${code === undefined ? "" : ` [${code}]`}`;
}

export function firstLine(text: string): string {
  return cut(visible(text.trim().split("\n")[0] ?? ""), 160);
}
