// Exports a chat as Markdown, to read, paste and keep. Content of the chat cannot break out of its place.
import type { ChatRecord } from "../store/chats/chat.ts";
import { escapeHtml } from "./escape-html.ts";
import { fenced, inlineCode, plainInline } from "./markdown-text.ts";
import { sealed } from "./sealed-markdown.ts";
import type { Picture, Transcript, TranscriptCall, TranscriptItem, TranscriptTurn } from "./transcript.ts";
import { aboutTurn, durationText, firstLine, timeText, tokensText, transcriptOf } from "./transcript.ts";

export function* markdownExport(record: ChatRecord): Generator<string> {
  const transcript = transcriptOf(record);
  yield head(transcript);
  for (const turn of transcript.turns) yield turnText(turn);
}

function head(transcript: Transcript): string {
  const { id, title, workspace, model, createdAt, updatedAt, turns, usage, problems } = transcript;
  const rows = [
    ["Chat", inlineCode(id)],
    workspace !== undefined && ["Workspace", inlineCode(workspace)],
    model !== undefined && ["Model", plainInline(model)],
    ["Time", `${timeText(createdAt)} to ${timeText(updatedAt)}`],
    ["Turns", String(turns.length)],
    usage && ["Tokens", tokensText(usage)],
  ].filter((row) => Array.isArray(row));
  const table = ["| | |", "| --- | --- |", ...rows.map(([name, value]) => `| ${name} | ${value} |`)];
  const warning =
    problems.length > 0
      ? [
          "",
          "> **This chat is damaged; what could be read follows.**",
          ">",
          ...problems.map((each) => `> - ${plainInline(each)}`),
        ]
      : [];
  return `${[`# ${plainInline(title)}`, "", ...table, ...warning].join("\n")}\n`;
}

function turnText(turn: TranscriptTurn): string {
  const about = [...(turn.at === undefined ? [] : [timeText(turn.at)]), ...aboutTurn(turn)].filter(Boolean);
  const pieces = [
    `## ${turn.number}. ${plainInline(firstLine(turn.prompt))}`,
    quoted(sealed(turn.prompt)),
    ...turn.pictures.map(pictureText),
    ...turn.items.map(itemText),
    ...endingText(turn),
    ...(about.length > 0 ? [`<sub>${about.join(" · ")}</sub>`] : []),
  ];
  return `\n${pieces.filter((piece) => piece !== "").join("\n\n")}\n`;
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

function endingText({ ending }: TranscriptTurn): string[] {
  if (ending.kind === "done") return [];
  const message = ending.message === undefined ? "" : ` ${plainInline(ending.message)}`;
  return [`> **${ending.kind === "failed" ? "Failed:" : "Interrupted:"}**${message}`];
}

function itemText(item: TranscriptItem): string {
  switch (item.type) {
    case "text":
      return sealed(item.text);
    case "thinking":
      return details("Thinking", [quoted(sealed(item.text.trim()))]);
    case "notice":
      return `> ${plainInline(item.text)}`;
    case "call":
      return callText(item);
  }
}

const groupWords = { ok: "", failed: " — failed", refused: " — refused", unknown: " — no result" };

function callText(call: TranscriptCall): string {
  const { input, error } = call;
  const what = call.what === "" ? "" : ` <code>${escapeHtml(firstLine(call.what, 120))}</code>`;
  const took = call.durationMs === undefined ? "" : ` · ${durationText(call.durationMs)}`;
  const body = [
    input ? fenced(input.text, input.language) : "",
    call.diff !== undefined ? fenced(call.diff, "diff") : "",
    call.output ? fenced(call.output.text, call.output.language) : "",
    error === undefined ? "" : quoted(sealed(error)),
    ...call.pictures.map(pictureText),
  ].filter((piece) => piece !== "");
  const summary = `${escapeHtml(call.tool)}${what}${groupWords[call.group]}${took}`;
  return details(summary, body);
}

/** `summary` must be HTML. */
function details(summary: string, body: readonly string[]): string {
  return ["<details>", `<summary>${summary}</summary>`, ...body.flatMap((piece) => ["", piece]), "", "</details>"].join(
    "\n",
  );
}

/** Markdown viewers seldom show embedded pictures, so only a note is written. */
function pictureText({ mime, base64 }: Picture): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return `*(a picture: ${plainInline(mime)}, ${bytes} bytes)*`;
}
