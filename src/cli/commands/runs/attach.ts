// `runs attach`: shows a background run on this terminal, answers its questions and sends it prompts. Detaching lets it continue.
import { createInterface } from "node:readline";
import { AttachedRun } from "../../../serve/attached-run.ts";
import type { Fleet, RunRecord } from "../../../serve/fleet.ts";
import { startHosts } from "../../../serve/launcher.ts";
import { hasScreen } from "../../has-screen.ts";
import type { Invocation } from "../../main.ts";
import { terminalHuman } from "../../terminal-human.ts";
import { type TerminalLines, terminalLines } from "../../terminal-question.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { chosenRun, launchOf, withFleet } from "./context.ts";
import { createRunScreen } from "./run-lines.ts";

export function attach(invocation: Invocation, words: readonly string[]): Promise<number> {
  return withFleet(invocation, async (fleet, end) =>
    attachTo(invocation, fleet, await chosenRun(fleet, words, invocation), end),
  );
}

/** Shows a run and answers its questions. The caller aborts `end` when the fleet can no longer be reached. */
export async function attachTo(
  invocation: Invocation,
  fleet: Fleet,
  record: RunRecord,
  end?: AbortSignal,
): Promise<number> {
  refuseAgents(invocation, "what people answer");
  const { isatty } = await import("node:tty");
  const isTerminal = isatty(0) && isatty(1);
  if (isTerminal && hasScreen(invocation.env)) return attachScreen(invocation, fleet, record);
  const terminal = isTerminal ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  const lines = terminal && terminalLines(terminal);
  const screen = createRunScreen(record.spec.request.workspace, (text) => process.stdout.write(text));
  const run = new AttachedRun(fleet, record, {
    start: starter(invocation, fleet),
    ...(lines && { human: terminalHuman(lines, screen.line) }),
  });
  if (lines) run.attend();
  const followed = follow(run, screen);
  const leave = () => (terminal ? terminal.close() : void run.close());
  end?.addEventListener("abort", leave, { once: true });
  try {
    terminal?.on("SIGINT", () => terminal.close());
    // Close the run at once, so that closing the terminal does not count as an answer to an open question.
    terminal?.on("close", () => void run.close());
    if (lines) await converse(run, lines, screen);
    else await run.settled;
  } finally {
    terminal?.close();
    await run.close();
    await followed;
  }
  if (run.failure) throw run.failure;
  end?.throwIfAborted();
  const now = await fleet.run(run.runId);
  if (terminal) screen.line(lastWords(invocation, now ?? record));
  return exitCodeAfter(now);
}

/** Attaches with the full-screen interface, as for a run of the terminal's own. */
async function attachScreen(invocation: Invocation, fleet: Fleet, record: RunRecord): Promise<number> {
  const { terminalStart } = await import("../../terminal.ts");
  const { runTerminal } = await import("../../../terminal/index.ts");
  let run: AttachedRun | undefined;
  await runTerminal({
    ...terminalStart(invocation, record.spec.request),
    attachment: {
      open(human) {
        run = new AttachedRun(fleet, record, { start: starter(invocation, fleet), ...(human && { human }) });
        if (human) run.attend();
        return run;
      },
      stop: async (reason) => (await run?.stop(reason)) === true,
    },
  });
  if (run?.failure) throw run.failure;
  const now = await fleet.run(run?.runId ?? record.id);
  process.stdout.write(`${lastWords(invocation, now ?? record)}\n`);
  return exitCodeAfter(now);
}

function starter(invocation: Invocation, fleet: Fleet) {
  return ({ id }: RunRecord) => startHosts(fleet, launchOf(invocation), id);
}

function lastWords({ name }: Invocation, { id, end }: RunRecord): string {
  if (end) return `The run has ended: ${end.outcome}.`;
  return `${id} keeps running in the background. To reattach: ${name} runs attach ${id.slice(0, 12)}`;
}

function exitCodeAfter(run: RunRecord | undefined): number {
  return run?.end && run.end.outcome !== "finished" ? 1 : 0;
}

async function follow(run: AttachedRun, screen: ReturnType<typeof createRunScreen>): Promise<void> {
  for await (const { event, agent } of run.events()) if (agent === undefined) screen.event(event);
}

const idlePrompt = "\n> ";

/** Reads prompts until the user leaves. The run may have ended long before; the next prompt resumes it. */
async function converse(
  run: AttachedRun,
  lines: TerminalLines,
  screen: ReturnType<typeof createRunScreen>,
): Promise<void> {
  screen.line("Ctrl+C or /detach leaves it running, /stop ends it; what you type while it works is sent to it.");
  let isWorking = true;
  const watch = () => {
    isWorking = true;
    void run.settled.then(() => {
      if (run.failure) return lines.close();
      isWorking = false;
      lines.reprompt(idlePrompt);
    });
  };
  watch();
  while (true) {
    const typed = await lines.next(isWorking ? "" : idlePrompt);
    const text = typed?.trim() ?? "";
    if (typed === undefined || /^\/(detach|quit|exit)$/.test(text)) return;
    if (text === "/stop")
      run
        .stop("The run was stopped by its user.")
        .catch((error: Error) => screen.line(`Not stopped: ${error.message}`));
    else if (text !== "" && isWorking) run.steer(text);
    else if (text !== "") {
      isWorking = true;
      void run.send({ text }).ending.then(watch);
    }
  }
}
