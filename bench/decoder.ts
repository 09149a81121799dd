// How fast a stream of another CLI becomes events, beside bare JSON.parse of the same lines.
import { FrameParser } from "../src/protocol/frames.ts";
import { createDecoder } from "../src/protocol/stream-json.ts";

export type DecoderFigures = {
  /** Speed of bytes -> events as a part of the speed of JSON.parse alone. */
  ratio: number;
  megabytes: number;
  lines: number;
  events: number;
  decodeMbPerSecond: number;
  parseMbPerSecond: number;
  /** Growth of the process while one whole stream goes through, read by read. */
  peakRssGrowthMb: number;
};

const readBytes = 65_536;
const rounds = 5;

export async function decoderRatio(megabytes = 50): Promise<DecoderFigures> {
  const size = megabytes * 1e6;
  const passes: { decode: number; parse: number }[] = [];
  let counts = { lines: 0, events: 0 };
  // The first round warms both up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const pass = await interleaved(size);
    counts = { lines: pass.lines, events: pass.events };
    if (round > 0) passes.push(pass);
  }
  const decode = median(passes.map((pass) => pass.decode));
  const parse = median(passes.map((pass) => pass.parse));
  return {
    ratio: median(passes.map((pass) => pass.parse / pass.decode)),
    megabytes,
    ...counts,
    decodeMbPerSecond: megabytes / decode,
    parseMbPerSecond: megabytes / parse,
    peakRssGrowthMb: await rssGrowth(size),
  };
}

/** Time of the processor, not of the clock: the longer of two tasks is interrupted more often on a busy machine. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Both work on the same megabyte in turn, so that whatever disturbs the machine disturbs both. */
async function interleaved(size: number) {
  const parser = new FrameParser();
  const decode = createDecoder();
  const seconds = { decode: 0, parse: 0 };
  const counts = { lines: 0, events: 0 };
  let parts = 0;
  for (const part of streamOf(size)) {
    // Strings of their own, as a reader of lines would have them, not slices of one large text.
    const lines = part.map((line) => Buffer.from(line).toString());
    const reads = cut(part);
    const tasks = parts++ % 2 === 0 ? [decodeReads, parseLines] : [parseLines, decodeReads];
    for (const task of tasks) task();
    counts.lines += lines.length;
    await new Promise((resolve) => setImmediate(resolve));

    function decodeReads() {
      const start = processorSeconds();
      for (const read of reads) for (const frame of parser.push(read)) counts.events += decode(frame.value).length;
      seconds.decode += processorSeconds() - start;
    }

    function parseLines() {
      const start = processorSeconds();
      for (const line of lines) JSON.parse(line);
      seconds.parse += processorSeconds() - start;
    }
  }
  if (parser.error) throw parser.error;
  return { ...seconds, ...counts };
}

async function rssGrowth(size: number): Promise<number> {
  const parser = new FrameParser();
  const decode = createDecoder();
  const start = process.memoryUsage.rss();
  let peak = start;
  for (const part of streamOf(size)) {
    for (const read of cut(part)) for (const frame of parser.push(read)) decode(frame.value);
    peak = Math.max(peak, process.memoryUsage.rss());
    await new Promise((resolve) => setImmediate(resolve));
  }
  return (peak - start) / 2 ** 20;
}

function cut(lines: string[]): Uint8Array[] {
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  const reads: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += readBytes) reads.push(bytes.slice(start, start + readBytes));
  return reads;
}

export const session = "a41193d9-b74e-4867-bf36-35e1c76ba3ef";

/** Parts of about a megabyte, made while they are read: thinking, deltas, flushes, calls with small and large results. */
export function* streamOf(size: number): Generator<string[]> {
  let made = 0;
  let turn = 0;
  yield [
    line({
      type: "system",
      subtype: "init",
      apiKeySource: "login",
      cwd: "/w",
      session_id: session,
      model: "Auto",
      permissionMode: "default",
    }),
  ];
  while (made < size) {
    const part: string[] = [];
    let bytes = 0;
    while (bytes < 1e6) for (const one of turnLines(turn++)) bytes += part.push(one) && one.length + 1;
    made += bytes;
    yield part;
  }
}

function* turnLines(turn: number): Generator<string> {
  const modelCall = `59ff63a6-195e-463f-89ce-f26a820987bf-${turn}-c94p`;
  const time = 1784819288883 + turn * 1000;
  for (let index = 0; index < 20; index++) {
    yield line({
      type: "thinking",
      subtype: "delta",
      text: ` word ${index}`,
      session_id: session,
      timestamp_ms: time + index,
    });
  }
  yield line({ type: "thinking", subtype: "completed", session_id: session, timestamp_ms: time + 20 });
  let said = "";
  for (let index = 0; index < 15; index++) {
    // A little of what is not ASCII, as in real answers.
    const text = index % 10 === 7 ? " it’s — naïve" : ` and then some ${index}`;
    said += text;
    yield line({ type: "assistant", message: message(text), session_id: session, timestamp_ms: time + 30 + index });
  }
  yield line({
    type: "assistant",
    message: message(said),
    session_id: session,
    model_call_id: modelCall,
    timestamp_ms: time + 50,
  });
  const source = "export function add(one: number, other: number) {\n  return one + other;\n}\n";
  yield* call({
    name: "readToolCall",
    id: `call-${turn}-0\nfc_${turn}_0`,
    args: { path: `/w/src/file-${turn}.ts` },
    result: {
      success: {
        content: source.repeat(turn % 8 === 0 ? 200 : 20),
        isEmpty: false,
        exceededLimit: false,
        totalLines: 61,
        fileSize: 1480,
        path: "/w/src/file.ts",
        readRange: { startLine: 1, endLine: 61 },
      },
    },
    modelCall,
    time: time + 60,
  });
  yield* call({
    name: "shellToolCall",
    id: `call-${turn}-1\nfc_${turn}_1`,
    args: {
      command: "npm test",
      workingDirectory: "",
      timeout: 30000,
      simpleCommands: ["npm"],
      hasInputRedirect: false,
      hasOutputRedirect: false,
      parsingResult: {
        parsingFailed: false,
        executableCommands: [{ name: "npm", args: [{ type: "word", value: "test" }], fullText: "npm test" }],
        hasRedirects: false,
        hasCommandSubstitution: false,
        redirects: [],
      },
      fileOutputThresholdBytes: "40000",
      isBackground: false,
      skipApproval: false,
      timeoutBehavior: "TIMEOUT_BEHAVIOR_BACKGROUND",
    },
    result: {
      success: {
        command: "npm test",
        workingDirectory: "",
        exitCode: 0,
        signal: "",
        stdout: "ok 1 - adds\n".repeat(40),
        stderr: "",
        executionTime: 1479,
        interleavedOutput: "ok 1 - adds\n".repeat(40),
        localExecutionTimeMs: 280,
      },
      isBackground: false,
    },
    modelCall,
    time: time + 80,
  });
}

function* call(given: {
  name: string;
  id: string;
  args: object;
  result: object;
  modelCall: string;
  time: number;
}): Generator<string> {
  const { name, id, args, result, modelCall, time } = given;
  const siblings = { hookAdditionalContexts: [], toolCallId: id, startedAtMs: String(time) };
  const after = { model_call_id: modelCall, session_id: session, timestamp_ms: time };
  yield line({
    type: "tool_call",
    subtype: "started",
    call_id: id,
    tool_call: { [name]: { args }, ...siblings },
    ...after,
  });
  const toolCall = { [name]: { args, result }, ...siblings, completedAtMs: String(time + 9) };
  yield line({ type: "tool_call", subtype: "completed", call_id: id, tool_call: toolCall, ...after });
}

function message(text: string) {
  return { role: "assistant", content: [{ type: "text", text }] };
}

export function line(value: object): string {
  return JSON.stringify(value);
}

function median(values: number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
