// Continues an answer that stopped at a limit: sends its beginning back to the model and asks for the rest. Readers see one answer.
import type { Message, Part } from "../protocol/message.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "./provider.ts";

/** How many times a truncated answer is continued. */
const maxContinuations = 8;

export function withContinuation(provider: Provider): Provider {
  return {
    get id() {
      return provider.id;
    },
    async *stream(request) {
      const saidSoFar = new SaidSoFar();
      for (let round = 0; ; round++) {
        const cut = yield* oneAnswer(
          provider,
          round === 0 ? request : continuationRequest(request, saidSoFar, provider.id),
          saidSoFar,
        );
        if (!cut) return;
        saidSoFar.cut = cut;
        if (cut.reason === "model_context_window_exceeded") {
          // Discard the text received so far: the model repeats it once the conversation is shorter.
          yield { type: "retry", attempt: round + 1, reason: describeCut(cut), delayMs: 0 };
          throw new ModelError("MODEL_OVERFLOW", `The conversation is too long for ${request.model}: ${cut.reason}`);
        }
        if (saidSoFar.hasCalls) {
          // Complete calls are run, and the model continues with their results.
          yield* saidSoFar.end();
          return yield notice(`${describeCut(cut)} Its complete calls are run, and it goes on from there.`);
        }
        if (!saidSoFar.grew && cut.call === undefined)
          throw outputCut(
            `${describeCut(cut)} It had said nothing${round > 0 ? " more" : ""}: a lower --effort leaves more of the limit for the answer.`,
          );
        if (round === maxContinuations)
          throw outputCut(
            `${describeCut(cut)} It was continued ${round} times and is still not complete. Ask for less at a time.`,
          );
        yield notice(`${describeCut(cut)} It is continued (${round + 1} of at most ${maxContinuations} times).`);
      }
    },
  };
}

type Cut = Extract<ModelChunk, { type: "cut" }>;

/** Collects the parts of all rounds. The last text stays open, since the next round may continue it. */
class SaidSoFar {
  readonly parts: Part[] = [];
  open = "";
  grew = false;
  cut: Cut | undefined;

  get hasCalls(): boolean {
    return this.parts.some((part) => part.type === "tool_call");
  }

  /** Yields everything again that readers were given as deltas and as parts. */
  *again(): Generator<ModelChunk> {
    const texts = this.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    const text = [...texts, this.open].join("");
    if (text) yield { type: "text", text };
    for (const part of this.parts) yield { type: "part", part };
  }

  *end(): Generator<ModelChunk> {
    if (this.open) yield* this.add({ type: "text", text: this.open });
    this.open = "";
  }

  *add(part: Part): Generator<ModelChunk> {
    this.parts.push(part);
    yield { type: "part", part };
  }
}

/** Passes on the chunks; returns why the answer was cut, if it was. */
async function* oneAnswer(
  provider: Provider,
  request: ModelRequest,
  said: SaidSoFar,
): AsyncGenerator<ModelChunk, Cut | undefined> {
  if (said.cut?.call !== undefined && said.open !== "" && !said.open.endsWith("\n")) {
    // After an incomplete call the model starts a new paragraph instead of continuing its text.
    said.open += "\n\n";
    yield { type: "text", text: "\n\n" };
  }
  const before = { parts: [...said.parts], open: said.open };
  let cut: Cut | undefined;
  said.grew = false;
  try {
    for await (const chunk of provider.stream(request)) {
      if (chunk.type === "cut") {
        cut = chunk;
        continue;
      }
      if (chunk.type === "usage" && !cut) yield* said.end();
      if (chunk.type === "part") {
        const { part } = chunk;
        if (part.type !== "thinking") said.grew = true;
        if (part.type === "text") {
          said.open += part.text;
          continue;
        }
        yield* said.end();
        yield* said.add(part);
        continue;
      }
      yield chunk;
      if (chunk.type !== "retry") continue;
      // Discard only the parts of this round, and keep those of earlier rounds.
      said.parts.splice(0, said.parts.length, ...before.parts);
      said.open = before.open;
      said.grew = false;
      yield* said.again();
    }
  } catch (error) {
    // If the model adds nothing when it is asked to continue, the answer was complete.
    const isOver = error instanceof ModelError && error.code === "MODEL_EMPTY" && said.cut && !said.cut.call;
    if (!isOver) throw error;
  }
  if (!cut) yield* said.end();
  return cut;
}

function continuationRequest(request: ModelRequest, { parts, open, cut }: SaidSoFar, provider: string): ModelRequest {
  const answerParts: Part[] = [...parts, ...(open ? [{ type: "text" as const, text: open }] : [])];
  const answer: Message[] = answerParts.some((part) => part.type === "text")
    ? [{ role: "assistant", parts: answerParts, provider }]
    : [];
  const wish: Message = { role: "user", parts: [{ type: "text", text: continuationPrompt(cut!) }] };
  return { ...request, messages: [...request.messages, ...answer, wish] };
}

function continuationPrompt({ reason, call }: Cut): string {
  if (reason === "pause_turn") return "Continue.";
  if (call !== undefined)
    return `Your answer reached the output limit in the middle of a call of ${call}, which was not run. Go on with less in each call: split the work into several smaller ones.`;
  return "Your answer reached the output limit and was cut. Go on exactly where it stopped, with the next character. Repeat nothing, and say nothing about the interruption.";
}

function describeCut({ reason, call }: Cut): string {
  return `The answer was cut (${reason})${call === undefined ? "" : ` in the middle of a call of ${call}`}.`;
}

function notice(message: string): ModelChunk {
  return { type: "notice", kind: "output_cut", message };
}

function outputCut(message: string): ModelError {
  return new ModelError("OUTPUT_CUT", message);
}
