// RunElsewhere: a LiveRun for a run in another process or on another machine. It sends control lines, and receives events, the
// ends of prompts, and replies. Subclasses provide the transport.
import type { ControlLine } from "./control-lines.ts";
import { UserError } from "./error-codes.ts";
import type { EventOf } from "./event.ts";
import { EventLog, MemoryKeeper } from "./event-log.ts";
import { failedTurn, type OpenPrompt, Prompts, sentOf, userError, withdrawnMessage } from "./prompts.ts";
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

/** Control lines that every client of a run may send. */
export type RunOrder = Exclude<ControlLine, { type: "hello" | "attend" | "answer" | "run_call" | "steer" }>;

/** The reply to the request or prompt with this id. */
type Reply = { id: string; value?: unknown; error?: string | undefined; code?: string | undefined };

export abstract class RunElsewhere implements LiveRun {
  protected readonly log = new EventLog(new MemoryKeeper());
  protected readonly prompts: Prompts;
  protected readonly startedAt = Date.now();
  /** Why the run accepts no more control lines, if that is so. */
  protected stopped: UserError | undefined;
  protected lastEnding: TurnEnding | undefined;
  readonly #openCalls = new Map<string, EventOf<"tool_start">>();
  readonly #requests = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  readonly #name: string;
  #count = 0;

  /** `name` prefixes the ids of prompts and requests, for runs with several clients. */
  constructor(name = "") {
    this.#name = name;
    this.prompts = new Prompts(name);
  }

  abstract readonly chatId: string;
  abstract close(): Promise<void>;
  /** Sends an order. Throws or rejects if it cannot be sent. */
  protected abstract sendOrder(order: RunOrder): Promise<void> | undefined;
  /** Sends a prompt to the run. */
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

  /** Called when a request starts to wait for its reply. */
  protected onAsk(): void {}

  /** Returns why a prompt cannot be sent, or undefined if it can. */
  protected promptFault(_prompt: Prompt): UserError | undefined {
    return undefined;
  }

  protected hand(kind: OpenPrompt["kind"], prompt: Prompt): Sent {
    const item = this.prompts.add(kind, prompt);
    const refusal = this.stopped ?? this.promptFault(prompt);
    if (refusal) this.drop(item, refusal);
    else this.pass(item);
    return sentOf(item, () => this.withdraw(item));
  }

  protected async withdraw(item: OpenPrompt): Promise<boolean> {
    if (!this.prompts.has(item) || this.stopped) return false;
    const isWithdrawn = (await this.#ask({ type: "withdraw", prompt: item.id }).catch(() => false)) === true;
    if (isWithdrawn) this.drop(item, new UserError("INTERRUPTED", withdrawnMessage));
    return isWithdrawn;
  }

  protected drop(item: OpenPrompt, why: { message: string; code?: string }): void {
    this.prompts.end(item, "dropped", failedTurn(why, this.startedAt));
  }

  /** Records an event and shows it to readers, with the number that the run gave it. */
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

  /** Ends the turn and its open calls locally, since the run will not report their end. */
  protected failTurn(ending: TurnEnding): void {
    for (const { type: _type, modelCallId: _call, ...call } of this.#openCalls.values())
      this.log.append({ ...call, type: "tool_end", at: Date.now(), carried: derived });
    this.#openCalls.clear();
    this.lastEnding = ending;
    this.log.append(ending);
  }

  /** Handles the run's report that a prompt is over. */
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

  /** Rejects every pending request, because no reply will come. */
  protected failRequests(why: Error): void {
    for (const { reject } of this.#requests.values()) reject(why);
    this.#requests.clear();
  }

  #say(order: RunOrder): void {
    // if the run has ended, there is nothing left to interrupt or change
    if (!this.stopped) this.sendOrder(order)?.catch(() => {});
  }

  async #ask(order: RunOrder): Promise<unknown> {
    if (this.stopped) throw this.stopped;
    const id = `${this.#name}request-${++this.#count}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#requests.set(id, { resolve, reject }));
    answer.catch(() => {}); // the caller receives the rejection through the returned promise
    try {
      const sent = this.sendOrder({ ...order, id } as RunOrder);
      this.onAsk();
      await sent;
    } catch (error) {
      this.#requests.delete(id);
      throw error;
    }
    return answer;
  }
}
