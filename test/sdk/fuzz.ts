// `npm run long -- fuzz [--rounds N] [--seed S]`: made-up streams of every CLI, intact and broken, in any chunking. A round is a
// frame. Frames before the first fault must come out, none after it, and their lines must come back from the events.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../src/json/object.ts";
import { commonFault } from "../../src/protocol/frame-shapes.ts";
import { FrameParser } from "../../src/protocol/frames.ts";
import { encodeEvent, isDerived } from "../../src/protocol/stream-json.ts";
import { driverOf, drivers } from "../../src/sdk/drivers/index.ts";
import { rebuildLines } from "../../src/sdk/rebuild-lines.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { disturb, type Random, random } from "../protocol/random.ts";

export type FuzzResult = { frames: number; streams: number; events: number; faults: Record<string, number> };

type Piece = { bytes: Uint8Array; value?: JsonObject; isBroken?: true };

const session = "0d5a2a0e-8a51-4b1c-9a55-7d5a0c8f3b11";
const tools = Object.keys(drivers) as UnifiedTool[];
const recordings = join(import.meta.dirname, "../recordings/peers");
const recorded = new Map(tools.map((tool) => [tool, tool === "cursor" ? [] : linesOf(tool)]));

function linesOf(tool: UnifiedTool): JsonObject[] {
  return readdirSync(join(recordings, tool)).flatMap((file) =>
    readFileSync(join(recordings, tool, file), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as JsonObject),
  );
}

/** Throws at the first thing that is wrong, with the seed of the stream. */
export function fuzz({ rounds, seed }: { rounds: number; seed: number }): FuzzResult {
  const result: FuzzResult = { frames: 0, streams: 0, events: 0, faults: {} };
  while (result.frames < rounds) {
    const own = seed + result.streams++;
    try {
      playStream(random(own), result);
    } catch (error) {
      throw new Error(`--seed ${own}: ${(error as Error).stack}`);
    }
  }
  return result;
}

function playStream(dice: Random, result: FuzzResult): void {
  const tool = dice.pick(tools);
  const { frames: types, decoder } = driverOf(tool);
  const pieces = piecesOf(dice, tool);
  const parser = new FrameParser({ maxLineBytes: 1 << 20, types });
  const decode = decoder({ prompt: "go", cwd: "/w", permissionMode: "default", partial: true });
  const values: JsonObject[] = [];
  /** Lines at the end that no event followed: they are kept with the next one. */
  let silent = 0;
  const events = chunksOf(dice, pieces)
    .flatMap((chunk) => parser.push(chunk))
    .concat(parser.end({ exit: 0 }).frames)
    .flatMap(({ value }) => {
      values.push(value);
      const told = decode(value);
      silent = told.every(isDerived) ? silent + 1 : 0;
      return told;
    });
  checkFrames({ pieces, values, parser, types: types! });
  const back = rebuildLines(JSON.parse(JSON.stringify(events)), tool).map((line) => JSON.stringify(line));
  const kept = values.slice(0, values.length - silent);
  for (const [index, value] of kept.entries()) {
    const line = JSON.stringify(value);
    if (back[index] !== line) throw new Error(`${tool}: a line came back as another:\n${line}\n${back[index]}`);
  }
  if (back.length !== kept.length) throw new Error(`${tool}: ${kept.length} lines came back as ${back.length}`);
  // What came after a fault or after the end was not looked at.
  result.frames += values.length + (parser.error ? 1 : 0);
  result.events += events.length;
  if (parser.error) result.faults[parser.error.code] = (result.faults[parser.error.code] ?? 0) + 1;
}

type Outcome = { pieces: Piece[]; values: JsonObject[]; parser: FrameParser; types: ReadonlyMap<string, any> };

function checkFrames({ pieces, values, parser, types }: Outcome): void {
  const texts = values.map((value) => JSON.stringify(value));
  for (const [index, text] of texts.entries()) {
    const { value } = pieces[index]!;
    if (!value || JSON.stringify(value) !== text) throw new Error(`frame ${index} is not what was sent: ${text}`);
  }
  const next = pieces[values.length];
  if (!next) return;
  if (values.some(({ type }) => types.get(String(type))?.isTerminal)) return; // what follows the end is not delivered
  const { error } = parser;
  if (!error) throw new Error(`frame ${values.length} was lost: ${JSON.stringify(next.value)}`);
  if (next.isBroken || !next.value) {
    if (!/^FRAME_(MALFORMED|ENCODING|TRUNCATED|TOO_LARGE)$/.test(error.code))
      throw new Error(`${error.code} for a broken line`);
    return;
  }
  const { type, session_id: id } = next.value;
  if (error.code === "FRAME_SESSION") {
    if (typeof id !== "string") throw new Error("FRAME_SESSION for a line without a session");
    return;
  }
  const isWrong =
    typeof type !== "string" ||
    type === "" ||
    type === "protocol" ||
    commonFault(next.value) !== undefined ||
    types.get(type)?.check?.(next.value) !== undefined ||
    (type === "tool_call" && "data" in next.value);
  if (!isWrong) throw new Error(`${error.code} (${error.message}) for an intact line: ${JSON.stringify(next.value)}`);
}

function piecesOf(dice: Random, tool: UnifiedTool): Piece[] {
  const lines = tool === "cursor" ? cursorLines(dice) : someOf(dice, tool);
  const pieces: Piece[] = [];
  const encoder = new TextEncoder();
  for (const line of lines) {
    if (dice.below(60) === 0) pieces.push({ bytes: broken(dice), isBroken: true });
    const changed = dice.below(3) === 0 ? (disturb(structuredClone(line), dice) as JsonObject) : line;
    const end = dice.pick(["\n", "\n", "\n", "\n", "\r\n", "\n\n", " \n", " ", ""]);
    pieces.push({ bytes: encoder.encode(JSON.stringify(changed) + end), value: changed });
  }
  // Only a line end, or an object right behind, ends a line: what is broken must not be glued to what is not.
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    if (piece.isBroken && before?.value) before.bytes = encoder.encode(`${JSON.stringify(before.value)}\n`);
  }
  if (dice.below(20) === 0) pieces[0]!.bytes = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), pieces[0]!.bytes]);
  return pieces;
}

function cursorLines(dice: Random): JsonObject[] {
  const events = dice.below(4) === 0 ? Array.from({ length: 12 }, () => dice.event(session)) : dice.turn(session);
  return events.flatMap((event) => {
    const line = encodeEvent(event, session, { partial: true });
    return line ? [JSON.parse(JSON.stringify(line)) as JsonObject] : [];
  });
}

/** Lines in any order, but an end only at the end. */
function someOf(dice: Random, tool: UnifiedTool): JsonObject[] {
  const isEnd = ({ type }: JsonObject) => driverOf(tool).frames.get(String(type))?.isTerminal === true;
  const lines = recorded.get(tool)!;
  const work = lines.filter((line) => !isEnd(line));
  // Some streams have no last line.
  const ends = lines.filter(isEnd);
  const end = ends.length > 0 && dice.below(2) === 0 ? [dice.pick(ends)] : [];
  return [...Array.from({ length: 1 + dice.below(25) }, () => dice.pick(work)), ...end];
}

const brokenLines = [
  "noise",
  '{"type":"assistant"',
  '{"type":"x"}}',
  '{"type":',
  "[1,2]",
  "nul",
  '{"a":1} trailing',
  "\u{feff}{}",
  '{"type":"x","a":"\u0001"}',
  "{'type':'x'}",
];

function broken(dice: Random): Uint8Array {
  const kind = dice.below(14);
  if (kind === 0) return Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]);
  if (kind === 1) return Uint8Array.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d, 0x0a]);
  if (kind === 2) return Buffer.from(`${'{"a":'.repeat(3000)}1${"}".repeat(3000)}\n`);
  if (kind === 3) return Buffer.alloc((1 << 20) + 5, "x");
  return Buffer.from(`${dice.pick(brokenLines)}\n`);
}

function chunksOf(dice: Random, pieces: readonly Piece[]): Uint8Array[] {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
  const longest = dice.pick([1, 7, 100, 4096, 65_536, 1 << 21]);
  // Byte by byte only where that does not take for ever.
  const size = () => 1 + dice.below(bytes.length > 20_000 ? Math.max(longest, 2000) : longest);
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = start + size();
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

export function main(argv: readonly string[]): number {
  const value = (name: string, otherwise: number) =>
    argv.includes(name) ? Number(argv[argv.indexOf(name) + 1]) : otherwise;
  const startedAt = performance.now();
  const { frames, streams, events, faults } = fuzz({ rounds: value("--rounds", 20_000), seed: value("--seed", 1) });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${frames} frames in ${streams} streams became ${events} events in ${seconds} s; streams that failed closed:`,
  );
  for (const [code, count] of Object.entries(faults).sort()) console.log(`  ${code} ${count}`);
  return 0;
}
