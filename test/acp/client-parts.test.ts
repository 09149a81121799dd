// What the agent reads, writes and asks through an editor, over a client in memory; and lines of input at their limits.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clientBuffers } from "../../src/acp/buffers.ts";
import type { AcpClient } from "../../src/acp/client.ts";
import { clientHuman } from "../../src/acp/human.ts";
import { LineReader } from "../../src/acp/lines.ts";
import { rpcCodes } from "../../src/acp/rpc.ts";
import type { Question } from "../../src/protocol/run.ts";

type Reply = { result: unknown } | { error: { code: number; message: string; data?: unknown } };
let asked: [method: string, params: any, signal: AbortSignal | undefined][];
let reply: (method: string) => Reply | Promise<Reply>;
beforeEach(() => {
  asked = [];
  reply = () => ({ result: {} });
});
afterEach(() => void vi.useRealTimers());

const client = (can: object = {}): AcpClient =>
  ({
    can: { readsFiles: true, writesFiles: true, elicits: false, cursor: new Set(), ...can },
    request: async (method: string, params: object, signal?: AbortSignal) => {
      asked.push([method, params, signal]);
      return reply(method);
    },
  }) as never;
const failing =
  (message: string, more: object = {}) =>
  () => ({ error: { code: -32603, message, ...more } });
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => "no failure",
    (error) => error.outcome?.value?.error ?? error.message,
  );

describe("files of the editor", () => {
  const { signal } = new AbortController();
  const buffers = (can: object = {}) => clientBuffers(client(can), "s", () => signal)!;

  it("the agent reads and writes an editor's files only if the ACP client supports it", async () => {
    expect(clientBuffers(client({ readsFiles: false }), "s", () => signal)).toBeUndefined();
    expect(await buffers({ writesFiles: false }).write("/a", "x")).toBe(false);
    expect(asked).toEqual([]);
  });

  it("the agent reads text from the ACP editor, and from the disk what the editor does not know", async () => {
    reply = () => ({ result: { content: "unsaved" } });
    expect(await buffers().read("/a")).toBe("unsaved");
    expect(asked.map(([method, params]) => [method, params])).toEqual([
      ["fs/read_text_file", { sessionId: "s", path: "/a" }],
    ]);
    for (const result of [{}, { content: 7 }, "text", null]) {
      reply = () => ({ result });
      expect(await buffers().read("/a")).toBeUndefined();
    }
    for (const error of [failing("no such file"), failing("denied", { code: rpcCodes.notFound })]) {
      reply = error;
      expect(await buffers().read("/a")).toBeUndefined();
    }
  });

  it.each([
    ["Permission missing", {}, "Permission missing"],
    ["Internal error", { data: { details: "access denied" } }, "Internal error: access denied"],
    ["Internal error", { data: "not allowed" }, "Internal error: not allowed"],
    ["The user rejected it", { data: "" }, "The user rejected it"],
    ["refused", { data: { details: 7 } }, "refused"],
  ])("a read that is refused with '%s' and %j fails", async (message, more, words) => {
    reply = failing(message, more);
    expect(await failureOf(buffers().read("/a"))).toContain(`The editor refused to read /a: ${words}`);
  });

  it("a file that came from the editor is written through it, or not at all", async () => {
    const own = buffers();
    expect(await own.write("/a", "x")).toBe(true);
    expect(asked[0]!.slice(0, 2)).toEqual(["fs/write_text_file", { sessionId: "s", path: "/a", content: "x" }]);
    reply = failing("no such file");
    expect(await own.write("/a", "x")).toBe(false);
    reply = () => ({ result: { content: "unsaved" } });
    await own.read("/a");
    reply = failing("disk is full");
    expect(await failureOf(own.write("/a", "x"))).toContain("The editor did not write /a: disk is full");
    expect(await own.write("/b", "x")).toBe(false);
    await own.read("/a"); // it is not the editor's any more
    expect(await own.write("/a", "x")).toBe(false);
    for (const error of [failing("denied"), failing("late", { code: rpcCodes.cancelled })]) {
      reply = error;
      expect(await failureOf(own.write("/b", "x"))).toContain("The editor did not write /b");
    }
  });

  it("a silent editor is waited for 15 seconds, or until the turn is stopped", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    reply = () => new Promise(() => {});
    const stop = new AbortController();
    const own = clientBuffers(client(), "s", () => stop.signal)!;
    void own.read("/a");
    const waiting = asked[0]![2]!;
    vi.advanceTimersByTime(14_999);
    expect(waiting.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(waiting.aborted).toBe(true);
    void own.write("/a", "x");
    stop.abort();
    expect(asked[1]![2]!.aborted).toBe(true);
  });
});

describe("questions to the user of an editor", () => {
  const session = (more: object = {}) =>
    ({
      ...{
        id: "s",
        workspace: "/w",
        calls: new Map(),
        prompted: async () => true,
        cancelled: new AbortController().signal,
      },
      ...more,
    }) as never;
  const { signal } = new AbortController();
  const ask = (question: object, can: object = {}, more: object = {}) =>
    clientHuman(client(can), session(more)).ask(question as Question, signal);
  const permission = { type: "permission", id: "q", callId: "c", tool: "shell", args: { command: "ls" }, reasons: [] };
  const plan = { type: "plan", id: "p", name: "n", text: "t", todos: [] };
  const choices = {
    type: "choices",
    id: "x",
    questions: [{ id: "1", prompt: "Which?", options: [{ id: "a", label: "A" }] }],
  };

  it("choices are answered only by a client that can show them", () => {
    const answers = (can: object) => clientHuman(client(can), session()).answers!.includes("choices");
    expect([answers({}), answers({ elicits: true }), answers({ cursor: new Set(["ask_question"]) })]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("a question that comes before its prompt, or after its end, is answered with no", async () => {
    const stopped = { type: "no", reason: "The run was stopped before there was an answer." };
    expect(await ask(permission, {}, { prompted: async () => false })).toEqual(stopped);
    expect(asked).toEqual([]);
    const stop = new AbortController();
    reply = () => {
      stop.abort();
      return { result: { outcome: { outcome: "selected", optionId: "allow-once" } } };
    };
    expect(await ask(permission, {}, { cancelled: stop.signal })).toEqual(stopped);
  });

  it.each<[Reply, object]>([
    [{ result: { outcome: { outcome: "selected", optionId: "allow-once" } } }, { type: "yes" }],
    [
      { result: { outcome: { outcome: "selected", optionId: "reject-once" } } },
      { type: "no", reason: "The user said no." },
    ],
    [
      { result: { outcome: { outcome: "selected", optionId: "other" } } },
      { type: "no", reason: "The answer was none of the options." },
    ],
    [{ result: { outcome: { outcome: "cancelled" } } }, { type: "no", reason: "The user gave no answer." }],
    [{ result: null }, { type: "no", reason: "The user gave no answer." }],
    [{ error: { code: 1, message: "broken" } }, { type: "no", reason: "The client could not ask: broken" }],
  ])("the client's reply %j to a permission", async (given, answer) => {
    reply = () => given;
    expect(await ask(permission)).toEqual(answer);
    const [method, params] = asked[0]!;
    expect([method, params.sessionId, Object.keys(params.options[0])]).toEqual([
      "session/request_permission",
      "s",
      ["optionId", "name", "kind"],
    ]);
  });

  it("an ACP client that supports plans shows one; other clients get a permission request", async () => {
    const cursor = { cursor: new Set(["create_plan"]) };
    reply = () => ({ result: { outcome: { outcome: "accepted" } } });
    expect(await ask(plan, cursor)).toEqual({ type: "yes" });
    expect(asked.map(([method]) => method)).toEqual(["cursor/create_plan"]);
    reply = () => ({ result: { outcome: { outcome: "rejected", reason: "why" } } });
    expect(await ask(plan, cursor)).toEqual({ type: "no", reason: "why" });
    reply = () => ({ result: { outcome: { outcome: "rejected", reason: "" } } });
    expect(await ask(plan, cursor)).toEqual({ type: "no", reason: "The user did not accept it." });
    asked = [];
    reply = (method) =>
      method === "cursor/create_plan"
        ? { error: { code: rpcCodes.methodNotFound, message: "unknown" } }
        : { result: { outcome: { outcome: "cancelled" } } };
    expect((await ask(plan, cursor)).type).toBe("no");
    expect(asked.map(([method]) => method)).toEqual(["cursor/create_plan", "session/request_permission"]);
    asked = [];
    await ask(plan);
    expect(asked.map(([method]) => method)).toEqual(["session/request_permission"]);
  });

  it("the agent asks a choice question through Cursor's ACP extension, a form, or not at all", async () => {
    expect(await ask(choices)).toEqual({ type: "choices", answers: [] });
    const other = { callId: "other", tool: "askQuestion", args: { questions: [] } };
    const own = { callId: "own", tool: "askQuestion", args: { questions: choices.questions } };
    const mcp = { callId: "mcp", tool: "mcp", args: {} };
    const callsOf = (...calls: { callId: string }[]) => ({ calls: new Map(calls.map((call) => [call.callId, call])) });
    const elicits = { elicits: true };
    await ask(choices, elicits, callsOf(other, mcp, own));
    await ask(choices, elicits, callsOf(other, mcp));
    await ask(choices, elicits, callsOf(other));
    expect(asked.map(([method, params]) => [method, params.toolCallId])).toEqual([
      ["elicitation/create", "own"],
      ["elicitation/create", "mcp"],
      ["elicitation/create", undefined],
    ]);
    asked = [];
    await ask(choices, { ...elicits, cursor: new Set(["ask_question"]) }, callsOf(own));
    expect(asked.map(([method]) => method)).toEqual(["cursor/ask_question"]);
  });
});

describe("lines of input", () => {
  const read = (pieces: (string | Buffer)[], longest = 5) => {
    const lines: unknown[] = [];
    const reader = new LineReader((line) => lines.push(line), longest);
    for (const piece of pieces) reader.push(Buffer.from(piece));
    reader.end();
    return lines;
  };
  const tooLong = { fault: "A line is longer than 5 bytes." };

  it.each<[string, (string | Buffer)[], unknown[]]>([
    ["whole, in pieces, and without an end", ["ab\ncd", "e\n", "f"], ["ab", "cde", "f"]],
    ["empty and blank", ["\n \n\t\na\n"], ["a"]],
    ["just short enough", ["abcde\n"], ["abcde"]],
    ["too long, at once", ["abcdef\nok\n"], [tooLong, "ok"]],
    [
      "too long, in pieces, and too long again",
      ["abcd", "efgh", "ijkl", "\n", "ok\nabcdefg\n"],
      [tooLong, "ok", tooLong],
    ],
    ["too long and last", ["abcdefgh"], [tooLong]],
    ["not UTF-8", [Buffer.from([0x61, 0xff, 0x0a]), "ok\n"], [{ fault: "A line is not valid UTF-8." }, "ok"]],
    ["a letter cut in two", [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1), "\n"], ["é"]],
  ])("a line that is %s", (_what, pieces, lines) => expect(read(pieces)).toEqual(lines));
});
