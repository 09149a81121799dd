// Runs one case of the group `frames` against FrameParser and reads its `expect` literally.

import { type Frame, type FrameEnding, FrameParser, type FrameParserOptions } from "../../src/protocol/frames.ts";
import type { CaseResult } from "../support/case.ts";
import { codeIn, type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";

export type FrameCase = {
  id: string;
  config: FrameParserOptions & Record<string, unknown>;
  input: {
    chunks: FrameChunk[];
    exit: number | null;
    signal?: string | null;
    stderr?: string;
    deliver?: string;
  };
  expect: Record<string, unknown>;
};

/** One read, or bytes that are made while they are read. `deliver`: "1 byte per read" and the like. */
export type FrameChunk = { b64?: string; text?: string; gen?: Recipe; deliver?: string };
export type Recipe = { prefix?: string; byte?: string; repeat_line?: string; count: number; suffix?: string };

export type Seen = {
  ending: Pick<FrameEnding, "outcome" | "ignored" | "warnings" | "finish"> & {
    error?: { code: string; message: string };
  };
  events: string[];
  texts: string[];
  result: string | undefined;
  executed: string[];
  sessionId: string | undefined;
  peakRssMb: number;
  milliseconds: number;
  /** Known where a program was really run. */
  wasKilled?: boolean;
};

export function runFrameCase(given: FrameCase): CaseResult {
  return judgeFrames(given, play(given));
}

export function judgeFrames(given: FrameCase, seen: Seen): CaseResult {
  const { expect } = given;
  const faults = faultsWithWays(expect, {
    faults: (wanted) => faultsOf(wanted, seen, given),
    isSo: (sentence) => isSo(sentence, seen),
  });
  const passes = faults.length === 0;
  const mustFail = expect.outcome === "fail_closed";
  const isSafe = !(mustFail && seen.ending.outcome === "ok") && !(mustFail && seen.executed.length > 0);
  return {
    pass: passes,
    verdict: name(seen.ending.outcome, seen.ending.error?.code),
    expected: name(expect.outcome, expect.error),
    safe: isSafe,
    exact: passes,
    detail: passes ? `${seen.events.length} events, ${seen.milliseconds} ms` : shownFaults(faults),
  };
}

function name(outcome: unknown, error: unknown): string {
  return error === undefined ? String(outcome) : `${outcome} ${error}`;
}

function play({ config, input }: FrameCase): Seen {
  const parser = new FrameParser(config);
  const events: string[] = [];
  const texts: string[] = [];
  const calls: string[] = [];
  let result: string | undefined;
  const startRss = process.memoryUsage.rss();
  const startTime = Date.now();
  let peakRss = startRss;
  let reads = 0;

  const deliver = (frames: Frame[]) => {
    for (const { kind, type, value } of frames) {
      if (kind === "other") continue;
      events.push(type);
      const frame = value as any;
      if (type === "assistant") texts.push(frame.message.content.map((block: any) => block.text ?? "").join(""));
      if (type === "assistant_delta") texts.push(frame.data.content);
      if (type === "result") result = frame.result;
      if (type === "tool_call" && frame.data) calls.push(frame.data.name);
    }
    if (++reads % 64 === 0) peakRss = Math.max(peakRss, process.memoryUsage.rss());
  };

  for (const bytes of readsOf(input)) {
    deliver(parser.push(bytes));
    // Whoever holds the child would kill it here: nothing more is read.
    if (parser.error) break;
  }
  const ending = parser.end({ exit: input.exit, signal: input.signal, stderr: input.stderr });
  deliver(ending.frames);
  peakRss = Math.max(peakRss, process.memoryUsage.rss());
  return {
    ending,
    events,
    texts,
    result,
    // A turn's calls are run once the turn is known to be sound.
    executed: ending.outcome === "ok" ? calls : [],
    sessionId: parser.sessionId,
    peakRssMb: (peakRss - startRss) / 2 ** 20 + bareNodeMb,
    milliseconds: Date.now() - startTime,
  };
}

/** What Node takes before it does anything: limits are for a whole process, and this one also holds a test runner. */
export const bareNodeMb = 50;

export function* readsOf(input: FrameCase["input"]): Generator<Uint8Array> {
  for (const chunk of input.chunks) {
    const size = readSize(chunk.deliver ?? input.deliver ?? "");
    for (const bytes of bytesOf(chunk)) {
      if (size === 0) yield bytes;
      else for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    }
  }
}

/** "7 bytes per read", "one byte per read"; 0: as it comes. */
function readSize(words: string): number {
  const [, figure] = /(\d+)/.exec(words) ?? [];
  if (figure !== undefined) return Number(figure);
  return /\b(one|single|each) byte|byte by byte/i.test(words) ? 1 : 0;
}

function* bytesOf(chunk: FrameChunk): Generator<Uint8Array> {
  if (chunk.b64 !== undefined) yield new Uint8Array(Buffer.from(chunk.b64, "base64"));
  else if (chunk.text !== undefined) yield new TextEncoder().encode(chunk.text);
  else if (chunk.gen) yield* generated(chunk.gen);
}

/** In reads of 64 KB, as from a pipe. */
function* generated({ prefix = "", byte = "", repeat_line, count, suffix = "" }: Recipe): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  if (prefix) yield encoder.encode(prefix);
  const unit = repeat_line === undefined ? byte : repeat_line.endsWith("\n") ? repeat_line : `${repeat_line}\n`;
  const perRead = Math.max(1, Math.floor(65_536 / Math.max(1, unit.length)));
  const whole = encoder.encode(unit.repeat(Math.min(perRead, count)));
  let left = count;
  for (; left >= perRead; left -= perRead) yield whole;
  if (left > 0) yield encoder.encode(unit.repeat(left));
  if (suffix) yield encoder.encode(suffix);
}

/** Each expectation by its key; what the parser alone cannot show is left to whoever drives a real child. */
function faultsOf(expect: Record<string, unknown>, seen: Seen, given: FrameCase): Fault[] {
  const { ending } = seen;
  const faults: Fault[] = [];
  const same = (what: string, found: unknown, wanted: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      faults.push({ key: what, text: `${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}` });
    }
  };
  for (const [key, wanted] of Object.entries(expect)) {
    switch (key) {
      case "outcome":
        same(key, ending.outcome, wanted);
        break;
      case "events":
        same(key, seen.events, wanted);
        break;
      case "error":
      case "error_code":
      case "code":
        same(key, ending.error?.code, wanted);
        break;
      case "text": {
        const texts = [seen.texts.at(-1), seen.texts.join(""), seen.result];
        if (!texts.some((text) => text === wanted)) same(key, texts, wanted);
        break;
      }
      case "ignored":
        same(key, ending.ignored, wanted);
        break;
      case "warns":
        if (typeof wanted === "string")
          same(
            key,
            ending.warnings.some((text) => text.includes(wanted)),
            true,
          );
        else same(key, ending.warnings.length > 0, wanted);
        break;
      case "finish":
      case "finish_reason":
      case "finishReason":
        same(key, ending.finish, wanted);
        break;
      case "stderr_in_error": {
        const stderr = given.input.stderr?.trim() ?? "";
        same(key, ending.error?.message.includes(stderr) ?? false, wanted);
        break;
      }
      case "executed":
        same(key, seen.executed, Array.isArray(wanted) ? wanted.map(callName) : wanted);
        break;
      case "child_killed":
        // One that stays after its result is ended as well.
        same(
          key,
          seen.wasKilled ?? (ending.outcome === "fail_closed" || (given.input.exit === null && !given.input.signal)),
          wanted,
        );
        break;
      case "session_id":
        same(key, seen.sessionId, wanted);
        break;
      case "max_rss_mb":
        if (seen.peakRssMb > Number(wanted))
          faults.push({ key, text: `${seen.peakRssMb.toFixed(0)}, at most ${wanted}` });
        break;
      case "max_ms":
        if (seen.milliseconds > Number(wanted)) faults.push({ key, text: `${seen.milliseconds}, at most ${wanted}` });
        break;
      case "never":
        for (const one of listOf(wanted)) {
          const happened =
            typeof one === "string" ? isSo(one, seen) : faultsOf(one as object as any, seen, given).length === 0;
          if (happened) faults.push({ key, text: `${JSON.stringify(one)} happened` });
        }
        // A sentence alone shows nothing: the rest of the case must say what is right.
        if (Object.keys(expect).length === 1) faults.push({ key, text: "nothing else is expected" });
        break;
      // A crash would have ended this process.
      case "no_crash":
        break;
      default:
        faults.push({ key, text: "nobody knows how to check it" });
    }
  }
  return faults;
}

/** An event's type, an error code, or a sentence about what came through. */
function isSo(sentence: string, { events, ending, executed, texts, result }: Seen): boolean {
  if (events.includes(sentence)) return true;
  const code = codeIn(sentence);
  if (code !== undefined) return ending.error?.code === code;
  if (/replacement|U\+FFFD/i.test(sentence)) return [...texts, result ?? ""].join("").includes("\ufffd");
  if (/execut|\btool|\brun\b/i.test(sentence)) return executed.length > 0;
  if (/\bok\b|success|accepted|delivered as/i.test(sentence)) return ending.outcome === "ok";
  if (/fail|reject|refuse/i.test(sentence)) return ending.outcome === "fail_closed";
  return false;
}

function callName(call: unknown): unknown {
  return typeof call === "object" && call !== null && "name" in call ? call.name : call;
}
