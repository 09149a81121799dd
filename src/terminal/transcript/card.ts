// Renders a tool call: a title line with name, target and outcome, and details below. Edits, failures and refusals are expanded.

import { isObject, type JsonObject } from "../../json/object.ts";
import type { Outcome } from "../../protocol/event.ts";
import { errorTextOf, outcomeGroupOf } from "../../protocol/tool-calls.ts";
import { viewOfCall } from "../../view/call-view.ts";
import { type CallWords, wordsOfCall } from "../../view/call-words.ts";
import { byteSize, duration, runningFor } from "../../view/numbers.ts";
import { shownTodos, type TodoState } from "../../view/todos.ts";
import {
  blanks,
  cut,
  cutMiddle,
  join,
  linesOf,
  nothing,
  type Painted,
  type Palette,
  padded,
  wholeLines,
  widthOf,
  wrap,
} from "../painted.ts";
import { codeLines } from "./code.ts";
import { diffLines, indented, withBars } from "./diff-lines.ts";
import { markdownLines } from "./markdown.ts";
import type { Rendering } from "./rendering.ts";

export type CardStyle = {
  palette: Palette;
  rendering: Rendering | undefined;
  /** The workspace; paths inside it are shown relative to it. */
  workspace: string;
  home?: string;
  /** The width of the line in columns. */
  width: number;
  /** Whether to show everything unfolded. */
  isExpanded?: boolean;
  lineNumbers?: boolean;
};

export type Call = {
  callId: string;
  tool: string;
  args: unknown;
  /** The outcome of the call; undefined while it runs. */
  outcome?: Outcome | undefined;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
};

/** `open` shows all details. `note` is shown before the time. */
export type CardOptions = { open?: boolean; note?: string };

/** The maximum number of lines shown by default, by kind of content. */
const maxLines = { output: 3, failure: 12, diff: 24, text: 4 };
const everything = 2000;
/** Rows that one long line may take: of the reason for a failure, and of content that the user opened. */
const failureRows = 3;
const allRows = 200;

const outcomeColours = { ok: "soft", failed: "bad", refused: "warn", unknown: "soft" } as const;

export function cardLines(call: Call, style: CardStyle, { open, note }: CardOptions = {}): Painted[] {
  const { palette, width } = style;
  const words = shortenPaths(wordsOfCall(call.tool, call.args, call.outcome?.value), style);
  const group = outcomeGroupOf(call.outcome);
  const time = call.startedAt !== undefined && call.endedAt !== undefined ? call.endedAt - call.startedAt : undefined;
  const value = isObject(call.outcome?.value) ? call.outcome.value : {};
  const exit = typeof value.exitCode === "number" && value.exitCode !== 0 ? `exit ${value.exitCode}` : "";
  const outcomeText = { ok: words.outcome, failed: exit || "failed", refused: "refused", unknown: "" }[group];
  const isTold = time !== undefined && group !== "refused" && (words.isTimed || time >= 1000);
  const outcome = [outcomeText, note ?? "", isTold ? duration(time) : ""].filter(Boolean).join(" · ");
  const paint = palette[outcomeColours[group]];
  const sign = { ok: nothing, failed: palette.bad("✗"), refused: palette.warn("!"), unknown: nothing }[group];
  const title = titleLine(words, paint(outcome), {
    palette,
    width,
    sign,
    struck: call.tool === "delete" && group === "ok",
  });
  const body = [...(open ? wholeCommand(call, style) : []), ...bodyLines(call, style, open === true)];
  return [title, ...indented(body, bodyIndent(width))];
}

/** Renders a command that does not fit into the title. */
function wholeCommand({ tool, args }: Call, { palette, width }: CardStyle): Painted[] {
  const command = tool === "shell" && isObject(args) && typeof args.command === "string" ? args.command.trim() : "";
  const room = width - bodyIndent(width);
  if (!command.includes("\n") && widthOf(palette.plain(command)) < room - 20) return [];
  return linesOf(command).flatMap((line) => wrap(join(palette.soft("$ "), palette.plain(line)), room, blanks(2)));
}

/** Renders a running call: a spinner, its seconds, and the last lines of its output. */
export function runningLines(
  call: Call,
  style: CardStyle,
  { now, output, note, isWaiting }: { now: number; output: readonly string[]; note?: string; isWaiting?: boolean },
): Painted[] {
  const { palette, width } = style;
  const words = shortenPaths(wordsOfCall(call.tool, call.args, undefined), style);
  const since = call.startedAt === undefined ? "" : runningFor(now - call.startedAt);
  const right = isWaiting
    ? palette.warn("waits for you")
    : palette.accent([spinner(now), since, note ? `· ${note}` : ""].filter(Boolean).join(" "));
  const tail = output.map((line) => palette.withColours(line));
  return [
    titleLine(words, right, { palette, width, sign: nothing }),
    ...indented(withBars(tail, palette, width - bodyIndent(width)), bodyIndent(width)),
  ];
}

const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
export const spinnerMs = 200;

export function spinner(now: number): string {
  return frames[Math.floor(now / spinnerMs) % frames.length]!;
}

export function bodyIndent(width: number): number {
  return width < 60 ? 4 : 9;
}

type TitleStyle = { palette: Palette; width: number; sign: Painted; struck?: boolean };

/** Renders name, target and place at the left, the outcome at the right edge. The target is cut in its middle. */
export function titleLine(words: CallWords, right: Painted, { palette, width, sign, struck }: TitleStyle): Painted {
  const name = join(padded(sign, 2), palette.bold(cutMiddle(words.name, 24)));
  const indent = bodyIndent(width);
  const left = padded(name, widthOf(name) < indent ? indent : widthOf(name) + 2);
  const room = width - widthOf(left) - (right === "" ? 0 : widthOf(right) + 2);
  const place = words.by === "" ? words.where : words.by;
  const where =
    place === ""
      ? nothing
      : palette.soft(`  ${words.by === "" ? "in" : "by"} ${cutMiddle(place, Math.max(8, Math.floor(room / 3)))}`);
  const paint = struck ? palette.struck : palette.plain;
  // If the row is too narrow, omit the location (`where`) first, then the outcome (`right`).
  if (room >= 8) {
    const isBoth = room - widthOf(where) >= Math.min(12, words.target.length);
    const target = paint(cutMiddle(words.target, isBoth ? room - widthOf(where) : room));
    const shown = join(left, target, isBoth ? where : nothing);
    return right === "" ? shown : join(padded(shown, width - widthOf(right)), right);
  }
  return cut(join(left, paint(words.target)), width);
}

function shortenPaths(words: CallWords, { workspace, home }: CardStyle): CallWords {
  const shortenName = (text: string) => {
    if (workspace !== "" && text === workspace) return ".";
    const inside = workspace === "" ? text : text.replaceAll(`${workspace}/`, "");
    return home && home !== "/" ? inside.replaceAll(`${home}/`, "~/") : inside;
  };
  const where = shortenName(words.where);
  return { ...words, target: shortenName(words.target), where: where === "." ? "" : where };
}

function bodyLines(call: Call, style: CardStyle, open: boolean): Painted[] {
  const { palette } = style;
  const width = style.width - bodyIndent(style.width);
  const group = outcomeGroupOf(call.outcome);
  if (group === "refused" || group === "failed") return whyLines(call, style, open);
  const value = isObject(call.outcome?.value) ? call.outcome.value : {};
  const body = Object.hasOwn(bodies, call.tool) ? bodies[call.tool] : undefined;
  const view = viewOfCall(call, call.outcome, style.workspace);
  if (view.diff !== undefined && call.outcome)
    return diffLines(view.diff, {
      ...style,
      ...(isObject(call.args) && typeof call.args.path === "string" && { path: call.args.path }),
      width,
      ...(open ? { most: everything, rows: allRows } : { most: maxLines.diff }),
    });
  if (body) return body({ args: isObject(call.args) ? call.args : {}, value, style, width, open });
  if (!open || !view.output) return [];
  const { language, text } = view.output;
  const lines =
    language === "markdown" ? markdownLines(text, width, style) : codeLines(text.replace(/\n$/, ""), language, style);
  return withBars(lines.slice(0, everything), palette, width, allRows);
}

type Body = (shown: {
  args: JsonObject;
  value: JsonObject;
  style: CardStyle;
  width: number;
  open: boolean;
}) => Painted[];

const bodies: Record<string, Body> = {
  shell: ({ value, style, width, open }) =>
    outputLines(value, style.palette, width, open ? { most: everything, rows: allRows } : { most: maxLines.output }),
  updateTodos: ({ args, value, style, width }) => todoLines(value.todos ?? args.todos, style.palette, width),
  mcp: ({ value, style, width, open }) => {
    const lines = (Array.isArray(value.content) ? value.content : []).filter(isObject).flatMap(contentLines);
    const most = open ? everything : maxLines.text;
    const rest = lines.length > most ? [style.palette.soft(`… ${lines.length - most} more lines`)] : [];
    return withBars(
      [...lines.slice(0, most).map((line) => style.palette.withColours(line)), ...rest],
      style.palette,
      width,
      open ? allRows : 1,
    );
  },
  askQuestion: ({ args, value, style, width }) => answerLines(args, value, style.palette, width),
};

/** Renders why the call failed or was refused; for a command, its last output. */
function whyLines(call: Call, { palette, width: whole }: CardStyle, open: boolean): Painted[] {
  const width = whole - bodyIndent(whole);
  const value = isObject(call.outcome?.value) ? call.outcome.value : {};
  if (call.tool === "shell" && outcomeGroupOf(call.outcome) === "failed") {
    const limits = open ? { most: everything, rows: allRows } : { most: maxLines.failure, rows: failureRows };
    const lines = outputLines(value, palette, width, limits);
    if (lines.length > 0) return lines;
  }
  const reason = errorTextOf(call.outcome) ?? "";
  const lines = wholeLines(reason.trim()).flatMap((line) => wrap(palette.plain(line), width));
  return lines.slice(0, open ? everything : maxLines.failure);
}

type OutputLimits = { most: number; rows?: number };

function outputLines(value: JsonObject, palette: Palette, width: number, limits: OutputLimits): Painted[] {
  const parts = [value.interleavedOutput, value.stdout, value.stderr].map((each) =>
    typeof each === "string" ? each : "",
  );
  const text = parts[0] || [parts[1], parts[2]].filter(Boolean).join("\n");
  return outputTail(text, palette, width, limits);
}

/** Renders the last lines, and the number of lines before them. */
function outputTail(text: string, palette: Palette, width: number, { most, rows = 1 }: OutputLimits): Painted[] {
  if (text.trim() === "") return [];
  const lines = overwritten(text).filter((line) => line.trim() !== "");
  const left = lines.length - most;
  const lastLines = lines.slice(-most).map((line) => palette.withColours(line));
  if (left > 0) lastLines.unshift(palette.soft(`… ${left} ${left === 1 ? "line" : "lines"} before`));
  return withBars(lastLines, palette, width, rows);
}

/** Splits a command's output into lines, without text that was overwritten, such as progress. */
export function overwritten(text: string): string[] {
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").replace(/^.*\r/s, ""));
}

const todoSigns: Record<TodoState, (palette: Palette, text: string) => Painted> = {
  COMPLETED: (palette, text) => join(palette.good("✓ "), palette.soft(text)),
  IN_PROGRESS: (palette, text) => join(palette.accent("▸ "), palette.bold(text)),
  CANCELLED: (palette, text) => join(palette.soft("✗ "), palette.both("soft", "struck")(text)),
  PENDING: (palette, text) => join(palette.soft("· "), palette.plain(text)),
};

function todoLines(todos: unknown, palette: Palette, width: number): Painted[] {
  return shownTodos(todos).flatMap(({ state, words }) => wrap(todoSigns[state](palette, words), width, blanks(2)));
}

function contentLines({ text, image, resource }: JsonObject): string[] {
  if (isObject(text) && typeof text.text === "string") return overwritten(text.text.trimEnd());
  if (isObject(image) && typeof image.data === "string")
    return [`[image, ${String(image.mimeType)}, ${byteSize(Math.floor(image.data.length * 0.75))}]`];
  if (isObject(resource))
    return typeof resource.text === "string" ? overwritten(resource.text.trimEnd()) : [String(resource.uri)];
  return [];
}

function answerLines({ questions }: JsonObject, { answers }: JsonObject, palette: Palette, width: number): Painted[] {
  const answerList = (Array.isArray(answers) ? answers : []).filter(isObject);
  return (Array.isArray(questions) ? questions : []).filter(isObject).flatMap(({ id, prompt, options }) => {
    const answer = answerList.find((each) => each.questionId === id);
    const chosen = Array.isArray(answer?.selectedOptionIds) ? answer.selectedOptionIds : [];
    const labels = (Array.isArray(options) ? options : [])
      .filter(isObject)
      .filter((option) => chosen.includes(option.id))
      .map((option) => String(option.label));
    if (typeof answer?.freeformText === "string" && answer.freeformText !== "") labels.push(answer.freeformText);
    const answerText = labels.length > 0 ? labels.join(", ") : "no answer";
    return [
      ...wrap(palette.soft(String(prompt).replace(/\s+/g, " ").trim()), width),
      ...wrap(join(palette.accent("› "), palette.plain(answerText.replace(/\s+/g, " "))), width, blanks(2)),
    ];
  });
}

/** Renders a call as a short line of a tree, below another call. */
export function branchLine(
  call: Call,
  style: CardStyle,
  { now, isLast, width }: { now: number; isLast: boolean; width: number },
): Painted {
  const { palette } = style;
  const words = shortenPaths(wordsOfCall(call.tool, call.args, call.outcome?.value), style);
  const group = outcomeGroupOf(call.outcome);
  const right = call.outcome
    ? palette[outcomeColours[group]]({ ok: words.outcome, failed: "failed", refused: "refused", unknown: "" }[group])
    : palette.accent(`${spinner(now)} ${runningFor(now - (call.startedAt ?? now))}`);
  const left = join(
    palette.soft(isLast ? "└ " : "├ "),
    palette.plain(words.name),
    blanks(Math.max(1, 6 - words.name.length)),
  );
  const room = width - widthOf(left) - widthOf(right) - 2;
  if (room < 6) return cut(left, width);
  const shown = join(left, palette.soft(cutMiddle(words.target, room)));
  return right === "" ? shown : join(padded(shown, width - widthOf(right)), right);
}
