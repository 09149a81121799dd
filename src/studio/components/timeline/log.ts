// TimelineLog: turns events into blocks. Each event touches only the blocks it concerns, however many there are.
import { isObject, textIn } from "../../../json/object.ts";
import type { AgentEvent, EventOf } from "../../../protocol/event.ts";
import type { Recorded } from "../../../protocol/run.ts";
import { outcomeGroupOf } from "../../../protocol/tool-calls.ts";
import { costOfEnding } from "../../../protocol/usage.ts";
import { TurnClock, type TurnTimes } from "../../../view/turn-clock.ts";
import type { Block, BlockBody, Picture, ToolCall, TurnNumbers } from "./blocks.ts";

/** How many characters at the end of a running call's output are kept. */
const maxOutput = 100_000;

/** Converts events to blocks. `blocks` and `turns` grow in place; a changed block is replaced by a new object. */
export class TimelineLog {
  readonly blocks: readonly Block[];
  readonly turns: readonly TurnNumbers[];
  /** A number that increases with every change. */
  version = 0;
  init: EventOf<"init"> | undefined;
  /** The current mode, as far as the events tell; `model` likewise. */
  mode: string | undefined;
  model: string | undefined;

  readonly #blocks: Block[] = [];
  readonly #turns: TurnNumbers[] = [];
  readonly #listeners = new Set<() => void>();
  /** The index of each call's block. */
  readonly #calls = new Map<string, number>();
  readonly #running = new Set<string>();
  readonly #subagents = new Map<string, { log: TimelineLog; callId: string | undefined }>();
  readonly #asked = new Map<string | number, string | undefined>();
  readonly #idPrefix: string;
  readonly #firstTurn: number;
  #turn: TurnNumbers | undefined;
  #clock = new TurnClock();
  #ordinal = 0;
  #openText: number | undefined;
  #openThinking: number | undefined;

  /** `firstTurn` is for a session that is not read from its beginning. */
  constructor({ idPrefix = "turn-", firstTurn = 1 }: { idPrefix?: string; firstTurn?: number } = {}) {
    this.#idPrefix = idPrefix;
    this.#firstTurn = firstTurn;
    this.blocks = this.#blocks;
    this.turns = this.#turns;
  }

  /** Whether a turn is running. */
  get isWorking(): boolean {
    return this.#turn !== undefined;
  }

  /** Returns how the time of the current turn was spent so far. */
  timesNow(now: number): TurnTimes {
    return this.#clock.times(now);
  }

  /** The tool calls that are running, newest last. */
  get running(): readonly ToolCall[] {
    return [...this.#running].flatMap((id) => this.#call(id) ?? []);
  }

  get isAsking(): boolean {
    return this.#asked.size > 0;
  }

  /** Calls `listener` after every change. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  append(...recorded: readonly (Recorded | AgentEvent)[]): this {
    for (const each of recorded) {
      if ("type" in each) this.#take(each);
      else if (each.agent === undefined) this.#take(each.event);
      else this.#takeOfSubagent(each.agent, each.event);
    }
    this.version++;
    for (const listener of this.#listeners) listener();
    return this;
  }

  /** Adds pictures to a call, by its id, or to the prompt of a turn, by its number, since events contain only text. */
  showPictures(of: string | number, pictures: readonly Picture[]): void {
    const index = this.#blocks.findLastIndex((each) => each.type === "user" && !each.isAside && each.turn === of);
    const block = this.#blocks[index];
    if (typeof of === "string") this.#change(of, (call) => ({ ...call, pictures }));
    else if (block?.type === "user") this.#replace(index, { ...block, pictures });
    this.version++;
    for (const listener of this.#listeners) listener();
  }

  hasCall(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Returns the index of the block or call with this id. */
  find(id: string): number {
    return this.#calls.get(id) ?? this.#blocks.findIndex((block) => block.id === id || memberOf(block, id));
  }

  #take(event: AgentEvent): void {
    const { at } = event;
    this.#clock.take(event);
    switch (event.type) {
      case "init":
        this.init = event;
        this.mode = event.permissionMode;
        this.model = event.model;
        return;
      case "user":
        this.#takeUser(event);
        return;
      case "thinking": {
        const open = this.#openThinking === undefined ? undefined : this.#blocks[this.#openThinking];
        if (open?.type === "thinking") this.#replace(this.#openThinking!, { ...open, text: open.text + event.text });
        else this.#openThinking = this.#push({ type: "thinking", text: event.text, isOpen: true, startedAt: at }, at);
        return;
      }
      case "thinking_end":
        this.#endThinking(at, event.text);
        return;
      case "text": {
        this.#endThinking(at);
        const open = this.#openText === undefined ? undefined : this.#blocks[this.#openText];
        if (open?.type === "text") this.#replace(this.#openText!, { ...open, text: open.text + event.text });
        else this.#openText = this.#push({ type: "text", text: event.text, isOpen: true }, at);
        return;
      }
      case "text_end":
        this.#endText(event.text, at, event.cut);
        return;
      case "tool_start":
        this.#startCall(event);
        return;
      case "tool_output":
        this.#change(event.callId, (call) => ({
          ...call,
          output: ((call.output ?? "") + event.chunk).slice(-maxOutput),
        }));
        return;
      case "tool_end":
        this.#endCall(event);
        return;
      case "ask": {
        const callId = isObject(event.query) ? event.query.toolCallId : undefined;
        this.#asked.set(event.id, typeof callId === "string" ? callId : undefined);
        if (typeof callId === "string") this.#change(callId, (call) => ({ ...call, isAsked: true }));
        return;
      }
      case "answer": {
        const callId = this.#asked.get(event.id);
        this.#asked.delete(event.id);
        if (callId !== undefined) this.#change(callId, (call) => ({ ...call, isAsked: false }));
        return;
      }
      case "retry": {
        if (event.discards) this.#discardOpen();
        else this.#endText(undefined, at);
        const message = `The request was retried${event.reason ? `: ${event.reason}` : "."}`;
        this.#push({ type: "notice", kind: "retry", message }, at);
        return;
      }
      case "notice":
        if (event.kind === "mode_change") this.mode = textIn(event.fields, "permissionMode") ?? this.mode;
        if (event.kind === "model_change") this.model = textIn(event.fields, "model") ?? this.model;
        // Hide notices without text, which other CLIs emit in large numbers.
        if (event.message !== "") this.#push({ type: "notice", kind: event.kind, message: event.message }, at);
        return;
      case "done":
      case "fail":
        this.#endTurn(event);
        return;
      case "other":
        return;
    }
  }

  #takeUser({ text, at }: EventOf<"user">): void {
    if (this.#turn) {
      this.#endText(undefined, at);
      this.#push({ type: "user", text, isAside: true }, at);
      return;
    }
    const number = this.#firstTurn + this.#turns.length;
    this.#turn = {
      ...{ number, prompt: text, durationMs: 0, modelMs: 0, toolMs: 0, waitMs: 0, calls: 0, changed: [] },
      state: "running",
      ...(at !== undefined && { startedAt: at }),
    };
    this.#turns.push(this.#turn);
    this.#clock = new TurnClock();
    this.#clock.times(at);
    this.#ordinal = 0;
    this.#push({ type: "user", text }, at);
  }

  #endThinking(at: number | undefined, whole?: string): void {
    const index = this.#openThinking;
    this.#openThinking = undefined;
    const open = index === undefined ? undefined : this.#blocks[index];
    if (open?.type === "thinking") {
      const { isOpen: _, ...rest } = open;
      const took = at !== undefined && open.startedAt !== undefined ? { durationMs: at - open.startedAt } : {};
      this.#replace(index!, { ...rest, text: whole ?? open.text, ...took });
    } else if (whole) this.#push({ type: "thinking", text: whole }, at);
  }

  #endText(whole: string | undefined, at: number | undefined, isCut?: boolean): void {
    this.#endThinking(at);
    const index = this.#openText;
    this.#openText = undefined;
    const cut = isCut ? { isCut } : {};
    const open = index === undefined ? undefined : this.#blocks[index];
    if (open?.type === "text") {
      const { isOpen: _, ...rest } = open;
      this.#replace(index!, { ...rest, text: whole ?? open.text, ...cut });
    } else if (whole !== undefined && whole.trim() !== "") this.#push({ type: "text", text: whole, ...cut }, at);
  }

  /** Removes open text at the end, which will be sent again; open text elsewhere is marked as cut. */
  #discardOpen(): void {
    const open = [this.#openText, this.#openThinking].filter((index) => index !== undefined);
    for (const index of open.sort((one, other) => other - one)) {
      if (index === this.#blocks.length - 1) {
        this.#blocks.pop();
        this.#ordinal--;
      } else if (this.#blocks[index]!.type === "text")
        this.#replace(index, { ...this.#blocks[index]!, isCut: true } as Block);
    }
    this.#openText = undefined;
    this.#openThinking = undefined;
  }

  #startCall(event: EventOf<"tool_start" | "tool_end">): void {
    this.#endText(undefined, event.at);
    const { callId, tool, args, description } = event;
    const startedAt = event.startedAt ?? (event.type === "tool_start" ? event.at : undefined);
    const call: ToolCall = { callId, tool, args, isRunning: true };
    if (description !== undefined) call.description = description;
    if (startedAt !== undefined) call.startedAt = startedAt;
    if (this.#asked.size > 0 && [...this.#asked.values()].includes(callId)) call.isAsked = true;
    this.#calls.set(callId, this.#joinQuiet(call) ?? this.#push({ type: "call", call }, event.at));
    this.#running.add(callId);
    if (this.#turn) this.#turn.calls++;
    if (tool === "task") this.#joinSubagent(call);
  }

  #endCall(event: EventOf<"tool_end">): void {
    if (!this.#calls.has(event.callId)) this.#startCall(event);
    const { callId, tool, args, outcome } = event;
    const endedAt = event.completedAt ?? event.at;
    this.#running.delete(callId);
    this.#change(callId, (known) => {
      const call: ToolCall = { callId, tool, args };
      const { description = event.description, startedAt } = known;
      if (description !== undefined) call.description = description;
      const beganAt = event.ranAt ?? event.startedAt ?? startedAt;
      if (beganAt !== undefined) call.startedAt = beganAt;
      if (outcome) call.outcome = outcome;
      if (endedAt !== undefined) call.endedAt = endedAt;
      if (known.output !== undefined) call.output = known.output;
      if (known.steps) call.steps = known.steps;
      if (known.pictures) call.pictures = known.pictures;
      return call;
    });
    if (!this.#turn) return;
    const path = isObject(args) ? args.path : undefined;
    const isChange = /^(edit|write|delete)$/.test(tool) && outcomeGroupOf(outcome) === "ok";
    if (isChange && typeof path === "string" && !this.#turn.changed.includes(path))
      this.#turn.changed = [...this.#turn.changed, path];
  }

  #endTurn(event: EventOf<"done" | "fail">): void {
    this.#endText(undefined, event.at);
    for (const callId of this.#running) this.#change(callId, ({ isRunning: _, isAsked: __, ...call }) => call);
    this.#running.clear();
    this.#asked.clear();
    const times = this.#clock.times();
    const waited = times.waitMs > 0 ? { waitMs: times.waitMs } : {};
    this.#push({ type: "ending", ending: event, changed: this.#turn?.changed.length ?? 0, ...waited }, event.at);
    const turn = this.#turn;
    this.#turn = undefined;
    if (!turn) return;
    Object.assign(turn, times);
    turn.durationMs = event.durationMs;
    turn.modelMs = event.apiDurationMs;
    if (event.usage) turn.usage = event.usage;
    if (event.context) turn.context = event.context;
    const cost = costOfEnding(event);
    if (cost !== undefined) turn.costUsd = cost;
    turn.state = event.type === "done" ? "done" : event.code === "INTERRUPTED" ? "interrupted" : "failed";
  }

  #takeOfSubagent(agent: string, event: AgentEvent): void {
    const known = this.#subagents.get(agent) ?? this.#adopt(agent);
    known.log.append(event);
    if (known.callId !== undefined) this.#change(known.callId, (call) => ({ ...call, steps: known.log.blocks }));
  }

  /** Assigns a subagent to the task call that names it, or to the last one without a subagent. */
  #adopt(agent: string) {
    const own = [...this.#calls.keys()].reverse().find((id) => {
      const call = this.#call(id);
      return call?.tool === "task" && (subagentId(call) === agent || (subagentId(call) === undefined && !call.steps));
    });
    const index = own === undefined ? -1 : this.#calls.get(own)!;
    const subagent = { log: new TimelineLog({ idPrefix: `${this.#blocks[index]?.id ?? agent}/` }), callId: own };
    this.#subagents.set(agent, subagent);
    return subagent;
  }

  #joinSubagent(call: ToolCall): void {
    const agent = subagentId(call);
    const subagent = agent === undefined ? undefined : this.#subagents.get(agent);
    if (!subagent || subagent.callId !== undefined) return;
    subagent.callId = call.callId;
    this.#change(call.callId, (known) => ({ ...known, steps: subagent.log.blocks }));
  }

  /** Merges a read-only call into the previous read-only block. Returns undefined if it needs a block of its own. */
  #joinQuiet(call: ToolCall): number | undefined {
    const index = this.#blocks.length - 1;
    const last = this.#blocks[index];
    const turn = this.#turns.at(-1)?.number;
    if (!last || last.turn !== turn || !quietTools.has(call.tool)) return undefined;
    if (last.type !== "calls" && (last.type !== "call" || !quietTools.has(last.call.tool))) return undefined;
    const before = last.type === "calls" ? last.calls : [{ id: last.id, call: last.call }];
    const { id, at } = last;
    const member = { id: `${this.#idPrefix}${turn}.${++this.#ordinal}`, call };
    this.#replace(index, { type: "calls", calls: [...before, member], id, turn, ...(at !== undefined && { at }) });
    return index;
  }

  #call(callId: string): ToolCall | undefined {
    const block = this.#blocks[this.#calls.get(callId) ?? -1];
    if (block?.type === "calls") return block.calls.find(({ call }) => call.callId === callId)?.call;
    return block?.type === "call" ? block.call : undefined;
  }

  #change(callId: string, change: (call: ToolCall) => ToolCall): void {
    const index = this.#calls.get(callId);
    const block = index === undefined ? undefined : this.#blocks[index];
    if (block?.type === "calls") {
      const calls = block.calls.map((each) =>
        each.call.callId === callId ? { id: each.id, call: change(each.call) } : each,
      );
      this.#replace(index!, { ...block, calls });
      return;
    }
    if (block?.type !== "call") return;
    const { id, turn, at } = block;
    const changed: Block = { type: "call", call: change(block.call), id, turn };
    if (at !== undefined) changed.at = at;
    this.#replace(index!, changed);
  }

  /** Adds a block. `body` is modified and becomes that block, so the caller must not use it elsewhere. */
  #push(body: BlockBody, at: number | undefined): number {
    const turn = this.#turns.at(-1)?.number ?? this.#firstTurn - 1;
    const block = body as Block;
    const isPrompt = body.type === "user" && !body.isAside;
    block.id = isPrompt ? this.#idPrefix + turn : `${this.#idPrefix}${turn}.${++this.#ordinal}`;
    block.turn = turn;
    if (at !== undefined) block.at = at;
    return this.#blocks.push(block) - 1;
  }

  #replace(index: number, block: Block): void {
    this.#blocks[index] = block;
  }
}

/** Tools that only read, whose calls readers seldom look for. */
const quietTools = new Set(["read", "ls", "glob", "grep", "semSearch"]);

function memberOf(block: Block, id: string): boolean {
  return block.type === "calls" && block.calls.some((each) => each.id === id);
}

function subagentId({ args }: ToolCall): string | undefined {
  return isObject(args) && typeof args.agentId === "string" ? args.agentId : undefined;
}

/** Builds the timeline of a complete session. */
export function timelineOf(events: Iterable<Recorded | AgentEvent>): TimelineLog {
  const log = new TimelineLog();
  for (const event of events) log.append(event);
  return log;
}
