// Answers one turn of the contract with a model: streams text at once, and calls only after they were validated.
import { RepeatedText } from "../../adapter/repeated-text.ts";
import type { Provider, ToolSpec } from "../../model/provider.ts";
import { ModelError } from "../../model/provider.ts";
import type { Usage } from "../../protocol/event.ts";
import type { Message, Part, ToolCallPart } from "../../protocol/message.ts";
import { callFault, type Turn, type TurnEvent, toolTable } from "../../protocol/turn-contract.ts";
import { conversationOf } from "../../protocol/turn-input.ts";
import { addUsage, noUsage } from "../../protocol/usage.ts";
import { openProvider } from "../../run/models.ts";
import type { Setup } from "../../run/setup.ts";

/** How many times the model may correct an invalid tool call. */
const maxRepairs = 2;

export async function* answerTurn(setup: Setup, turn: Turn, signal: AbortSignal): AsyncGenerator<TurnEvent> {
  const { model } = setup;
  const { system, messages } = conversationOf(turn);
  const provider = await openProvider(setup, model, {
    sessionId: turn.turnId,
    // Each turn is a separate process: tell the script how many of its replies were already used.
    repliesGiven: turn.messages.filter(({ role }) => role === "assistant").length,
  });
  const tools = turn.tools.map(({ name, schema, description = "" }) => ({ name, description, parameters: schema }));
  const table = toolTable(turn.tools);
  const usage = { promptTokens: 0, completionTokens: 0 };
  let history = messages;
  for (let repairs = 0; ; repairs++) {
    const reply = yield* streamReply(provider, { setup, system, messages: history, tools, signal });
    usage.promptTokens += reply.usage.inputTokens + reply.usage.cacheReadTokens + reply.usage.cacheWriteTokens;
    usage.completionTokens += reply.usage.outputTokens;
    const { calls } = reply;
    const faults = calls.map(({ name, args }) => callFault(name, args, table));
    const fault = faults.find((each) => each !== undefined);
    if (!fault) {
      for (const { name, args } of calls)
        yield { type: "tool_call", data: { name, args: args as Record<string, unknown> } };
      yield { type: "usage", data: usage };
      yield { type: "done", data: { finishReason: calls.length > 0 ? "tool_calls" : "stop" } };
      return;
    }
    if (repairs === maxRepairs) throw new ModelError(fault.code, fault.message);
    // Tell the model what is wrong with its calls. None of the calls in this reply is run.
    const results = calls.map(({ id }, index): Part => {
      const text =
        faults[index]?.message ?? "Not run, because another call in the same reply was invalid. Call it again.";
      return { type: "tool_result", id, text, isError: true };
    });
    history = [...history, { role: "assistant", parts: reply.parts }, { role: "user", parts: results }];
  }
}

type ModelReply = { parts: Part[]; calls: ToolCallPart[]; usage: Usage };

type ModelTurn = {
  setup: Setup;
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  signal: AbortSignal;
};

async function* streamReply(
  provider: Provider,
  { setup: { model }, system, messages, tools, signal }: ModelTurn,
): AsyncGenerator<TurnEvent, ModelReply> {
  let usage = noUsage;
  let parts: Part[] = [];
  let answerText = "";
  let retelling: RepeatedText | undefined;
  const request = {
    model: model.modelId,
    system,
    messages,
    tools,
    signal,
    ...(model.effort && { effort: model.effort }),
  };
  for await (const chunk of provider.stream(request)) {
    switch (chunk.type) {
      case "text": {
        const content = retelling ? retelling.next(chunk.text) : chunk.text;
        answerText += content;
        if (content !== "") yield { type: "assistant_delta", data: { content } };
        break;
      }
      case "part":
        parts.push(chunk.part);
        break;
      case "usage":
        usage = addUsage(usage, chunk.usage);
        break;
      case "retry":
        // The provider restarts the reply, so drop the parts received so far.
        parts = [];
        retelling = new RepeatedText(answerText);
        break;
      case "thinking":
      case "model":
        break;
    }
  }
  return { parts, calls: parts.filter((part) => part.type === "tool_call"), usage };
}
