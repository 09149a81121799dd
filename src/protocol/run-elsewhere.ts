// RunElsewhere: a run in another process or on another machine, as a LiveRun here. What is said to it are control lines; what it says
// comes back as events, as the ends of prompts, and as replies. How lines are carried is for whoever extends it.
import type { ControlLine } from "./control-lines.ts";
import { UserError } from "./error-codes.ts";
import type { AgentEvent } from "./event.ts";
import { EventLog, MemoryKeeper } from "./event-log.ts";
import { failedTurn, type OpenPrompt, Prompts, sentOf, userError } from "./prompts.ts";
import type {
  ContextUse,
  LiveRun,
  PermissionMode,
  Prompt,
  ReasoningEffort,
  Recorded,
  Sent,
  TurnEnding,
} from "./run.ts";
import { derived } from "./stream-json.ts";

type ToolStart = Extract<AgentEvent, { type: "tool_start" }>;

/** What can be said to a run by anybody who may speak to it. */
export type RunOrder = Exclude<ControlLine, { type: "hello" | "attend" | "answer" | "run_call" | "steer" }>;

/** What became of something that has an id. */
type Reply = { id: string; value?: unknown; error?: string | undefined; code?: string | undefined };

export abstract class RunElsewhere implements LiveRun {
  protected readonly log = new EventLog(new MemoryKeeper());
  protected readonly prompts: Prompts;
  protected readonly startedAt = Date.now();
  /** Why nothing is done any more. */
  protected stopped: UserError | undefined;
  /** How the last turn ended. */
  protected lastEnding: TurnEnding | undefined;
  readonly #openCalls = new Map<string, ToolStart>();
  readonly #requests = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #name: string;
  #count = 0;

  /** `name`: for the ids of what is said from here, where others speak to the same run. */
  constructor(name = "") {
    this.#name = name;
    this.prompts = new Prompts(name);
  }

  abstract readonly chatId: string;
  abstract close(): Promise<void>;
  /** Throws, or rejects, where it cannot be told. */
  protected abstract tell(order: RunOrder): Promise<void> | undefined;
  /** The prompt is to be told. */
  protected abstract pass(item: OpenPrompt): void;

  send(prompt: Prompt): Sent {
    return this.hand("prompt", prompt);
  }

  steer(text: string): Sent {
    return this.hand("steer", { text });
  }

  interrupt(why?: string): void {
    this.#say({ type: "interrupt", ...(why && { reason: why }) });
  }

  setMode(mode: PermissionMode): void {
    this.#say({ type: "mode", mode });
  }

  async background(callId: string): Promise<boolean> {
    return (await this.#ask({ type: "background", call: callId })) === true;
  }

  async setModel(model: string, effort?: ReasoningEffort): Promise<void> {
    await this.#ask({ type: "model", model, ...(effort && { effort }) });
  }

  async compact(): Promise<void> {
    await this.#ask({ type: "compact" });
  }

  async rewind(turn: number): Promise<void> {
    await this.#ask({ type: "rewind", turn });
  }

  async context(): Promise<ContextUse> {
    return (await this.#ask({ type: "context" })) as ContextUse;
  }

  async aside(question: string): Promise<string> {
    return (await this.#ask({ type: "aside", text: question })) as string;
  }

  async names(): ReturnType<LiveRun["names"]> {
    return (await this.#ask({ type: "names" })) as Awaited<ReturnType<LiveRun["names"]>>;
  }

  events(from?: number): AsyncIterable<Recorded> {
    return this.log.events(from);
  }

  protected get isAwaited(): boolean {
    return this.#requests.size > 0;
  }

  /** Somebody begins to wait for a reply. */
  protected onAsk(): void {}

  /** Why a prompt cannot be told. */
  protected faultOf(_prompt: Prompt): UserError | undefined {
    return undefined;
  }

  protected hand(kind: OpenPrompt["kind"], prompt: Prompt): Sent {
    const item = this.prompts.add(kind, prompt);
    const refusal = this.stopped ?? this.faultOf(prompt);
    if (refusal) this.drop(item, refusal);
    else this.pass(item);
    return sentOf(item, () => this.withdraw(item));
  }

  protected async withdraw(item: OpenPrompt): Promise<boolean> {
    if (!this.prompts.has(item) || this.stopped) return false;
    const isWithdrawn = (await this.#ask({ type: "withdraw", prompt: item.id }).catch(() => false)) === true;
    if (isWithdrawn) this.drop(item, new UserError("INTERRUPTED", "The prompt was withdrawn."));
    return isWithdrawn;
  }

  protected drop(item: OpenPrompt, why: { message: string; code?: string }): void {
    this.prompts.end(item, "dropped", failedTurn(why, this.startedAt));
  }

  /** Kept and shown, as the run recorded it. */
  protected record({ number, agent, event }: Recorded): void {
    if (agent !== undefined || number === undefined) {
      this.log.show({ ...(agent !== undefined && { agent }), ...(number !== undefined && { number }), event });
    } else this.log.append(event, number);
    if (agent !== undefined) return;
    if (event.type === "tool_start") this.#openCalls.set(event.callId, event);
    if (event.type === "tool_end") this.#openCalls.delete(event.callId);
    if (event.type !== "done" && event.type !== "fail") return;
    this.#openCalls.clear();
    this.lastEnding = event;
  }

  /** The turn ends here, since nobody tells its end any more; so do its calls. */
  protected failTurn(ending: TurnEnding): void {
    for (const { type: _type, modelCallId: _call, ...call } of this.#openCalls.values())
      this.log.append({ ...call, type: "tool_end", at: Date.now(), carried: derived });
    this.#openCalls.clear();
    this.lastEnding = ending;
    this.log.append(ending);
  }

  /** The run says of a prompt that it is over. */
  protected promptEnded({ id, error, code }: Reply, state: "told" | "dropped"): void {
    const item = this.prompts.get(id);
    if (!item) return;
    if (state === "told" && this.lastEnding) this.prompts.end(item, "told", this.lastEnding);
    else this.drop(item, this.stopped ?? userError(code, error ?? "The prompt was dropped."));
  }

  protected replied({ id, value, error, code }: Reply): void {
    const request = this.#requests.get(id);
    this.#requests.delete(id);
    if (error === undefined) request?.resolve(value);
    else request?.reject(userError(code, error));
  }

  /** Rejects every request that still waits for a reply, because none will come. */
  protected failRequests(why: Error): void {
    for (const { reject } of this.#requests.values()) reject(why);
    this.#requests.clear();
  }

  #say(order: RunOrder): void {
    if (!this.stopped) this.tell(order)?.catch(() => {}); // it is over: there is nothing left to interrupt or change
  }

  async #ask(order: RunOrder): Promise<unknown> {
    if (this.stopped) throw this.stopped;
    const id = `${this.#name}request-${++this.#count}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#requests.set(id, { resolve, reject }));
    answer.catch(() => {}); // told to whoever waits for it, below
    try {
      const told = this.tell({ ...order, id } as RunOrder);
      this.onAsk();
      await told;
    } catch (error) {
      this.#requests.delete(id);
      throw error;
    }
    return answer;
  }
}
