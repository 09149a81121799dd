// Runs the model and its tools until the model is done. Text is delivered once, and every call runs once.
import { type Check, positive, signal } from "../json/checks.ts";
import { checkOptions } from "../protocol/check-options.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { ContractUsage, TurnCall, TurnEvent, TurnMessage } from "../protocol/turn-contract.ts";
import { assistantMessage, toolMessage } from "../protocol/turn-messages.ts";
import { type CursorAgentModelAdapter, messageList, type Session, type TurnRequest } from "./adapter.ts";
import type { Attempt } from "./attempt.ts";
import { createToolRouter, isRouter, type ToolRouter } from "./tools/router.ts";
import type { SentTurn } from "./turn-attempts.ts";

/** The request of `runTurn`. */
export type RuntimeRequest = {
  messages: readonly TurnMessage[];
  tools?: ToolRouter;
  /** How often the model may be asked. Default: 50. */
  maxSteps?: number;
  /** How often in a row the model may make exactly the same calls. Default: 5. */
  loopLimit?: number;
  signal?: AbortSignal;
};

const runtimeChecks = {
  messages: messageList,
  tools: (value) => (isRouter(value) ? undefined : "must be a router: createToolRouter([…])"),
  maxSteps: positive,
  loopLimit: positive,
  signal,
} satisfies Record<keyof RuntimeRequest, Check>;

/** The result of a tool; follows the `tool_call` that it answers. */
export type ToolResultEvent = { type: "tool_result"; data: { name: string; content: string; isError: boolean } };

/** An event of `runTurn`: of the turn contract, or a tool result. */
export type RuntimeEvent = TurnEvent | ToolResultEvent;

/** The result of `runTurn`. */
export type TurnResult = {
  /** What the model said after its last call. */
  text: string;
  messages: readonly TurnMessage[];
  usage: ContractUsage["data"];
  attempts: readonly Attempt[];
  finishReason?: string;
  /** Set if the turn failed. */
  error?: { code: string; message: string };
};

/** Sends a turn and runs the tools that the model calls, until the model is done. */
export function runTurn(
  adapter: Pick<CursorAgentModelAdapter, "sendTurn">,
  session: Session,
  request: RuntimeRequest,
): RuntimeTurn {
  if (Array.isArray(request))
    throw usageError("runTurn takes an object: runTurn(adapter, session, { messages: […] }), not a list.");
  const example = "adapter, session, { messages: […] }";
  checkOptions("runTurn", request, runtimeChecks, { example, required: "messages" });
  return new RuntimeTurn(adapter, session, request);
}

const defaultMaxSteps = 50;
const maxRepeats = 5;

/** A running turn: iterate its events, or await `result()`. */
export class RuntimeTurn implements AsyncIterable<RuntimeEvent> {
  /** The attempts of all steps, in order. */
  readonly attempts: Attempt[] = [];
  /** The conversation, including what this turn has added. */
  readonly messages: TurnMessage[];
  readonly usage = { promptTokens: 0, completionTokens: 0 };
  readonly #adapter: Pick<CursorAgentModelAdapter, "sendTurn">;
  readonly #session: Session;
  readonly #request: RuntimeRequest;
  readonly #events: AsyncGenerator<RuntimeEvent>;
  #text = "";

  constructor(adapter: Pick<CursorAgentModelAdapter, "sendTurn">, session: Session, request: RuntimeRequest) {
    this.#adapter = adapter;
    this.#session = session;
    this.#request = request;
    this.messages = [...request.messages];
    this.#events = this.#run();
  }

  [Symbol.asyncIterator](): AsyncGenerator<RuntimeEvent> {
    return this.#events;
  }

  /** Reads all events and returns how the turn went. */
  async result(): Promise<TurnResult> {
    let last: RuntimeEvent | undefined;
    for await (const event of this) last = event;
    return {
      text: this.#text,
      messages: this.messages,
      usage: this.usage,
      attempts: this.attempts,
      ...(last?.type === "done" && last.data),
      ...(last?.type === "error" && { error: last.data }),
    };
  }

  async *#run(): AsyncGenerator<RuntimeEvent> {
    const { tools = createToolRouter([]), maxSteps = defaultMaxSteps, loopLimit = maxRepeats, signal } = this.#request;
    let before = "";
    let repeats = 0;
    for (let step = 0; step < maxSteps; step++) {
      const sent = this.#send(step, {
        messages: this.messages,
        tools: tools.list(),
        alsoKnown: tools.known(),
        text: "new",
        signal,
        // Ask the model that answered last first: those that failed before it would fail again.
        preferred: this.attempts.at(-1),
      });
      if (sent instanceof UserError) {
        yield { type: "error", data: { code: sent.code, message: sent.message } };
        return;
      }
      const end = yield* this.#readEvents(sent);
      if (end.type === "error") {
        yield end;
        return;
      }
      // Calls run only after the turn has ended well, and only those of the attempt that succeeded.
      const { text, toolCalls } = sent.attempts.at(-1)!;
      this.#text = text;
      const calls = toolCalls.map((call, index) => ({ id: `call_${step + 1}_${index + 1}`, ...call }));
      this.messages.push(assistantMessage(text, calls));
      if (calls.length === 0) {
        yield end;
        return;
      }
      const callsText = JSON.stringify(toolCalls);
      repeats = callsText === before ? repeats + 1 : 1;
      before = callsText;
      if (repeats > loopLimit) {
        const message = `The model made the same calls ${repeats} times in a row: ${calls.map(({ name }) => name).join(", ")}.`;
        yield { type: "error", data: { code: "LOOP_DETECTED", message } };
        return;
      }
      for (const call of calls) yield* this.#runCall(call, tools);
    }
    const message = `The model still called tools after ${maxSteps} requests. Raise "maxSteps" if it needs more.`;
    yield { type: "error", data: { code: "MAX_TURNS", message } };
  }

  /** The session may be closed while a tool runs: the turn then ends as a cancelled one does. */
  #send(step: number, request: TurnRequest): SentTurn | UserError {
    try {
      return this.#adapter.sendTurn(this.#session, request);
    } catch (error) {
      if (step === 0 || !(error instanceof UserError)) throw error;
      return new UserError(
        "INTERRUPTED",
        `The turn ended after ${step === 1 ? "1 step" : `${step} steps`}. ${error.message}`,
      );
    }
  }

  /** Forwards the events of one step. Its tool calls are held back until it ends. */
  async *#readEvents(sent: SentTurn): AsyncGenerator<RuntimeEvent, Extract<TurnEvent, { type: "done" | "error" }>> {
    let end: Extract<TurnEvent, { type: "done" | "error" }> | undefined;
    try {
      for await (const event of sent) {
        switch (event.type) {
          case "done":
          case "error":
            end = event;
            break;
          case "usage":
            this.usage.promptTokens += event.data.promptTokens;
            this.usage.completionTokens += event.data.completionTokens;
            yield event;
            break;
          case "assistant_delta":
            yield event;
            break;
          case "tool_call":
            break;
        }
      }
    } finally {
      this.attempts.push(...sent.attempts);
    }
    if (end) return end;
    throw new Error("a turn ended without done and without error");
  }

  async *#runCall(call: TurnCall, tools: ToolRouter): AsyncGenerator<RuntimeEvent> {
    const { name, args } = call;
    yield { type: "tool_call", data: { name, args } };
    const { content, isError } = await tools.call(name, args, this.#request.signal && { signal: this.#request.signal });
    this.messages.push(toolMessage(call, content));
    yield { type: "tool_result", data: { name, content, isError } };
  }
}
