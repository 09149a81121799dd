// Tracks running calls, with those of subagents below the call that started them, and the last output of commands.
import { isObject } from "../../json/object.ts";
import type { AgentEvent, EventOf } from "../../protocol/event.ts";
import { counted } from "../../view/numbers.ts";
import { join, type Painted } from "../painted.ts";
import { bodyIndent, branchLine, type Call, type CardStyle, cardLines, overwritten, runningLines } from "./card.ts";
import { indented } from "./diff-lines.ts";

/** Renders a call that has ended. */
export type EndedCall = (style: CardStyle, now: number) => Painted[];

export interface RunningCalls {
  start(event: EventOf<"tool_start">): void;
  output(event: EventOf<"tool_output">): void;
  end(event: EventOf<"tool_end">): EndedCall;
  /** Handles an event of a subagent. */
  ofAgent(agent: string, event: AgentEvent): void;
  /** Ends a background subagent; returns undefined if it is unknown. */
  endBackground(event: EventOf<"notice">): EndedCall | undefined;
  /** Ends all calls when the turn is over; those still running were cut off. */
  endAll(): EndedCall[];
  /** Mark when the user is asked about a call and has answered; the time between does not count. */
  waits(callId: string, now: number): void;
  answered(callId: string, now: number): void;
  /** Renders at most `rows` lines. Every running call is named, even if there is no room for its output. */
  live(style: CardStyle, now: number, rows: number): Painted[];
  readonly isRunning: boolean;
  readonly isWaiting: boolean;
}

/** Tools that only ask a question; their call ids are not those of the call being asked about. */
const isQuestion = /^(askQuestion|createPlan)$/;

/** The state of a subagent: its running calls, the last ended ones, and the number of all. */
type Agent = { calls: Map<string, Call>; ended: Call[]; count: number };

const shownOutput = 8;
const shownBranches = 5;
/** How many characters of output are kept per command, for the lines shown. */
const maxTail = 16_384;

export function createCalls(): RunningCalls {
  const running = new Map<string, Call>();
  const background = new Map<string, Call>();
  const tails = new Map<string, string>();
  const agents = new Map<string, Agent>();
  /** When each call began to wait for the user, in the order of the questions. */
  const waiting = new Map<string, number>();

  const callFromEvent = ({ callId, tool, args, startedAt, at }: EventOf<"tool_start" | "tool_end">): Call => ({
    callId,
    tool,
    args,
    startedAt: startedAt ?? at,
  });
  const subagentOfCall = ({ tool, args }: Call): Agent | undefined =>
    tool === "task" && isObject(args) && typeof args.agentId === "string" ? agents.get(args.agentId) : undefined;
  const note = (agent: Agent | undefined) => (agent && agent.count > 0 ? counted(agent.count, "call") : undefined);

  /** Renders the last calls of a subagent as branches. */
  function branches(agent: Agent | undefined, style: CardStyle, now: number, indent: number): Painted[] {
    if (!agent) return [];
    const all = [...agent.ended, ...agent.calls.values()].slice(-shownBranches);
    const left = agent.count - all.length;
    const lines = all.flatMap((call, index) => {
      const isLast = index === all.length - 1;
      const line = branchLine(call, style, { now, isLast, width: style.width - indent });
      const below = branches(subagentOfCall(call), style, now, indent + 2);
      return [line, ...below.map((each) => join(style.palette.soft(isLast ? "  " : "│ "), each))];
    });
    return left > 0 ? [style.palette.soft(`… ${counted(left, "call")} before`), ...lines] : lines;
  }

  function asEndedCall(call: Call): EndedCall {
    const agent = subagentOfCall(call);
    return (style, now) => {
      const indent = bodyIndent(style.width);
      const words = note(agent);
      return [
        ...cardLines(call, style, { open: style.isExpanded === true, ...(words !== undefined && { note: words }) }),
        ...indented(branches(agent, style, now, indent), indent),
      ];
    };
  }

  const outputOf = (callId: string): string[] => {
    const tail = tails.get(callId);
    return tail === undefined || tail.trim() === "" ? [] : overwritten(tail.replace(/\n$/, "")).slice(-shownOutput);
  };

  return {
    start(event) {
      running.set(event.callId, callFromEvent(event));
    },
    output({ callId, chunk }) {
      const tail = (tails.get(callId) ?? "") + chunk;
      tails.set(callId, tail.length > maxTail * 2 ? tail.slice(-maxTail) : tail);
    },
    end(event) {
      const { callId, outcome, completedAt, at } = event;
      const call: Call = { ...running.get(callId), ...callFromEvent(event), outcome, endedAt: completedAt ?? at };
      call.startedAt = event.ranAt ?? call.startedAt;
      running.delete(callId);
      waiting.delete(callId);
      tails.delete(callId);
      const agentId = isObject(call.args) && typeof call.args.agentId === "string" ? call.args.agentId : undefined;
      if (
        call.tool === "task" &&
        agentId !== undefined &&
        isObject(outcome?.value) &&
        outcome.value.isBackground === true
      )
        background.set(agentId, { ...call, outcome: undefined, endedAt: undefined });
      return asEndedCall(call);
    },
    ofAgent(id, event) {
      const agent = agents.get(id) ?? { calls: new Map(), ended: [], count: 0 };
      agents.set(id, agent);
      if (event.type === "tool_start") {
        agent.count++;
        agent.calls.set(event.callId, callFromEvent(event));
      }
      if (event.type === "tool_end") {
        const call = agent.calls.get(event.callId) ?? callFromEvent(event);
        agent.calls.delete(event.callId);
        agent.ended = [
          ...agent.ended,
          { ...call, args: event.args, outcome: event.outcome, endedAt: event.completedAt },
        ].slice(-shownBranches);
      }
    },
    endBackground({ fields, at }) {
      const id = typeof fields?.task_id === "string" ? fields.task_id : "";
      const call = background.get(id);
      if (!call) return undefined;
      background.delete(id);
      const outcome =
        fields?.status === "success"
          ? { kind: "success", value: {} }
          : { kind: "error", value: { error: typeof fields?.detail === "string" ? fields.detail : "It failed." } };
      return asEndedCall({ ...call, outcome, endedAt: at });
    },
    endAll() {
      const left = [...running.values()].map((call) =>
        asEndedCall({ ...call, outcome: { kind: "error", value: { error: "It was cut off." } } }),
      );
      running.clear();
      tails.clear();
      for (const id of agents.keys()) if (!background.has(id)) agents.delete(id);
      return left;
    },
    waits(callId, now) {
      waiting.set(callId, now);
    },
    answered(callId, now) {
      const since = waiting.get(callId);
      waiting.delete(callId);
      const call = running.get(callId);
      if (since === undefined || !call) return;
      if (call.startedAt !== undefined) call.startedAt += now - since;
    },
    live: (style, now, rows) => {
      const [asked] = waiting.keys(); // the question itself shows this call
      const indent = bodyIndent(style.width);
      const all = [...running.values()].filter(
        ({ callId, tool }) => callId !== asked && !(asked !== undefined && isQuestion.test(tool)),
      );
      const shownCalls = [...all, ...background.values()].map((call) => {
        const agent = subagentOfCall(call);
        return {
          call,
          words: note(agent),
          output: agent ? [] : outputOf(call.callId), // the steps of a subagent are shown as branches below it
          below: indented(branches(agent, style, now, indent), indent),
        };
      });
      const linesOf = (most: number) =>
        shownCalls.reduce(
          (sum, { output, below }) => sum + 1 + Math.min(output.length, most) + Math.min(below.length, most),
          0,
        );
      let most = shownOutput;
      while (most > 0 && linesOf(most) > rows) most--;
      const left = most > 0 ? 0 : shownCalls.length - Math.max(1, rows);
      const named = left > 0 ? shownCalls.slice(left + 1) : shownCalls;
      const lines = named.flatMap(({ call, words, output, below }) => [
        ...runningLines(call, style, {
          now,
          output: most === 0 ? [] : output.slice(-most),
          isWaiting: waiting.has(call.callId),
          ...(words !== undefined && { note: words }),
        }),
        ...(most === 0 ? [] : below.slice(-most)),
      ]);
      return left > 0 ? [style.palette.soft(`  … ${counted(left + 1, "more call")} running`), ...lines] : lines;
    },
    get isWaiting() {
      return waiting.size > 0;
    },
    get isRunning() {
      return running.size > 0 || background.size > 0;
    },
  };
}
