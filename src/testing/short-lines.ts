// Shortens and expands the lines of a recording: they are written without what earlier lines already say.
import { withoutKeys } from "../json/object.ts";
import type { AgentEvent, EventOf } from "../protocol/event.ts";
import type { DeltasLine, RecordingLine, ReplyLine, RequestLine } from "./recording.ts";

/** Fields that are the same at the start and at the end of a call. */
const ofTheCall = ["tool", "args", "modelCallId", "startedAt"] as const;

/** Remembers what earlier lines of a file contain. Use one object per file, for writing or reading its lines in order. */
export class SaidBefore {
  readonly #calls = new Map<string, EventOf<"tool_start">>();
  #deltas: DeltasLine | undefined;
  /** All text of the model since the prompt. */
  #text = "";
  readonly #provider: string;

  constructor(modelId: string) {
    this.#provider = usualProvider(modelId);
  }

  shortened(line: RecordingLine): object {
    if ("request" in line) return line.tools ? { ...line, tools: toolsText(line.tools) } : line;
    if ("reply" in line) return line.provider === this.#provider ? withoutKeys(line, ["provider"]) : line;
    if (!("event" in line)) return this.#noted(line);
    const { event, ...rest } = line;
    const written = { event: this.#withoutText(event), ...rest };
    this.#noted(line);
    return written;
  }

  whole(line: RecordingLine): RecordingLine {
    if ("request" in line) return withTools(line);
    if ("reply" in line && this.#provider !== "") return { provider: this.#provider, ...line } satisfies ReplyLine;
    if (!("event" in line)) return this.#noted(line);
    return this.#noted({ ...line, event: this.#withText(line.event) });
  }

  #withoutText(event: AgentEvent): object {
    const { type, ...rest } = event;
    if (type === "tool_end") {
      const start = this.#calls.get(event.callId);
      const isSame = start && ofTheCall.every((name) => JSON.stringify(start[name]) === JSON.stringify(event[name]));
      return isSame ? { type, ...withoutKeys(rest, ofTheCall) } : event;
    }
    const known = this.#expectedText(event);
    return known !== undefined && known === (event as { text?: string }).text
      ? { type, ...withoutKeys(rest, ["text"]) }
      : event;
  }

  #withText(event: AgentEvent): AgentEvent {
    if (event.type === "tool_end") {
      const start = this.#calls.get(event.callId);
      if (event.tool !== undefined || !start) return event;
      const call = Object.fromEntries(ofTheCall.flatMap((name) => (name in start ? [[name, start[name]]] : [])));
      const { type, callId, ...rest } = event;
      return { type, callId, ...call, ...rest } as EventOf<"tool_end">;
    }
    const known = this.#expectedText(event);
    const { type, ...rest } = event;
    return known !== undefined && (event as { text?: string }).text === undefined
      ? ({ type, text: known, ...rest } as AgentEvent)
      : event;
  }

  /** Returns the text of an event whose line has none, because earlier lines contain it. */
  #expectedText({ type }: AgentEvent): string | undefined {
    if (type === "text_end") return this.#deltas?.deltas === "text" ? this.#deltas.text : undefined;
    return type === "done" ? this.#text : undefined;
  }

  #noted<Line extends RecordingLine>(line: Line): Line {
    if ("deltas" in line) this.#deltas = line;
    if (!("event" in line)) return line;
    const { event } = line;
    if (event.type === "user") this.#text = "";
    if (event.type === "text_end") this.#text += event.text;
    if (event.type === "tool_start") this.#calls.set(event.callId, event);
    if (event.type === "tool_end") this.#calls.delete(event.callId);
    return line;
  }
}

/** The provider of a reply that names none: `script` for `script:FILE`, `openai` for `openai/gpt-5`. */
function usualProvider(modelId: string): string {
  return /^[^:/]*/.exec(modelId)![0];
}

/** Formats tool names as one text, separated by blanks, which names do not contain. */
function toolsText(tools: Readonly<Record<string, string>>): string {
  return Object.entries(tools)
    .map((tool) => tool.join(" "))
    .join(", ");
}

function withTools(line: RequestLine): RequestLine {
  const tools: unknown = line.tools;
  if (typeof tools !== "string") return line;
  const pairs = tools.split(", ").map((tool) => tool.split(" ") as [string, string]);
  return { ...line, tools: tools === "" ? {} : Object.fromEntries(pairs) };
}
