// What frames mean to a caller: usage in both spellings, calls in every form, types that nobody knows.
import { describe, expect, test } from "vitest";
import { cliInput } from "../../src/adapter/cli-input.ts";
import { FrameReader } from "../../src/adapter/frame-reader.ts";
import { FrameParser } from "../../src/protocol/frames.ts";
import { toolTable } from "../../src/protocol/turn-contract.ts";

const tools = [{ name: "note", schema: { type: "object" } }];

function read(...lines: object[]) {
  const parser = new FrameParser({ tools });
  const reader = new FrameReader(toolTable(tools));
  const frames = lines.flatMap((line) => parser.push(Buffer.from(`${JSON.stringify(line)}\n`)));
  expect(parser.error).toBeUndefined();
  return frames.map((frame) => reader.read(frame));
}

const result = (usage: object) => ({
  type: "result",
  subtype: "success",
  duration_ms: 1,
  is_error: false,
  result: "ok",
  usage,
});

describe("frames of other CLIs", () => {
  test("token usage is read from snake_case and camelCase fields", () => {
    const expected = { promptTokens: 12, completionTokens: 3 };
    for (const usage of [
      { inputTokens: 7, outputTokens: 3, cacheReadTokens: 4, cacheWriteTokens: 1 },
      { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 4, cache_creation_input_tokens: 1 },
    ])
      expect(read(result(usage))[0]!.events[0]).toEqual({ type: "usage", data: expected });
  });

  test("a nested tool call in a CLI's stream does not need an id", () => {
    const [told] = read({ type: "tool_call", subtype: "started", tool_call: { name: "note", arguments: "{}" } });
    expect(told!.events).toEqual([{ type: "tool_call", data: { name: "note", args: {} } }]);
  });

  test("an unknown frame type fails in turn JSON, and is skipped in a CLI's stream", () => {
    const unknown = { type: "tool_cal", data: { name: "note", args: {} } };
    expect(read(unknown)[0]!.fault).toMatchObject({
      code: "FRAME_SCHEMA",
      message: expect.stringContaining("tool_cal"),
    });
    const init = { type: "system", subtype: "init", session_id: "s" };
    expect(read(init, unknown).map(({ fault }) => fault)).toEqual([undefined, undefined]);
    expect(read({ type: "thread.started", thread_id: "t" })[0]!.fault).toBeUndefined();
  });

  test("our own CLI is found without PATH", () => {
    const { PATH } = process.env;
    process.env["PATH"] = "/nowhere";
    try {
      const model = { command: "agent", args: ["-p"], promptAsArg: false, headlessFlags: [], closeStdinAfterMs: 1 };
      const turn = { type: "turn" as const, turnId: "t", messages: [], tools: [] };
      expect(cliInput(model, turn)).toMatchObject({
        command: process.execPath,
        args: [expect.stringMatching(/courser\.cjs$/), "-p"],
      });
      expect(cliInput({ ...model, command: "other" }, turn).command).toBe("other");
    } finally {
      process.env["PATH"] = PATH;
    }
  });
});
