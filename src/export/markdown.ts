// Exports a chat as Markdown, to read, paste and keep. Content of the chat cannot break out of its place.
import type { TurnEnding } from "../protocol/run.ts";
import { callName, errorTextOf, outcomeGroupOf } from "../protocol/tool-calls.ts";
import type { ChatRecord } from "../store/chats/chat.ts";
import type { Block, Picture, ToolCall } from "../studio/components/timeline/blocks.ts";
import { viewOfCall } from "../view/call-view.ts";
import { escapeHtml } from "./escape-html.ts";
import { aboutTurn, durationText, firstLine, timeText, tokensText } from "./format.ts";
import { fenced, inlineCode, plainInline } from "./markdown-text.ts";
import { sealMarkdown } from "./sealed-markdown.ts";
import { isUsed, type SessionPage, type SessionTurn, sessionPage } from "./session-page.ts";

export function* markdownExport(record: ChatRecord): Generator<string> {
  const page = sessionPage(record);
  yield documentHead(page);
  for (const turn of page.turns) yield turnText(turn, page.workspace ?? "");
}

function documentHead(page: SessionPage): string {
  const { id, title, workspace, model, createdAt, updatedAt, turns, usage, problems } = page;
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

function turnText({ number, at, numbers: { prompt }, blocks }: SessionTurn, workspace: string): string {
  const ending = blocks.flatMap((block) => (block.type === "ending" ? block.ending : [])).at(-1);
  const { durationMs = 0, usage } = ending ?? {};
  const figures = aboutTurn({ durationMs, ...(usage && isUsed(usage) && { usage }) });
  const about = [...(at === undefined ? [] : [timeText(at)]), ...figures].filter(Boolean);
  const pieces = [
    `## ${number}. ${plainInline(firstLine(prompt))}`,
    blockquote(sealMarkdown(prompt)),
    ...blocks.flatMap((block) => blockTexts(block, workspace)),
    ...endingText(ending),
    ...(about.length > 0 ? [`<sub>${about.join(" · ")}</sub>`] : []),
  ];
  return `\n${pieces.filter((piece) => piece !== "").join("\n\n")}\n`;
}

function blockquote(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

function endingText(ending: TurnEnding | undefined): string[] {
  if (ending?.type === "done") return [];
  const message = ending ? ` ${plainInline(ending.message)}` : "";
  return [`> **${ending && ending.code !== "INTERRUPTED" ? "Failed:" : "Interrupted:"}**${message}`];
}

function blockTexts(block: Block, workspace: string): string[] {
  switch (block.type) {
    case "user": // the prompt is shown above the turn, but a message sent during the turn is not
      return [
        ...(block.isAside ? [blockquote(sealMarkdown(block.text))] : []),
        ...(block.pictures ?? []).map(pictureText),
      ];
    case "text":
      return [sealMarkdown(block.text)];
    case "thinking":
      return [details("Thinking", [blockquote(sealMarkdown(block.text.trim()))])];
    case "notice":
      return [`> ${plainInline(block.message)}`];
    case "call":
      return [callText(block.call, workspace)];
    case "calls":
      return block.calls.map(({ call }) => callText(call, workspace));
    case "ending":
      return [];
  }
}

const groupWords = { ok: "", failed: " — failed", refused: " — refused", unknown: " — no result" };

function callText(call: ToolCall, workspace: string): string {
  const { outcome, startedAt, endedAt, pictures = [] } = call;
  const { what, input, diff, output } = viewOfCall(call, outcome, workspace);
  // Omit the error of a failed command, since its output says why.
  const error = outcome?.kind === "failure" ? undefined : errorTextOf(outcome);
  const isInTitle = input?.text === what && !what.includes("\n");
  const target = what === "" ? "" : ` <code>${escapeHtml(firstLine(what, 120))}</code>`;
  const took = startedAt === undefined || endedAt === undefined ? "" : ` · ${durationText(endedAt - startedAt)}`;
  const body = [
    input && !isInTitle ? fenced(input.text, input.language) : "",
    diff !== undefined ? fenced(diff, "diff") : "",
    output ? fenced(output.text, output.language) : "",
    error === undefined || error === output?.text ? "" : blockquote(sealMarkdown(error)),
    ...pictures.map(pictureText),
  ].filter((piece) => piece !== "");
  const name = callName(call.tool, call.args, outcome?.value);
  return details(`${escapeHtml(name)}${target}${groupWords[outcomeGroupOf(outcome)]}${took}`, body);
}

/** Formats a section that can be folded. `summary` must be HTML. */
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
