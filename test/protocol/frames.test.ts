// FrameParser: the open cases, then what rules F1..F13 say about streams that no open case has.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type FrameType, frameTypes } from "../../src/protocol/frame-shapes.ts";
import { type Frame, type FrameEnding, FrameParser, type FrameParserOptions } from "../../src/protocol/frames.ts";
import { type FrameCase, runFrameCase } from "./frames-driver.ts";

const cases = readFileSync(new URL("../cases/security-frames.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as FrameCase);

describe("open frame cases", () => {
  test.each(cases.map((given) => [given.id, given] as const))(
    "the frame parser handles the published case %s",
    (_id, given) => {
      const result = runFrameCase(given);
      expect(result.detail).not.toMatch(/expected|nobody/);
      expect(result).toMatchObject({ pass: true, safe: true, exact: true });
    },
  );

  test("the driver of frame cases fails a case with a wrong expectation", () => {
    const given = cases.find((one) => one.id.includes("no-final-newline"))!;
    expect(runFrameCase({ ...given, expect: { outcome: "fail_closed" } })).toMatchObject({ pass: false, safe: false });
    expect(runFrameCase({ ...given, expect: { outcome: "ok", events: ["system"] } }).pass).toBe(false);
    expect(runFrameCase({ ...given, expect: { outcome: "ok", unheard_of: 1 } }).pass).toBe(false);
  });
});

const init = '{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/w","session_id":"s1","model":"m"}';
const said = (text: string, session = "s1") =>
  JSON.stringify({
    type: "assistant",
    message: { role: "assistant", content: [{ type: "text", text }] },
    session_id: session,
  });
const result = '{"type":"result","subtype":"success","duration_ms":1,"is_error":false,"result":"ok","session_id":"s1"}';

type Input = string | number[];
const bytes = (input: Input) => (typeof input === "string" ? new TextEncoder().encode(input) : Uint8Array.from(input));

function parse(
  inputs: Input[],
  options: FrameParserOptions & { exit?: number | null; signal?: string; stderr?: string } = {},
): FrameEnding & { events: string[]; all: Frame[] } {
  const parser = new FrameParser(options);
  const all = inputs.flatMap((input) => parser.push(bytes(input)));
  const ending = parser.end({ exit: options.exit === undefined ? 0 : options.exit, ...options } as any);
  all.push(...ending.frames);
  const events = all.filter((frame) => frame.kind === "frame").map((frame) => frame.type);
  return { ...ending, events, all };
}

const failed = (code: string, events: string[]) => ({
  outcome: "fail_closed",
  error: expect.objectContaining({ name: "FrameError", code }),
  events,
});

describe("F1: any chunking", () => {
  const stream = bytes(`\ufeff${init}\r\n\n${said("é日本😀\u2028")}\n${said("x")} ${said("y")}\n${result}`);

  test.each([1, 2, 3, 5, 7, 64, 1000])("the frame parser gives the same frames in reads of %i bytes", (size) => {
    const parser = new FrameParser();
    const frames: Frame[] = [];
    for (let start = 0; start < stream.length; start += size)
      frames.push(...parser.push(stream.slice(start, start + size)));
    const ending = parser.end({ exit: 0 });
    frames.push(...ending.frames);
    expect(ending.outcome).toBe("ok");
    expect(frames.map((frame) => JSON.stringify(frame.value))).toEqual(
      [init, said("é日本😀\u2028"), said("x"), said("y"), result].map((line) => JSON.stringify(JSON.parse(line))),
    );
  });

  test("the frame parser accepts empty chunks, and callers may reuse a chunk's memory", () => {
    const parser = new FrameParser();
    const memory = bytes(said("kept").slice(0, 30));
    const frames = parser.push(memory);
    memory.fill(0);
    frames.push(...parser.push(new Uint8Array(0)), ...parser.push(bytes(`${said("kept").slice(30)}\n`)));
    expect(frames).toHaveLength(1);
  });
});

describe("F2: strict UTF-8", () => {
  const around = (middle: number[]) => [...bytes('{"type":"telemetry","x":"'), ...middle, ...bytes('"}\n')];

  test.each([
    ["a lone continuation", [0x80]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an overlong NUL", [0xc0, 0x80]],
    ["an overlong of three bytes", [0xe0, 0x80, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["beyond U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
    ["a cut character inside a line", [0xe6, 0x97]],
    ["Latin-1", [0xe9]],
  ])("strict UTF-8 in frames: %s", (_name, middle) => {
    expect(parse([`${init}\n`, around(middle), `${result}\n`])).toMatchObject(failed("FRAME_ENCODING", ["system"]));
    expect(parse([[...bytes(`${init}\n`), ...around(middle), ...bytes(result)]])).toMatchObject(
      failed("FRAME_ENCODING", ["system"]),
    );
  });

  test("at the end of a frame stream, a partial character is truncated and invalid UTF-8 malformed", () => {
    expect(parse([`${init}\n`, '{"type":"x","y":"', [0xf0, 0x9f, 0x98]])).toMatchObject(
      failed("FRAME_TRUNCATED", ["system"]),
    );
    expect(parse([`${init}\n`, '{"type":"x","y":"', [0xff]])).toMatchObject(failed("FRAME_ENCODING", ["system"]));
    expect(parse([`${init}\n`, '{"type":"x","y":"', [0xed, 0xa0]])).toMatchObject(failed("FRAME_ENCODING", ["system"]));
  });

  test("the frame parser accepts an escaped NUL and a literal replacement character as data", () => {
    expect(parse([`${init}\n`, `${said("a\u0000\ufffdb")}\n`, result])).toMatchObject({ outcome: "ok" });
  });
});

describe("F3: the last line", () => {
  test.each([
    '{"type":"assistant","mess',
    '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"a"}]}',
    '{"type":"assistant","n":12',
    '{"type":"assistant","n":tr',
    '{"type":"assistant","n":"\\u00',
    "{",
    `${said("a")} {"type"`,
  ])("the frame parser reports an incomplete last line as truncated: %s", (half) => {
    expect(parse([`${init}\n`, half])).toMatchObject(failed("FRAME_TRUNCATED", ["system"]));
  });

  test.each(["npm ERR!", "{'type':'x", '{"type":"x"}}', '{"a" 1', '{"a":tru3', '{"a":"\u0000', "[1,", '{"a":01,'])(
    "the frame parser reports a last line that could never become a frame as malformed: %s",
    (noise) => {
      expect(parse([`${init}\n`, noise])).toMatchObject(failed("FRAME_MALFORMED", ["system"]));
    },
  );

  test("the frame parser ignores blanks after the last line end", () => {
    expect(parse([`${init}\n${result}\n`, "  \t\r"])).toMatchObject({ outcome: "ok", ignored: 0, warnings: [] });
  });
});

describe("F4: the line limit", () => {
  const line = (size: number) => said("a".repeat(size - said("").length));

  test.each([
    ["\n", 1],
    ["\r\n", 1],
    ["\n", 700],
    ["\r\n", 700],
  ])(
    "the frame parser accepts a line at the limit and refuses one byte more; line end %j, reads of %i",
    (end, size) => {
      const split = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, "g"))!;
      const options = { maxLineBytes: 500 };
      expect(parse(split(`${line(500)}${end}${result}${end}`), options)).toMatchObject({ outcome: "ok" });
      expect(parse(split(`${line(501)}${end}${result}${end}`), options)).toMatchObject(failed("FRAME_TOO_LARGE", []));
    },
  );

  test("the frame parser refuses an endless line while it arrives, and does not keep it", () => {
    const parser = new FrameParser({ maxLineBytes: 1 << 20 });
    const read = new Uint8Array(1 << 16).fill(0x61);
    let reads = 0;
    while (!parser.error && reads < 100) {
      parser.push(read);
      reads++;
    }
    expect(parser.error?.code).toBe("FRAME_TOO_LARGE");
    expect(reads).toBe(17);
  });

  test("the frame parser applies the line limit per line, not to a read with many lines", () => {
    const lines = `${Array.from({ length: 50 }, () => line(400)).join("\n")}\n${result}\n`;
    expect(parse([lines], { maxLineBytes: 500 }).events).toHaveLength(51);
  });
});

describe("F5: malformed and misshapen frames", () => {
  test.each([
    "null",
    "true",
    "7",
    '"text"',
    "[]",
    "{}",
    '{"type":null}',
    '{"type":7}',
    '{"type":""}',
    '{"Type":"user"}',
    "{]",
    "}",
    `${said("a")},`,
    `${said("a")}[1]`,
    "NaN",
    '{"type":"x",}',
  ])("the malformed frame is refused: %s", (line) => {
    expect(parse([`${init}\n${line}\n${result}\n`])).toMatchObject(failed("FRAME_MALFORMED", ["system"]));
  });

  test.each([
    '{"type":"system"}',
    '{"type":"system","subtype":"init"}',
    '{"type":"system","subtype":"init","session_id":"s1","cwd":7}',
    '{"type":"user"}',
    '{"type":"user","message":{"role":"user","content":"hi"}}',
    '{"type":"user","message":{"role":"assistant","content":[]}}',
    '{"type":"assistant","message":null}',
    '{"type":"assistant","message":{"role":"assistant"}}',
    '{"type":"assistant","message":{"role":"assistant","content":{}}}',
    '{"type":"assistant","message":{"role":"assistant","content":["a"]}}',
    '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text"}]}}',
    '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":5}]}}',
    '{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":5}',
    '{"type":"assistant","message":{"role":"assistant","content":[]},"timestamp_ms":"5"}',
    '{"type":"thinking","subtype":"delta"}',
    '{"type":"tool_call","subtype":"started","call_id":"c"}',
    '{"type":"tool_call","subtype":"started","tool_call":{"readToolCall":{}}}',
    '{"type":"tool_call","subtype":"started","call_id":"c","tool_call":[]}',
    '{"type":"tool_call"}',
    '{"type":"interaction_query","subtype":"request","query_type":"x"}',
    '{"type":"result","subtype":"success","duration_ms":"1","is_error":false,"result":"ok"}',
    '{"type":"result","subtype":"success","duration_ms":1,"is_error":"no","result":"ok"}',
    '{"type":"result","subtype":"success","duration_ms":1,"is_error":false}',
    '{"type":"result","subtype":"success","duration_ms":1,"is_error":false,"result":{}}',
    '{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":-1e999,"is_error":false,"result":""}',
    '{"type":"result","subtype":"success","duration_ms":1,"is_error":false,"result":"","usage":{"inputTokens":1e400}}',
    '{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"limit":[1e999]}}}}',
    '{"type":"assistant_delta","content":"a"}',
    '{"type":"assistant_delta","data":{"content":1}}',
    '{"type":"usage","data":{"promptTokens":"1","completionTokens":2}}',
    '{"type":"usage","data":{"promptTokens":1e999,"completionTokens":2}}',
    '{"type":"error","data":{"code":1,"message":"m"}}',
    '{"type":"done"}',
    '{"type":"done","data":{"finishReason":1}}',
    '{"type":"tool_call","data":{"args":{}}}',
  ])("the frame parser refuses a frame of a known type with a wrong shape: %s", (line) => {
    expect(parse([`${init}\n${line}\n${result}\n`])).toMatchObject(failed("FRAME_SCHEMA", ["system"]));
  });

  test("the frame parser survives 100,000 levels of nesting", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const deepObjects = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
    for (const line of [
      `{"type":"telemetry","x":${deep}}`,
      deepObjects,
      deep,
      `{"type":"user","x":${"[".repeat(100_000)}`,
    ]) {
      expect(parse([`${init}\n${line}\n`])).toMatchObject(failed("FRAME_MALFORMED", ["system"]));
    }
    expect(parse([`${init}\n{"type":"user","x":${"[".repeat(100_000)}`])).toMatchObject(
      failed("FRAME_TRUNCATED", ["system"]),
    );
  });

  test("the frame parser delivers no frame after a fault", () => {
    const parser = new FrameParser();
    expect(parser.push(bytes(`${init}\nnoise\n${said("a")}\n`)).map((frame) => frame.type)).toEqual(["system"]);
    expect(parser.push(bytes(`${said("b")}\n`))).toEqual([]);
    expect(parser.end({ exit: 0 })).toMatchObject({ outcome: "fail_closed", frames: [] });
  });

  test("the frame parser can skip lines that are no frames, but not broken JSON objects", () => {
    const lines = `npm WARN old\n${init}\n[notice]\n${said("a")}\n${result}\n`;
    expect(parse([lines], { onNoise: "skip" })).toMatchObject({ outcome: "ok", ignored: 2 });
    expect(parse([`${init}\n{"type":\n`], { onNoise: "skip" })).toMatchObject(failed("FRAME_MALFORMED", ["system"]));
  });
});

describe("F6: unknown types", () => {
  test("the frame parser counts and skips frames of unknown types, or returns them on request", () => {
    const seen = parse([
      `${init}\n{"type":"constructor"}\n{"type":"__proto__","session_id":"s2","n":1e999}\n${said("a")}\n${result}\n`,
    ]);
    expect(seen).toMatchObject({ outcome: "ok", ignored: 2, events: ["system", "assistant", "result"] });
    expect(seen.all.filter((frame) => frame.kind === "other").map((frame) => frame.type)).toEqual([
      "constructor",
      "__proto__",
    ]);
  });
});

describe("F7: line ends", () => {
  test.each([
    ["a BOM before the second line", `${init}\n\ufeff${said("a")}\n`, ["system"]],
    ["two BOMs", `\ufeff\ufeff${init}\n`, []],
    ["a CR between two objects", `${init}\n${said("a")}\r${said("b")}\n`, ["system"]],
    ["a no-break space", `${init}\n\u00a0\n`, ["system"]],
    ["a form feed between objects", `${init}\n${said("a")}\f${said("b")}\n`, ["system"]],
    ["U+2028 between objects", `${init}\n${said("a")}\u2028${said("b")}\n`, ["system"]],
  ])("the frame parser reports %s as malformed", (_name, stream, events) => {
    expect(parse([stream])).toMatchObject(failed("FRAME_MALFORMED", events as string[]));
  });

  test("the frame parser accepts blank lines, a byte order mark and mixed line ends", () => {
    expect(parse([`\ufeff\n \t \r\n\r\n${init}\r\n${said("a\u2029\u0085")}\n\n${result}\r\n`])).toMatchObject({
      outcome: "ok",
      events: ["system", "assistant", "result"],
    });
  });

  test("the frame parser reads two JSON objects on one line as two frames", () => {
    expect(parse([`${init}${said('a } { \\" ')} \t ${said("b")}\r\n${result}\n`])).toMatchObject({
      outcome: "ok",
      events: ["system", "assistant", "assistant", "result"],
    });
    expect(parse([`${init}\n${said("a")} {"type":"user"\n`])).toMatchObject(failed("FRAME_MALFORMED", ["system"]));
  });
});

describe("F8: the first result is final", () => {
  test.each([
    ["another result", `${result}\n`],
    ["a frame of another session", `${said("x", "s2")}\n`],
    ["a wrong frame", '{"type":"assistant"}\n'],
    ["noise", "Killed\n"],
    ["half a line", '{"type":'],
    ["bytes that are not UTF-8", [0xff, 0x0a]],
    ["an unknown frame", '{"type":"telemetry"}\n'],
  ] as [string, Input][])("a frame of the kind %s after the result changes nothing", (_name, late) => {
    const seen = parse([`${init}\n${said("a")}\n${result}\n`, late]);
    expect(seen).toMatchObject({ outcome: "ok", ignored: 1, events: ["system", "assistant", "result"] });
    expect(seen.warnings).toHaveLength(1);
  });

  test("the frame parser accepts no frame after a done or error frame", () => {
    const delta = '{"type":"assistant_delta","data":{"content":"a"}}';
    const done = '{"type":"done","data":{"finishReason":"length"}}';
    const error = '{"type":"error","data":{"code":"MODEL_AUTH_ERROR","message":"token expired"}}';
    expect(parse([[delta, done, delta, ""].join("\n")])).toMatchObject({
      finish: "length",
      ignored: 1,
      events: ["assistant_delta", "done"],
    });
    expect(parse([[error, done, ""].join("\n")], { exit: 1 })).toMatchObject({
      outcome: "ok",
      finish: "error",
      events: ["error"],
    });
  });
});

describe("F9: end without result", () => {
  test.each([
    ["a code", { exit: 3, stderr: "boom" }, "CLI_EXIT"],
    ["a signal", { exit: null, signal: "SIGKILL", stderr: "boom" }, "CLI_EXIT"],
    ["no exit", { exit: null, stderr: "boom" }, "CLI_TIMEOUT"],
  ])("frames that end without a result: %s", (_name, child, code) => {
    const seen = parse([`${init}\n${said("a")}\n`], child);
    expect(seen).toMatchObject(failed(code, ["system", "assistant"]));
    expect(seen.error).toMatchObject({ stderr: "boom", message: expect.stringContaining("boom") });
  });

  test("a stream with no frame that can be forwarded is an error", () => {
    for (const stream of [
      "",
      "\n \n",
      "\ufeff",
      `${init}\n`,
      '{"type":"telemetry"}\n',
      '{"type":"protocol","data":{"version":"1.0"}}\n',
    ]) {
      expect(parse([stream]).error?.code).toBe("NO_OUTPUT");
    }
    expect(parse([], { exit: 1, stderr: "Authentication required" }).error).toMatchObject({
      code: "CLI_EXIT",
      stderr: "Authentication required",
    });
  });

  test("the frame parser counts exit code 0 after an answer as success", () => {
    for (const line of [
      said("a"),
      '{"type":"assistant_delta","data":{"content":"a"}}',
      '{"type":"tool_call","data":{"name":"exec","args":{}}}',
    ]) {
      expect(parse([line])).toMatchObject({ outcome: "ok", finish: "exit", warnings: [expect.any(String)] });
    }
  });

  test("the frame parser reports an incomplete last line rather than the exit code, with stderr", () => {
    const seen = parse([`${init}\n{"type"`], { exit: 1, stderr: "out of memory" });
    expect(seen.error).toMatchObject({ code: "FRAME_TRUNCATED", message: expect.stringContaining("out of memory") });
  });

  test("the frame parser keeps a result whatever the exit code, and mentions only a non-zero one", () => {
    const stream = `${init}\n${result}\n`;
    expect(parse([stream], { exit: 0 })).toMatchObject({ outcome: "ok", finish: "stop", warnings: [] });
    expect(parse([stream], { exit: null })).toMatchObject({ outcome: "ok", warnings: [] });
    expect(parse([stream], { exit: null, signal: "SIGTERM" }).warnings).toHaveLength(1);
  });
});

describe("F10, F11: session and version", () => {
  test("the frame parser refuses a frame of another session, and accepts one that names no session", () => {
    for (const line of [said("a", "s2"), result.replace("s1", ""), init.replace("s1", "s2")]) {
      expect(parse([`${init}\n${line}\n`])).toMatchObject(failed("FRAME_SESSION", ["system"]));
    }
    expect(parse([`${init}\n{"type":"connection","subtype":"reconnecting"}\n${result}\n`]).outcome).toBe("ok");
  });

  test("the frame parser accepts any shape for a frame without effect, but checks its session", () => {
    const types = new Map<string, FrameType>([...frameTypes, ["retry", { isIgnored: true }]]);
    const heard = (line: string) => parse([`${init}\n${line}\n${result}\n`], { types });
    expect(heard('{"type":"retry","subtype":7}')).toMatchObject({
      outcome: "ok",
      events: ["system", "retry", "result"],
    });
    expect(heard('{"type":"retry","session_id":"s1"}').outcome).toBe("ok");
    expect(heard('{"type":"retry","session_id":"s2"}')).toMatchObject(failed("FRAME_SESSION", ["system"]));
    expect(heard('{"type":"connection","subtype":7}').outcome).toBe("fail_closed");
  });

  test.each(['"2.0"', '"1"', '""', "1", "null", '"1.0 "'])(
    "the frame parser does not support version %s",
    (version) => {
      const line = `{"type":"protocol","data":{"version":${version}}}\n`;
      expect(parse([line, `${init}\n`])).toMatchObject(failed("FRAME_VERSION", []));
    },
  );

  test("the frame parser accepts listed protocol versions and frames without a version", () => {
    expect(
      parse(['{"type":"protocol","data":{"version":"2.0"}}\n', said("a")], { supported: ["1.0", "2.0"] }).outcome,
    ).toBe("ok");
    expect(parse(['{"type":"protocol","data":{}}\n', said("a")]).outcome).toBe("ok");
    expect(parse(['{"type":"protocol"}\n', said("a")]).outcome).toBe("ok");
  });
});

describe("F12: sentinel framing", () => {
  const framing = "sentinel";
  const delta = '{"type":"assistant_delta","data":{"content":"__JSON_END__"}}';
  const block = (body: string) => `__JSON_START__\n${body}\n__JSON_END__\n`;

  test("frame blocks may have many lines, noise between them, and any chunking", () => {
    const noise: number[] = [0xff, 0xfe, 0x0a];
    const pretty = JSON.stringify({ type: "done", data: { finishReason: "stop" } }, null, 2);
    const parts: Input[] = [
      "\ufeff__JSON_START__\r\n",
      delta,
      "\r\n__JSON_END__\r\n",
      noise,
      "__JSON_END__\n{\n",
      block(pretty),
    ];
    const whole = parts.flatMap((part) => [...bytes(part)]);
    for (const size of [1, 3, 1000]) {
      const reads = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.slice(index * size, (index + 1) * size),
      );
      expect(parse(reads, { framing })).toMatchObject({
        outcome: "ok",
        events: ["assistant_delta", "done"],
        ignored: 0,
      });
    }
  });

  test.each([
    ["no end mark", `__JSON_START__\n${delta}`, "FRAME_TRUNCATED"],
    ["half an end mark", `__JSON_START__\n${delta}\n__JSON_EN`, "FRAME_TRUNCATED"],
    ["a start mark alone", "__JSON_START__", "FRAME_TRUNCATED"],
    ["a second start mark", `__JSON_START__\n${delta}\n${block(delta)}`, "FRAME_TRUNCATED"],
    ["half an object in a block", block('{"type":"assistant_delta"'), "FRAME_MALFORMED"],
    ["noise in a block", block("noise"), "FRAME_MALFORMED"],
    ["frames outside blocks", `${delta}\n`, "NO_OUTPUT"],
  ])("frames with a sentinel: %s", (_name, stream, code) => {
    expect(parse([stream], { framing })).toMatchObject(failed(code, []));
  });

  test("the frame parser refuses invalid UTF-8 and oversized blocks, but not larger noise", () => {
    expect(parse([`__JSON_START__\n`, [0xff], "\n__JSON_END__\n"], { framing }).error?.code).toBe("FRAME_ENCODING");
    const limits = { framing, maxLineBytes: 1000 } as const;
    expect(parse(["x".repeat(5000), "x".repeat(5000), `\n${block(delta)}`], limits).events).toEqual([
      "assistant_delta",
    ]);
    expect(parse([`__JSON_START__\n${" ".repeat(2000)}`], limits).error?.code).toBe("FRAME_TOO_LARGE");
    expect(parse([`__JSON_START__\n${" \n".repeat(2000)}`], limits).error?.code).toBe("FRAME_TOO_LARGE");
  });

  test("sentinel marks count as noise in a stream whose frames are lines", () => {
    expect(parse([block(delta)])).toMatchObject(failed("FRAME_MALFORMED", []));
  });
});

describe("F13: tools", () => {
  const call = (name: string, args: unknown) => `${JSON.stringify({ type: "tool_call", data: { name, args } })}\n`;

  test.each(["exec", "Web_fetch", "web_fetch ", "__proto__", "constructor", ""])(
    "the frame parser refuses a call of an unknown tool: %j",
    (name) => {
      expect(parse([call(name, { url: "u" })], { tools: ["web_fetch"] })).toMatchObject(failed("TOOL_UNKNOWN", []));
    },
  );

  test.each([undefined, null, "url", [], 5])(
    "the frame parser refuses a call with arguments that are not an object: %j",
    (args) => {
      expect(parse([call("exec", args)], { tools: ["exec"] })).toMatchObject(failed("TOOL_ARGUMENTS", []));
    },
  );

  test("the frame parser refuses call arguments that violate the tool's schema", () => {
    expect(parse([call("web_fetch", {})], { tools: ["web_fetch"] })).toMatchObject(failed("TOOL_ARGUMENTS", []));
    expect(parse([call("web_fetch", { url: 5 })], { tools: ["web_fetch"] })).toMatchObject(
      failed("TOOL_ARGUMENTS", []),
    );
    const exec = {
      name: "exec",
      schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
    };
    expect(parse([call("exec", { n: 1.5 })], { tools: [exec] })).toMatchObject(failed("TOOL_ARGUMENTS", []));
    expect(parse([call("exec", { n: 1, m: 2 })], { tools: [exec] })).toMatchObject(failed("TOOL_ARGUMENTS", []));
    expect(parse([call("exec", { n: 1 })], { tools: [exec] })).toMatchObject({ outcome: "ok", events: ["tool_call"] });
  });

  test("with an empty list of tools the frame parser allows no call; without a list it checks none", () => {
    expect(parse([call("exec", {})], { tools: [] })).toMatchObject(failed("TOOL_UNKNOWN", []));
    expect(parse([call("exec", {})])).toMatchObject({ outcome: "ok" });
  });
});
