// The table of export formats. Each gives the text in pieces, so that a long chat need not be held twice.
import type { ChatRecord } from "../store/chats/chat.ts";

export type Exporter = (record: ChatRecord) => Iterable<string>;

/** Loaded when it is chosen. */
export const exporters = {
  markdown: async () => (await import("./markdown.ts")).markdownExport,
  json: async () => (await import("./json.ts")).jsonExport,
  "stream-json": async () => (await import("./stream-json.ts")).streamJsonExport,
  html: async () => (await import("./html.ts")).htmlExport,
} satisfies Record<string, () => Promise<Exporter>>;

export type ExportFormat = keyof typeof exporters;

export const exportFormats = Object.keys(exporters) as ExportFormat[];
