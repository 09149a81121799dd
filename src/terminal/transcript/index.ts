// The transcript: turns the events of a run into blocks. Finished blocks are returned once, to be
// committed; the rest is shown in the live region.
import type { EventOf } from "../../protocol/event.ts";
import type { Recorded } from "../../protocol/run.ts";
import { outcomeGroupOf } from "../../protocol/tool-calls.ts";
import { duration, runningFor, tokenCount } from "../../view/numbers.ts";
import { blanks, join, linesOf, nothing, type Painted, type Palette, wholeLines, wrap } from "../painted.ts";
import { layoutWidth, type Size } from "../view.ts";
import { type ClosedBlock, closedLines, createAnswer } from "./answer.ts";
import { type CardStyle, spinner, spinnerMs } from "./card.ts";
import { endingLines } from "./ending.ts";
import { messageLines } from "./message.ts";
import type { Rendering } from "./rendering.ts";
import { createCalls, type EndedCall, type RunningCalls } from "./running-calls.ts";

export type TranscriptOptions = {
  palette: Palette;
  workspace: string;
  home?: string;
  /** Returns the current time in milliseconds. */
  now?: () => number;
  /** The modules that render blocks, if they are already loaded. */
  rendering?: Rendering | undefined;
  /** Shows everything expanded, for reading the transcript again. */
  isExpanded?: boolean;
  /** What is shown; read again on every rendering. `thinking` shows thoughts and not only how long they took. */
  display?: Readonly<Display>;
  /** Called when the view changed without an event: a module was loaded. */
  onChange?: () => void;
};

export type Display = { thinking: boolean; lineNumbers: boolean };

export interface Transcript {
  event(recorded: Recorded): void;
  /** Returns the lines of blocks finished since the last call, with the empty lines between them. */
  takeCommitted(columns: number): Painted[];
  /** Renders the newest `rows` lines of what is not finished. Begins with an empty line where one is due. */
  live(size: Size): Painted[];
  /** Adds a block from outside the run: an answer to a slash command, or a notice. */
  add(lines: (width: number) => Painted[]): void;
  /** Loads the modules that render Markdown, code and diffs. Called automatically by the first event that needs them. */
  load(): Promise<void>;
  /** How often `live` changes on its own, in milliseconds; undefined if no timer is needed. */
  readonly tickMs: number | undefined;
  /** Marks a call as waiting for the user's answer, until `answered`. The first of them is shown by the question itself. */
  waits(callId: string): void;
  answered(callId: string): void;
}

/** Calls and notices follow their own kind without an empty line, and list items follow any block. */
type Block = { kind: "text" | "item" | "call" | "notice"; lines(width: number): Painted[] };

export function createTranscript(options: TranscriptOptions): Transcript {
  const { palette, workspace, home, now = Date.now, onChange = () => {} } = options;
  const { display = { thinking: options.isExpanded === true, lineNumbers: true } } = options;
  let { rendering } = options;
  let loading: Promise<void> | undefined = rendering && Promise.resolve();
  let finished: Block[] = [];
  let lastKind: Block["kind"] | undefined;
  let answer = createAnswer();
  /** The text of the current segment so far; the event at its end has all of it. */
  let segment = "";
  /** Notices that arrived while a segment was being written. */
  const held: Block[] = [];
  let thinking: { since: number; text: string } | undefined;
  let turn: { since: number; characters: number; changed: Set<string> } | undefined;
  const calls: RunningCalls = createCalls();
  /** Started calls that are not in the transcript yet, and those of them that have ended. */
  const order: string[] = [];
  const ended = new Map<string, EndedCall>();
  /** How long the current turn has waited for the user, which its last line shows. */
  let waited = 0;
  let waitsSince = 0;

  const style = (width: number): CardStyle => ({
    palette,
    rendering,
    workspace,
    width,
    isExpanded: options.isExpanded === true,
    lineNumbers: display.lineNumbers,
    ...(home !== undefined && { home }),
  });
  const load = () =>
    (loading ??= import("./rendering.ts").then((parts) => {
      rendering = parts;
      onChange();
    }));
  const add = (kind: Block["kind"], lines: Block["lines"]) => {
    finished.push({ kind, lines });
  };
  const addText = (block: ClosedBlock) => {
    add(block.follows ? "item" : "text", (width) => closedLines(block, width, { palette, rendering }));
  };
  const addClosed = () => {
    for (const block of answer.takeClosed({ palette, rendering })) addText(block);
  };
  /** Closes the open text when something else follows. */
  const endText = () => {
    addClosed();
    const rest = answer.takeRest();
    if (rest) addText(rest);
    segment = "";
    finished.push(...held.splice(0));
  };
  const notice = (paint: "soft" | "warn" | "bad", sign: string, message: string) => {
    // A notice must not interrupt a sentence or a list, so it waits for the end of the segment.
    const blocks = segment === "" ? finished : held;
    const lines = (width: number) =>
      wholeLines(message).flatMap((line, row) =>
        wrap(palette[paint](row === 0 ? `${sign} ${line}` : `  ${line}`), width, blanks(2)),
      );
    blocks.push({ kind: "notice", lines });
  };
  const endThinking = (at: number | undefined, whole: string | undefined) => {
    const text = whole ?? thinking?.text ?? "";
    const seconds = thinking === undefined ? undefined : (at ?? now()) - thinking.since;
    thinking = undefined;
    if (text.trim() === "") return;
    add("notice", (width) => {
      const line = palette.soft(seconds === undefined || seconds < 50 ? "Thought" : `Thought for ${duration(seconds)}`);
      if (!display.thinking && options.isExpanded !== true) return [line];
      return [line, ...linesOf(text.trim()).flatMap((each) => wrap(palette.both("soft", "italic")(each), width))];
    });
  };

  function event({ event, agent }: Recorded): void {
    if (agent !== undefined) {
      if (turn && event.type === "tool_end") noteChange(event);
      calls.ofAgent(agent, event);
      return;
    }
    switch (event.type) {
      case "user":
        turn = { since: event.at ?? now(), characters: 0, changed: new Set() };
        add("text", (width) => messageLines(event.text, width, { palette, isExpanded: options.isExpanded === true }));
        break;
      case "thinking":
        endText();
        thinking ??= { since: event.at ?? now(), text: "" };
        thinking.text += event.text;
        if (turn) turn.characters += event.text.length;
        break;
      case "thinking_end":
        endThinking(event.at, event.text);
        break;
      case "text":
        void load();
        segment += event.text;
        answer.add(event.text);
        if (turn) turn.characters += event.text.length;
        break;
      case "text_end":
        void load();
        // Show the whole text if none of its deltas arrived, or the missing rest.
        if (segment === "") answer.add(event.text);
        else if (event.text.startsWith(segment)) answer.add(event.text.slice(segment.length));
        endText();
        break;
      case "retry":
        retried(event);
        break;
      case "tool_start":
        void load();
        endText();
        calls.start(event);
        order.push(event.callId);
        break;
      case "tool_output":
        calls.output(event);
        break;
      case "tool_end": {
        noteChange(event);
        ended.set(event.callId, calls.end(event));
        if (!order.includes(event.callId)) order.push(event.callId);
        addEnded();
        break;
      }
      case "notice": {
        const late = event.kind === "task_notification" ? calls.endBackground(event) : undefined;
        if (late) add("call", (width) => late(style(width), now()));
        else if (event.kind === "warning") notice("warn", "!", event.message);
        else notice("soft", "·", event.message);
        break;
      }
      case "done":
      case "fail": {
        endText();
        if (thinking) endThinking(event.at, undefined);
        for (const each of [...ended.values(), ...calls.endAll()]) add("call", (width) => each(style(width), now()));
        ended.clear();
        order.length = 0;
        const changed = turn?.changed.size ?? 0;
        waited = 0;
        turn = undefined;
        add("text", (width) => endingLines(event, { changed, palette, width }));
        break;
      }
      case "init":
      case "ask":
      case "answer":
      case "other":
        break;
    }
  }

  /** Adds calls in the order in which the model made them: one that ends early waits for those before it. */
  function addEnded(): void {
    for (let call = ended.get(order[0] ?? ""); call; call = ended.get(order[0] ?? "")) {
      const shown = call;
      ended.delete(order.shift()!);
      add("call", (width) => shown(style(width), now()));
    }
  }

  function retried({ discards, reason, delayMs }: EventOf<"retry">): void {
    const wasShown = segment.trim() !== "";
    if (discards) {
      answer = createAnswer();
      segment = "";
      thinking = undefined;
    } else endText();
    const wait = delayMs !== undefined && delayMs >= 1000 ? ` in ${duration(delayMs)}` : "";
    notice(
      "soft",
      "·",
      `Retrying${wait}: ${reason ?? "the answer was cut off"}${discards && wasShown ? " The last text is discarded." : ""}`,
    );
  }

  function noteChange({ tool, args, outcome }: EventOf<"tool_end">): void {
    const path = (args as { path?: unknown } | null)?.path;
    if (/^(edit|write|delete)$/.test(tool) && outcomeGroupOf(outcome) === "ok" && typeof path === "string")
      turn?.changed.add(path);
  }

  const isClose = (kind: Block["kind"]) => kind === "item" || (kind !== "text" && kind === lastKind);

  return {
    event,
    load,
    add: (lines) => add("text", lines),
    takeCommitted(columns) {
      addClosed();
      // Text waits for its renderer, and later blocks wait for the text.
      if (loading && !rendering) return [];
      const lines: Painted[] = [];
      for (const block of finished) {
        const shown = block.lines(layoutWidth(columns));
        if (shown.length === 0) continue;
        if (lastKind !== undefined && !isClose(block.kind)) lines.push(nothing);
        for (const line of shown) lines.push(line);
        lastKind = block.kind;
      }
      finished = [];
      return lines;
    },
    live({ columns, rows }) {
      const width = layoutWidth(columns);
      const lines: Painted[] = [];
      const part = (kind: Block["kind"], shown: readonly Painted[]) => {
        if (shown.length === 0) return;
        const isFirst = lines.length === 0;
        if (isFirst ? lastKind !== undefined && !isClose(kind) : kind !== "call") lines.push(nothing);
        for (const line of shown) lines.push(line);
      };
      // While the renderer is being loaded, finished blocks are in the live region.
      if (loading && !rendering) for (const block of finished) part(block.kind, block.lines(width));
      // Leave room for the working line and for empty lines.
      const running = calls.live(style(width), now(), Math.max(1, rows - 4));
      const room = Math.max(1, rows - 3 - running.length);
      part(answer.follows ? "item" : "text", answer.live(width, room, { palette, rendering }));
      part("call", running);
      part(
        "call",
        [...ended.values()].map((call) => call(style(width), now())[0]!),
      );
      // A turn that waits for the user shows no working line.
      if (turn && !calls.isWaiting) part("text", [workingLine(turn)]);
      return lines.slice(-Math.max(0, rows));
    },
    get tickMs() {
      return turn || calls.isRunning ? spinnerMs : undefined;
    },
    waits(callId) {
      if (!calls.isWaiting) waitsSince = now();
      calls.waits(callId, now());
    },
    answered(callId) {
      const wasWaiting = calls.isWaiting;
      calls.answered(callId, now());
      if (wasWaiting && !calls.isWaiting && turn) waited += now() - waitsSince;
    },
  };

  /** Renders the line that shows what the turn is doing. */
  function workingLine({ since, characters }: { since: number; characters: number }): Painted {
    const at = now();
    const doing = thinking ? "Thinking" : "Working";
    const worked = runningFor(at - since - waited);
    const tokens = characters > 0 ? ` · ~${tokenCount(Math.ceil(characters / 4))} tokens` : "";
    return join(palette.accent(spinner(at)), palette.soft(` ${doing} · ${worked}${tokens}`));
  }
}
