// Subagents: agents that an agent starts for a part of its work, with a conversation of their own. They may do what their
// parent may, never more; what they spend is spent by the run; they end with it.
import { orAborted } from "../../net/or-aborted.ts";
import { happensWithin } from "../../process/clock.ts";
import { UserError } from "../../protocol/error-codes.ts";
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
  /** Of the subagent: a new one, or the one to resume. */
  id: string;
  callId: string;
  /** As the model named it. */
  type: string | undefined;
  description: string;
  prompt: string;
  model: string | undefined;
  /** The id of one that ended, to go on with. */
  resume: string | undefined;
  isBackground: boolean;
  isParallel: boolean;
  signal: AbortSignal;
  spending: UsageBudget;
  /** What the parent's watchers shall see. */
  emit(event: AgentEvent): void;
};

/** How one ended. `failure`: instead of an answer. */
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

/** One that was left to itself has ended: what the stream and the model are told. */
export type EndedSubagent = { notice: AgentEvent; text: string; denials: readonly Denial[] };

export interface Subagents {
  /** Which one would it be? Throws UserError with words that the model can act on. */
  choose(type: string | undefined, resume: string | undefined): Subagent;
  run(request: SubagentRequest): Promise<SubagentEnd>;
  start(request: SubagentRequest): StartedSubagent;
  /** Of those that work in the background: what was said since the last look, after a wait; undefined where there is no such one. */
  look(id: string, wait: { ms: number; stop: boolean; signal: AbortSignal }): Promise<BackgroundLook | undefined>;
  /** Those in the background that have ended since the last time this was called. */
  takeEnded(): EndedSubagent[];
  /** The same, after all have ended. */
  waitForAll(signal: AbortSignal): Promise<EndedSubagent[]>;
  /** Stops whatever still works, and waits until it has stopped. */
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

/** More wait for their turn: models are asked side by side, and each of them costs. */
const mostAtOnce = 8;

export function createSubagents(agent: Agent, place: SubagentContext): Subagents {
  const background = new Map<string, Background>();
  const running = new Set<AbortController>();
  const turns = createTurns(mostAtOnce);

  const choose: Subagents["choose"] = (type, resume) => {
    const before = resume === undefined ? undefined : place.chats.typeOf(resume);
    if (resume !== undefined && before === undefined)
      throw new UserError("USAGE", `No subagent with the id ${JSON.stringify(resume.slice(0, 80))} to resume.`);
    const name = before ?? type ?? "generalPurpose";
    const subagent = findSubagent(place.subagents, name);
    const missing = subagent && missingTools(subagent, agent);
    if (subagent && !missing) return subagent;
    const names = place.subagents.filter((each) => !missingTools(each, agent)).map((each) => each.name);
    const why = missing
      ? `The subagent ${name} cannot work here: it needs ${missing.join(", ")}.`
      : `Unknown subagent "${name.slice(0, 80)}".`;
    throw new UserError("USAGE", `${why} Available: ${names.join(", ")}.`);
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
      const said = failure ? `It failed: ${failure.message}` : answer;
      const text = `The background subagent "${title}" (${id}) has ended.\n${said}`;
      const status = failure ? "error" : "success";
      return { notice: taskNotice({ agentId: id, status, title, detail: said }), text, denials };
    });

  return {
    choose,
    run: (request) => work(request, new AbortController()),
    start(request) {
      const { id } = request;
      if (background.get(id) && !background.get(id)!.end)
        throw new UserError("USAGE", `The subagent ${id} is still running. Await it first.`);
      choose(request.type, request.resume);
      const stop = new AbortController();
      const output = place.chats.openOutput(id);
      const emit = (event: AgentEvent) => {
        if (event.type === "tool_output") output.write(event.chunk);
      };
      // Questions of one that works in the background are not part of the call, which has ended.
      const task: Background = {
        id,
        title: request.description,
        outputFile: output.path,
        startedAt: Date.now(),
        stop,
        ended: work({ ...request, emit }, stop)
          .catch((error: Error) => ended(id, error))
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
      await settled(task.ended, stop ? stopMs : ms, signal);
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
      await settled(Promise.all([...background.values()].map((task) => task.ended)), undefined, signal);
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

/** One that was stopped before it began; and a bug in one must not take the run with it. */
function ended(id: string, error: Error): SubagentEnd {
  const message = error instanceof NotRun ? error.message : `Unexpected failure, please report it: ${error.message}`;
  const failure = { message, isRefused: false };
  return { id, answer: "", failure, steps: [], durationMs: 0, denials: [] };
}

/** A run that is stopped waits so long for what it said last. */
const stopMs = 5000;

/** Without a time: until it has ended, or nobody waits any more. */
async function settled(work: Promise<unknown>, ms: number | undefined, signal: AbortSignal): Promise<void> {
  const over = orAborted(work, signal).catch(() => {});
  if (ms === undefined) await over;
  else await happensWithin(over, ms);
}

/** So many at once; the others wait in the order in which they came. */
function createTurns(most: number): { next(): Promise<() => void> } {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const free = () => {
    taken--;
    waiting.shift()?.();
  };
  return {
    async next() {
      if (taken >= most) await new Promise<void>((resolve) => waiting.push(resolve));
      taken++;
      return free;
    },
  };
}

/** The tools by which one changes things, where it names some and has none of them here. */
function missingTools({ readOnly, tools = [] }: Subagent, { tools: offered }: Agent): string[] | undefined {
  const changing = readOnly ? [] : tools.filter((name) => findTool(builtInTools, name)?.readOnly === false);
  return changing.length > 0 && !changing.some((name) => findTool(offered, name)) ? changing : undefined;
}
