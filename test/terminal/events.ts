// Events of a run, made short: for tests that show them.
import type { AgentEvent, Outcome } from "../../src/protocol/event.ts";
import type { Recorded } from "../../src/protocol/run.ts";
import { createPalette, type Painted, plainText } from "../../src/terminal/painted.ts";
import { createTranscript, type Transcript, type TranscriptOptions } from "../../src/terminal/transcript/index.ts";

export const workspace = "/repo";

/** A call from start to end. */
export function call(
  tool: string,
  args: object,
  outcome: Outcome,
  more: { ms?: number; agent?: string; id?: string } = {},
): Recorded[] {
  const { ms = 10, agent, id = `${tool}-${JSON.stringify(args).length}` } = more;
  const frame = { callId: id, tool, args, startedAt: 1000 };
  return [
    { type: "tool_start", ...frame, at: 1000 },
    { type: "tool_end", ...frame, outcome, completedAt: 1000 + ms, at: 1000 + ms },
  ].map((event) => ({ event: event as AgentEvent, ...(agent !== undefined && { agent }) }));
}

export function success(value: object): Outcome {
  return { kind: "success", value };
}

/** Deltas of a few characters, then the whole. */
export function said(text: string, size = 5): Recorded[] {
  const deltas: Recorded[] = [];
  for (let at = 0; at < text.length; at += size)
    deltas.push({ event: { type: "text", text: text.slice(at, at + size) } });
  return [...deltas, { event: { type: "text_end", text } }];
}

export async function openTranscript(
  options: Partial<Pick<TranscriptOptions, "palette" | "now" | "display" | "isExpanded">> = {},
): Promise<Transcript> {
  const transcript = createTranscript({
    palette: createPalette({ depth: 24, dark: true }),
    workspace,
    home: "/home/me",
    ...options,
  });
  await transcript.load();
  return transcript;
}

/** What is committed by these events, without colours. */
export async function shown(events: readonly Recorded[], columns = 82, options = {}): Promise<string[]> {
  return (await painted(events, columns, options)).map(plainText);
}

export async function painted(events: readonly Recorded[], columns = 82, options = {}): Promise<Painted[]> {
  const transcript = await openTranscript(options);
  for (const event of events) transcript.event(event);
  return transcript.takeCommitted(columns);
}
