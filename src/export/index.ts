// Lists the export formats, and implements those that are JSON. Each yields text in pieces, so that a long chat is not held twice.
import { resultText } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { encodeEvent } from "../protocol/stream-json.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import { type UnifiedContent, type UnifiedMessage, unifiedChat } from "../sdk/unified.ts";
import type { ChatRecord } from "../store/chats/chat.ts";

export type Exporter = (record: ChatRecord) => Iterable<string>;

/** The exporters by format. Each is loaded only when it is used. */
export const exporters = {
  markdown: async () => (await import("./markdown.ts")).markdownExport,
  json: async () => jsonExport,
  "stream-json": async () => streamJsonExport,
  html: async () => (await import("./html.tsx")).htmlExport,
  atif: async () => (await import("./atif.ts")).atifExport,
} satisfies Record<string, () => Promise<Exporter>>;

export type ExportFormat = keyof typeof exporters;

export const exportFormats = Object.keys(exporters) as ExportFormat[];

/** Exports the metadata, the turns, and the messages in the format shared by all agent CLIs. */
function* jsonExport(record: ChatRecord): Generator<string> {
  const { metadata, turns, problems } = record;
  const { folder: _folder, ...session } = metadata;
  const start = JSON.stringify({ session, turns, problems }, null, 2);
  yield `${start.slice(0, -2)},\n  "messages": [`;
  let separator = "\n";
  for (const message of unifiedChat(record)) {
    const text = JSON.stringify(withoutOriginal(message), null, 2).replaceAll("\n", "\n    ");
    yield `${separator}    ${text}`;
    separator = ",\n";
  }
  yield "\n  ]\n}\n";
}

/** Leaves out data that only a vendor can read, and copies of the message. */
function withoutOriginal({ _original, ...message }: UnifiedMessage): Omit<UnifiedMessage, "_original"> {
  return { ...message, content: message.content.map(withoutOpaque) };
}

function withoutOpaque(block: UnifiedContent): UnifiedContent {
  if (!("opaque" in block)) return block;
  const { opaque: _, ...rest } = block;
  return rest;
}

/** Exports the stream lines of the chat's runs, one run after another. */
function* streamJsonExport(record: ChatRecord): Generator<string> {
  let problems: AgentEvent[] = record.problems.map(({ message }) => ({ type: "notice", kind: "damaged", message }));
  for (const { events } of rebuildEvents(record)) {
    for (const event of events) {
      // Text deltas are left out, because later events repeat the whole text.
      yield toJsonLine(event);
      if (event.type !== "init") continue;
      for (const problem of problems) yield toJsonLine(problem);
      problems = [];
    }
  }

  function toJsonLine(event: AgentEvent): string {
    // Use the chat's own id, since the events of a copied chat contain the id of its original.
    const ownEvent = event.type === "init" ? { ...event, sessionId: record.metadata.id } : event;
    const exportedEvent = ownEvent.type === "fail" ? { ...ownEvent, message: resultText(ownEvent.message) } : ownEvent;
    const encoded = encodeEvent(exportedEvent, record.metadata.id);
    return encoded ? `${JSON.stringify(encoded)}\n` : "";
  }
}
