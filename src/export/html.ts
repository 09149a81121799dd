// A chat as one HTML page: nothing to load, nothing that runs, and every word of the chat is text.
import { createHash } from "node:crypto";
import type { ChatRecord } from "../store/chats/chat.ts";
import { escapeHtml } from "./escape-html.ts";
import { style } from "./html-style.ts";
import { preformatted, renderMarkdown } from "./rendered-markdown.ts";
import type { Picture, Transcript, TranscriptCall, TranscriptItem, TranscriptTurn } from "./transcript.ts";
import { aboutTurn, durationText, firstLine, timeText, tokensText, transcriptOf } from "./transcript.ts";

export function* htmlExport(record: ChatRecord): Generator<string> {
  const transcript = transcriptOf(record);
  yield head(transcript);
  yield `<div class="page">\n${titleHtml(transcript)}\n${turnList(transcript)}\n<main>\n`;
  for (const turn of transcript.turns) yield turnHtml(turn);
  yield "</main>\n</div>\n</body>\n</html>\n";
}

function head({ title }: Transcript): string {
  const sheet = createHash("sha256").update(style).digest("base64");
  // Even if something got through, it could neither run nor call home.
  const policy = `default-src 'none'; style-src 'sha256-${sheet}'; img-src data:; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
`;
}

function titleHtml(transcript: Transcript): string {
  const { id, title, workspace, model, createdAt, updatedAt, turns, usage, problems } = transcript;
  const calls = turns.reduce((count, turn) => count + callsIn(turn), 0);
  const facts = [
    model !== undefined && ["Model", escapeHtml(model)],
    ["Time", `${timeHtml(createdAt)} – ${timeHtml(updatedAt)}`],
    ["Turns", `${turns.length}${calls > 0 ? `, ${calls} tool call${calls === 1 ? "" : "s"}` : ""}`],
    usage && ["Tokens", tokensText(usage)],
    workspace !== undefined && ["Workspace", `<code>${escapeHtml(workspace)}</code>`],
    ["Chat", `<code>${escapeHtml(id)}</code>`],
  ].filter((fact) => Array.isArray(fact));
  const list = facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("\n");
  const warning =
    problems.length === 0
      ? ""
      : `\n<div class="problems"><p>This chat is damaged; what could be read follows.</p><ul>${problems.map((each) => `<li>${escapeHtml(each)}</li>`).join("")}</ul></div>`;
  return `<header>\n<h1>${escapeHtml(title)}</h1>\n<dl class="facts">\n${list}\n</dl>${warning}\n</header>`;
}

function callsIn(turn: TranscriptTurn): number {
  return turn.items.filter((item) => item.type === "call").length;
}

function turnList({ turns }: Transcript): string {
  const rows = turns.map((turn) => {
    const calls = callsIn(turn);
    const about = [
      turn.ending.kind !== "done" && turn.ending.kind,
      calls > 0 && `${calls} call${calls === 1 ? "" : "s"}`,
      turn.durationMs > 0 && durationText(turn.durationMs),
    ].filter(Boolean);
    const small = about.length > 0 ? `<small>${about.join(" · ")}</small>` : "";
    return `<li${turn.ending.kind === "done" ? "" : ' class="failed"'}><a href="#turn-${turn.number}"><span class="number">${turn.number}</span><span><span class="prompt-line">${escapeHtml(firstLine(turn.prompt, 120))}</span>${small}</span></a></li>`;
  });
  return `<nav aria-label="Turns">\n<h2>Turns</h2>\n<ol>\n${rows.join("\n")}\n</ol>\n</nav>`;
}

function turnHtml(turn: TranscriptTurn): string {
  const time = turn.at === undefined ? "" : timeHtml(turn.at);
  const about = aboutTurn(turn);
  return `<article class="turn" id="turn-${turn.number}">
<section class="you"><h2><a href="#turn-${turn.number}">Turn ${turn.number}</a>${time}</h2><div class="said">${escapeHtml(turn.prompt)}</div>${picturesHtml(turn.pictures)}</section>
${turn.items.map(itemHtml).join("\n")}
${endingHtml(turn)}${about.length > 0 ? `<p class="about">${about.join(" · ")}</p>\n` : ""}</article>
`;
}

function endingHtml({ ending }: TranscriptTurn): string {
  if (ending.kind === "done") return "";
  const word = ending.kind === "failed" ? "Failed" : "Interrupted";
  return `<p class="why"><strong>${word}.</strong> ${escapeHtml(ending.message ?? "")}</p>\n`;
}

function itemHtml(item: TranscriptItem): string {
  switch (item.type) {
    case "text":
      return `<section class="answer">${renderMarkdown(item.text)}</section>`;
    case "thinking":
      return `<details class="thinking"><summary><span class="tool">Thinking</span><span class="what">${escapeHtml(firstLine(item.text, 160))}</span></summary><div class="body">${escapeHtml(item.text.trim())}</div></details>`;
    case "notice":
      return `<p class="notice">${escapeHtml(item.text)}</p>`;
    case "call":
      return callHtml(item);
  }
}

const groupWords = { ok: "", failed: "failed", refused: "refused", unknown: "no result" };

/** A change of this many lines can be seen without a click. */
const shownLines = 40;

function callHtml(call: TranscriptCall): string {
  const { input, error } = call;
  const body = [
    input ? preformatted(input.text) : "",
    call.diff !== undefined ? diffHtml(call.diff) : "",
    call.output ? preformatted(call.output.text) : "",
    error === undefined ? "" : `<p class="why">${escapeHtml(error)}</p>`,
    picturesHtml(call.pictures),
  ].filter((piece) => piece !== "");
  const meta = [groupWords[call.group], call.durationMs === undefined ? "" : durationText(call.durationMs)].filter(
    Boolean,
  );
  const summary = `<span class="tool">${escapeHtml(call.tool)}</span><span class="what">${escapeHtml(firstLine(call.what, 300))}</span>${meta.length > 0 ? `<span class="meta">${meta.join(" · ")}</span>` : ""}`;
  const isOpen = call.diff !== undefined && call.diff.split("\n").length <= shownLines;
  return `<details class="call ${call.group}"${isOpen ? " open" : ""}><summary>${summary}</summary>${body.length > 0 ? `<div class="body">${body.join("\n")}</div>` : ""}</details>`;
}

function diffHtml(diff: string): string {
  const lines = diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const kind = kindOfLine(line);
      return `<span${kind && ` class="${kind}"`}>${escapeHtml(line) || " "}</span>`;
    });
  return `<pre class="diff"><code>${lines.join("")}</code></pre>`;
}

function kindOfLine(line: string): string {
  if (/^(\+\+\+|---) |^(@@|\*\*\*|Index:|diff )/.test(line)) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "";
}

const pictureKinds = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function picturesHtml(pictures: readonly Picture[]): string {
  const images = pictures.map(({ mime, base64 }) =>
    pictureKinds.has(mime) && /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
      ? `<img src="data:${mime};base64,${base64}" alt="">`
      : `<p class="notice">A picture of a kind that is not shown here: ${escapeHtml(mime)}.</p>`,
  );
  return images.length > 0 ? `<div class="pictures">${images.join("")}</div>` : "";
}

function timeHtml(at: number): string {
  const text = timeText(at);
  return text === "" ? "" : `<time datetime="${new Date(at).toISOString()}">${text}</time>`;
}
