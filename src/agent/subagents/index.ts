// Subagents: agents that an agent starts for a part of its work, each with its own conversation. They have at most their parent's
// permissions, spend the run's budget, and end with the run.
import { orAborted } from "../../net/or-aborted.ts";
import { settlesWithin } from "../../process/clock.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import type { AgentEvent, Denial } from "../../protocol/event.ts";
import { taskNotice } from "../../protocol/task-call.ts";
import type { ConversationStep } from "../../protocol/tool-shapes.ts";
import { NotRun } from "../../protocol/unless-stopped.ts";
import type { Agent } from "../agent.ts";
import { builtInTools, findTool } from "../tools/index.ts";
import type { UsageBudget } from "../usage-budget.ts";
import { findSubagent, type Subagent } from "./definitions.ts";
import { runSubagent, type SubagentContext } from "./run.ts";

export type SubagentRequest = {
  /** The id of the subagent, either new or of the one to resume. */
  id: string;
  callId: string;
  /** The type of subagent that the model requested. */
  type: string | undefined;
  description: string;
  prompt: string;
  model: string | undefined;
  /** The id of a finished subagent to continue. */
  resume: string | undefined;
  isBackground: boolean;
  isParallel: boolean;
  signal: AbortSignal;
  spending: UsageBudget;
  /** Emits an event of the subagent to the readers of its parent's events. */
  emit(event: AgentEvent): void;
};

/** How a subagent ended: with an answer, or with a `failure`. */
export type SubagentEnd = {
  id: string;
  answer: string;
  failure?: { message: string; isRefused: boolean };
  steps: ConversationStep[];
  durationMs: number;
  denials: readonly Denial[];
  transcriptPath?: string | undefined;
};

export type StartedSubagent = { id: string; outputFile: string };

/** A background subagent that has ended: the notice for the stream, and the text for the model. */
export type EndedSubagent = { notice: AgentEvent; text: string; denials: readonly Denial[] };

export interface Subagents {
  /** Picks the subagent to use. Throws a UserError that the model can act on. */
  choose(type: string | undefined, resume: string | undefined): Subagent;
  run(request: SubagentRequest): Promise<SubagentEnd>;
  start(request: SubagentRequest): StartedSubagent;
  /** Returns the state of a background subagent after a wait; undefined if there is none with this id. */
  look(id: string, wait: { ms: number; stop: boolean; signal: AbortSignal }): Promise<BackgroundLook | undefined>;
  /** Returns the background subagents that have ended since the last call. */
  takeEnded(): EndedSubagent[];
  /** Waits until all have ended, then returns the same. */
  waitForAll(signal: AbortSignal): Promise<EndedSubagent[]>;
  /** Stops all running subagents, and waits until they have stopped. */
  end(): Promise<void>;
}

export type BackgroundLook = {
  isRunning: boolean;
  said: string;
  outputFile: string;
  runningMs: number;
  failed: boolean;
};

type Background = {
  id: string;
  title: string;
  outputFile: string;
  startedAt: number;
  stop: AbortController;
  ended: Promise<void>;
  end?: SubagentEnd;
  isTold: boolean;
};

/** The maximum number of subagents that run at once. Others wait, since concurrent model requests cost money. */
const maxAtOnce = 8;

export function createSubagents(agent: Agent, place: SubagentContext): Subagents {
  const background = new Map<string, Background>();
  const running = new Set<AbortController>();
  const turns = createTurns(maxAtOnce);

  const choose: Subagents["choose"] = (type, resume) => {
    const before = resume === undefined ? undefined : place.chats.typeOf(resume);
    if (resume !== undefined && before === undefined)
      throw usageError(`No subagent with the id ${JSON.stringify(resume.slice(0, 80))} to resume.`);
    const name = before ?? type ?? "generalPurpose";
    const subagent = findSubagent(place.subagents, name);
    const missing = subagent && missingTools(subagent, agent);
    if (subagent && !missing) return subagent;
    const names = place.subagents.filter((each) => !missingTools(each, agent)).map((each) => each.name);
    const why = missing
      ? `The subagent ${name} cannot work here: it needs ${missing.join(", ")}.`
      : `Unknown subagent "${name.slice(0, 80)}".`;
    throw usageError(`${why} Available: ${names.join(", ")}.`);
  };

  const work = async (request: SubagentRequest, controller: AbortController): Promise<SubagentEnd> => {
    const subagent = choose(request.type, request.resume);
    running.add(controller);
    const free = await turns.next();
    try {
      const signal = AbortSignal.any([request.signal, controller.signal]);
      return await runSubagent({ ...request, signal }, { id: request.id, subagent, parent: agent, place });
    } finally {
      free();
      running.delete(controller);
    }
  };

  const notTold = () => [...background.values()].filter((task) => task.end && !task.isTold);
  const takeEnded = () =>
    notTold().map((task): EndedSubagent => {
      task.isTold = true;
      const { id, title } = task;
      const { answer, failure, denials } = task.end!;
      const resultText = failure ? `It failed: ${failure.message}` : answer;
      const text = `The background subagent "${title}" (${id}) has ended.\n${resultText}`;
      const status = failure ? "error" : "success";
      return { notice: taskNotice({ agentId: id, status, title, detail: resultText }), text, denials };
    });

  return {
    choose,
    run: (request) => work(request, new AbortController()),
    start(request) {
      const { id } = request;
      if (background.get(id) && !background.get(id)!.end)
        throw usageError(`The subagent ${id} is still running. Await it first.`);
      choose(request.type, request.resume);
      const stop = new AbortController();
      const output = place.chats.openOutput(id);
      const emit = (event: AgentEvent) => {
        if (event.type === "tool_output") output.write(event.chunk);
      };
      // Questions of a background subagent are not part of the call, which has already ended.
      const task: Background = {
        id,
        title: request.description,
        outputFile: output.path,
        startedAt: Date.now(),
        stop,
        ended: work({ ...request, emit }, stop)
          .catch((error: Error) => endedByError(id, error))
          .then((end) => {
            output.write(`\n${end.failure ? `Failed: ${end.failure.message}` : end.answer}\n`);
            output.close();
            task.end = end;
          }),
        isTold: false,
      };
      background.set(id, task);
      return { id, outputFile: output.path };
    },
    async look(id, { ms, stop, signal }) {
      const task = background.get(id);
      if (!task) return undefined;
      if (stop) task.stop.abort(new UserError("INTERRUPTED", "Stopped by the agent that started it."));
      await waitForEnd(task.ended, stop ? stopMs : ms, signal);
      const { end, outputFile, startedAt } = task;
      if (end) task.isTold = true;
      return {
        isRunning: end === undefined,
        said: end ? (end.failure?.message ?? end.answer) : "",
        outputFile,
        runningMs: Date.now() - startedAt,
        failed: end?.failure !== undefined,
      };
    },
    takeEnded,
    async waitForAll(signal) {
      await waitForEnd(Promise.all([...background.values()].map((task) => task.ended)), undefined, signal);
      signal.throwIfAborted();
      return takeEnded();
    },
    async end() {
      for (const controller of running) controller.abort(new UserError("INTERRUPTED", "The run has ended."));
      await Promise.all([...background.values()].map((task) => task.ended));
      for (const task of background.values()) task.isTold = true;
    },
  };
}

/** Turns an error into a result: the subagent was stopped before it began, or has a bug, which must not end the run. */
function endedByError(id: string, error: Error): SubagentEnd {
  const message = error instanceof NotRun ? error.message : `Unexpected failure, please report it: ${error.message}`;
  const failure = { message, isRefused: false };
  return { id, answer: "", failure, steps: [], durationMs: 0, denials: [] };
}

/** How many milliseconds a stopped subagent may take to finish. */
const stopMs = 5000;

/** Waits until the work has ended, `ms` milliseconds have passed (if given), or the signal aborts. */
async function waitForEnd(work: Promise<unknown>, ms: number | undefined, signal: AbortSignal): Promise<void> {
  const over = orAborted(work, signal).catch(() => {});
  if (ms === undefined) await over;
  else await settlesWithin(over, ms);
}

/** Limits how many subagents run at once. The others wait in order. */
function createTurns(limit: number): { next(): Promise<() => void> } {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const free = () => {
    taken--;
    waiting.shift()?.();
  };
  return {
    async next() {
      if (taken >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
      taken++;
      return free;
    },
  };
}

/** Returns the writing tools that a subagent names if none of them is available here. */
function missingTools({ readOnly, tools = [] }: Subagent, { tools: offered }: Agent): string[] | undefined {
  const changing = readOnly ? [] : tools.filter((name) => findTool(builtInTools, name)?.readOnly === false);
  return changing.length > 0 && !changing.some((name) => findTool(offered, name)) ? changing : undefined;
}
