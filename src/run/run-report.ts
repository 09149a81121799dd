// Reports what a run did and did not do, and decides whether it counts as a success.
import type { BackgroundShells } from "../agent/background.ts";
import type { UsageBudget } from "../agent/usage-budget.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, BackgroundWork, BudgetUse, MissingServer } from "../protocol/event.ts";
import type { FailReason, RunRequest, TurnEnding } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";
import { oneLine } from "../text/one-line.ts";
import type { Asking } from "./human.ts";

type ReportParts = {
  request: RunRequest;
  background: BackgroundShells;
  spending: UsageBudget;
  asking: Pick<Asking, "waitedMs">;
  /** Returns configured servers that are not connected. */
  missing(): MissingServer[];
  waitMs: number;
  waiting?: Waiting | undefined;
};

export class RunReport {
  readonly #parts: ReportParts;
  #done = 0;
  #isReminded = false;
  #waitedBefore = 0;
  readonly #differences: string[] = [];

  constructor(parts: ReportParts) {
    this.#parts = parts;
  }

  /** Records an event of the turn. Call this for each of them. */
  see(event: AgentEvent): void {
    if (event.type === "tool_end" && event.outcome?.kind === "success") this.#done++;
    if (event.type === "notice" && event.kind === "replay") this.#differences.push(event.message);
  }

  /** Must be called when a turn begins. Throws if a required server is missing. */
  begin(known: readonly string[]): void {
    this.#waitedBefore = this.#parts.asking.waitedMs();
    const missing = this.#parts.missing();
    for (const name of this.#parts.request.requiredServers ?? []) {
      const gone = missing.find((server) => server.name === name);
      if (!gone && known.includes(name)) continue;
      const why = gone ? `${gone.status}${gone.problem ? `, ${gone.problem}` : ""}` : "it is not configured";
      throw new UserError(
        "MCP_UNREACHABLE",
        `--require-mcp ${name}: the server is missing: ${why.replace(/[.?]?$/, ".")}`,
      );
    }
  }

  /** Waits for background commands after a single prompt is answered. If they still run, returns a reminder for the model, once. */
  async unfinished(signal: AbortSignal): Promise<string | undefined> {
    const { background, waitMs, waiting } = this.#parts;
    if (!background.isRunning) return undefined;
    const settle = () => background.settle(waitMs, signal);
    await (waiting ? waiting.during("tool", "in the background", settle) : settle());
    const running = background.list().filter(({ status }) => status === "running");
    if (running.length === 0 || this.#isReminded || signal.aborted) return undefined;
    this.#isReminded = true;
    const names = running.map(({ taskId, command }) => `${taskId} (${oneLine(command, 60)})`);
    const [verb, them] = running.length === 1 ? ["runs", "it"] : ["run", "them"];
    return `${names.join(", ")} still ${verb}. Await ${them}, or stop ${them} with kill: true, then end: what is cut off by the end of the run makes it a failure.`;
  }

  /** Returns the last event of the turn with all fields of the report. */
  async ending(event: TurnEnding): Promise<TurnEnding> {
    const { request, background } = this.#parts;
    const cutOff = request.single ? await background.endAll() : [];
    const work = workOf(background, new Set(cutOff.map(({ taskId }) => taskId)));
    const missing = this.#parts.missing();
    const budget = this.#budget();
    const waitedMs = this.#parts.asking.waitedMs() - this.#waitedBefore;
    const report = {
      ...event,
      ...(waitedMs > 0 && { waitedMs }),
      ...(work.length > 0 && { background: work }),
      ...(missing.length > 0 && { missingServers: missing }),
      ...(budget && { budget }),
    };
    return report.type === "done" ? this.#judgeEnding(report) : report;
  }

  /** Fails a success if background work was cut off or a --fail-on condition was met. */
  #judgeEnding(event: TurnEnding & { type: "done" }): TurnEnding {
    const cutOff = (event.background ?? []).filter(({ status }) => status === "cut_off");
    const faults = (this.#parts.request.failOn ?? []).flatMap(
      (reason) => checks[reason](event, this.#runCounts()) ?? [],
    );
    if (cutOff.length === 0 && faults.length === 0) return event;
    const { type: _type, text: answer, ...ending } = event;
    const isCutOff = cutOff.length > 0 && !this.#parts.request.failOn?.includes("background");
    if (isCutOff && faults.length === 0) {
      const message = `The agent ended while its background work still ran, which was ended with it: ${listWork(cutOff)}. Let it await or stop what it starts, or give it more time with "backgroundWaitMs" in courser.json.`;
      return { type: "fail", message, code: "BACKGROUND_CUT_OFF", answer, ...ending };
    }
    const message = `The run ended, but a --fail-on condition was met: ${faults.join("; ")}.`;
    return { type: "fail", message, code: "NOT_DONE", answer, ...ending };
  }

  #runCounts(): RunCounts {
    return { done: this.#done, differences: this.#differences };
  }

  #budget(): BudgetUse | undefined {
    const { maxTurns, maxCost } = this.#parts.request.limits ?? {};
    if (maxTurns === undefined && maxCost === undefined) return undefined;
    const { replies, cost } = this.#parts.spending;
    return {
      turns: replies,
      ...(maxTurns !== undefined && { max_turns: maxTurns }),
      ...(maxCost !== undefined && { cost_usd: Math.round(cost * 1e6) / 1e6, max_cost_usd: maxCost }),
    };
  }
}

type RunCounts = { done: number; differences: readonly string[] };

/** The checks of --fail-on. Each returns what is wrong, or undefined. */
const checks: Record<FailReason, (event: TurnEnding, counts: RunCounts) => string | undefined> = {
  denied({ denials = [] }) {
    if (denials.length === 0) return undefined;
    return `${denials.length} refused: ${denials.map(({ tool, reason }) => `${tool} (${oneLine(reason, 120)})`).join(", ")}`;
  },
  background({ background = [] }) {
    const bad = background.filter(({ status, exit_code }) => status === "cut_off" || (exit_code ?? 0) !== 0);
    return bad.length === 0 ? undefined : `background work did not end well: ${listWork(bad)}`;
  },
  empty: (_event, { done }) => (done > 0 ? undefined : "nothing was done: no call of a tool succeeded"),
  mcp({ missingServers = [] }) {
    const names = missingServers.map(({ name }) => name);
    return names.length === 0 ? undefined : `MCP servers are missing: ${names.join(", ")}`;
  },
  replay: (_event, { differences: [first] }) => first && `the replay differs: ${oneLine(first, 300)}`,
};

function listWork(work: readonly BackgroundWork[]): string {
  return work
    .map(({ id, command, status, exit_code: code }) => {
      const how = status === "exited" ? `exit code ${code}` : status.replace("_", " ");
      return `${id}, ${how} (${oneLine(command, 80)})`;
    })
    .join(", ");
}

function workOf(background: BackgroundShells, cutOff: ReadonlySet<string>): BackgroundWork[] {
  return background.list().map(({ taskId: id, command, status, exitCode }): BackgroundWork => {
    if (cutOff.has(id)) return { id, command, status: "cut_off" };
    if (status !== "exited") return { id, command, status: status === "killed" ? "stopped" : "running" };
    return { id, command, status, ...(exitCode !== null && { exit_code: exitCode }) };
  });
}
