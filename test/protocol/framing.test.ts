import { describe, expect, test } from "vitest";
import { FrameParser } from "../../src/protocol/frames.ts";

const delta = '{"type":"assistant_delta","data":{"content":"a"}}';
const done = '{"type":"done","data":{"finishReason":"stop"}}';
const block = (json: string) => `__JSON_START__\n${json}\n__JSON_END__\n`;

function play(text: string, { size = text.length * 4, framing = "auto" as "auto" | "ndjson" } = {}) {
  const parser = new FrameParser({ framing });
  const bytes = new TextEncoder().encode(text);
  const types: string[] = [];
  for (let start = 0; start < bytes.length; start += size)
    for (const frame of parser.push(bytes.subarray(start, start + size))) types.push(frame.type);
  const ending = parser.end({ exit: 0 });
  for (const frame of ending.frames) types.push(frame.type);
  return { types, code: ending.error?.code };
}

describe("framing detected from the first line", () => {
  const streams: [name: string, text: string][] = [
    ["lines", `${delta}\n${done}\n`],
    ["lines after blank ones", `\n  \r\n${delta}\n${done}\n`],
    ["lines after a byte order mark", `\ufeff${delta}\n${done}\n`],
    ["one line without an end", `${delta} ${done}`],
    ["blocks", block(delta) + block(done)],
    ["blocks with CR LF", (block(delta) + block(done)).replaceAll("\n", "\r\n")],
    ["blocks after blank lines", `\n \n${block(delta)}${block(done)}`],
    ["blocks after a byte order mark", `\ufeff${block(delta)}${block(done)}`],
    ["blocks with a blank before the mark", `  ${block(delta)}noise between them\n${block(done)}`],
  ];
  test.each(streams)("the frame parser detects the framing as %s, in reads of any size", (_name, text) => {
    for (const size of [1, 2, 3, 7, 15, 1000])
      expect(play(text, { size })).toEqual({ types: ["assistant_delta", "done"], code: undefined });
  });

  test("the first frame fixes a stream's framing, and a later block mark is malformed", () => {
    expect(play(`${delta}\n${block(done)}`)).toEqual({ types: ["assistant_delta"], code: "FRAME_MALFORMED" });
    expect(play(`hello\n${block(done)}`)).toEqual({ types: [], code: "FRAME_MALFORMED" });
  });

  test("model text that looks like a block mark does not change the framing", () => {
    const spoof = '{"type":"assistant_delta","data":{"content":"__JSON_START__"}}';
    expect(play(`${spoof}\n${done}\n`).types).toEqual(["assistant_delta", "done"]);
  });

  test("the frame parser takes no empty output, blanks or partial frame mark for an answer", () => {
    for (const text of ["", "\n\n", " ".repeat(5000)]) expect(play(text).code).toBe("NO_OUTPUT");
    expect(play("__JSON_ST").code).toBe("FRAME_MALFORMED");
    expect(play("__JSON_START__").code).toBe("FRAME_TRUNCATED");
  });

  test("the frame parser looks for frame blocks only on request", () => {
    expect(play(block(done), { framing: "ndjson" }).code).toBe("FRAME_MALFORMED");
  });
});
