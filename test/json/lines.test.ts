// JsonLines against the simplest reader there is, over any text, any cut and any place in memory.
import { expect, test } from "vitest";
import { firstNonAscii } from "../../src/json/ascii.ts";
import { FrameError } from "../../src/json/frame-error.ts";
import { JsonLines } from "../../src/json/lines.ts";
import { random } from "../protocol/random.ts";

function readAll(bytes: Uint8Array, sizes: () => number, maxLineBytes?: number): unknown[] {
  const reader = new JsonLines({ maxLineBytes });
  const seen: unknown[] = [];
  const take = (value: unknown) => seen.push(value);
  try {
    for (let start = 0; start < bytes.length; ) {
      const size = sizes();
      reader.push(bytes.subarray(start, start + size), take);
      start += size;
    }
    reader.end(take);
  } catch (fault) {
    if (!(fault instanceof FrameError)) throw fault;
    seen.push(fault.code);
  }
  return seen;
}

test("the JSON lines reader gives the same lines however the input is cut", () => {
  const dice = random(3);
  for (let round = 0; round < 400; round++) {
    const lines = Array.from({ length: dice.below(12) }, () =>
      dice.pick([
        () => JSON.stringify(dice.value()),
        () => JSON.stringify({ text: "plain ".repeat(dice.below(30)) }),
        () => JSON.stringify({ text: "日本語é😀".repeat(dice.below(9)) }),
        () => "",
        () => " \t",
      ])(),
    );
    const expected = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
    const text = lines.map((line) => line + dice.pick(["\n", "\r\n"])).join("");
    const encoded = new TextEncoder().encode(text);
    const offset = dice.below(5);
    const memory = new Uint8Array(encoded.length + offset + 3).fill(0xff);
    memory.set(encoded, offset);
    const bytes = memory.subarray(offset, offset + encoded.length);
    const most = dice.pick([1, 3, 50, 5000]);
    expect(readAll(bytes, () => 1 + dice.below(most))).toEqual(expected);
    // A limit below the size of the whole makes it read line by line.
    const longest = Math.max(1, ...lines.map((line) => new TextEncoder().encode(line).length));
    expect(readAll(bytes, () => 1 + dice.below(most), longest)).toEqual(expected);
  }
});

test("the JSON lines reader returns everything before a faulty line, and nothing after it", () => {
  const dice = random(4);
  const faults: [number[], string][] = [
    [[0xff], "FRAME_ENCODING"],
    [[0x22, 0xed, 0xa0, 0x80, 0x22], "FRAME_ENCODING"],
    [[0x00], "FRAME_MALFORMED"],
    [[...new TextEncoder().encode("oops é")], "FRAME_MALFORMED"],
    [new Array(500).fill(0x20), "FRAME_TOO_LARGE"],
  ];
  for (let round = 0; round < 200; round++) {
    const before = Array.from({ length: dice.below(6) }, (_, index) => ({
      index,
      text: dice.pick(["a", "é", "日本"]),
    }));
    const [fault, code] = dice.pick(faults);
    const lines = before.map((value) => new TextEncoder().encode(`${JSON.stringify(value)}\n`));
    const bytes = Uint8Array.from([...lines.flatMap((line) => [...line]), ...fault, 0x0a, ...(lines[0] ?? [])]);
    const most = dice.pick([1, 7, 4000]);
    expect(readAll(bytes, () => 1 + dice.below(most), 400)).toEqual([...before, code]);
  }
});

test("the JSON lines reader finds the first non-ASCII byte of a chunk wherever it is", () => {
  const memory = new Uint8Array(100).fill(0x7f);
  const wrong: number[][] = [];
  for (let offset = 0; offset < 9; offset++) {
    for (let length = 0; length < 80; length++) {
      const bytes = memory.subarray(offset, offset + length);
      for (let at = 0; at <= length; at++) {
        memory[offset + at] = at < length ? 0x80 : 0x7f;
        const found = [
          firstNonAscii(bytes, 0),
          firstNonAscii(bytes, at),
          firstNonAscii(bytes, Math.min(at + 1, length)),
        ];
        if (found[0] !== at || found[1] !== at || found[2]! < length) wrong.push([offset, length, at, ...found]);
        memory[offset + at] = 0x7f;
      }
    }
  }
  expect(wrong).toEqual([]);
});
