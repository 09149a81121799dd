// What is tried on every CLI. A scenario returns what is wrong, or nothing.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { detectCli, getCapabilities, loadSession, start } from "../../src/sdk/index.ts";
import type { ModelAnswer } from "../../src/testing/kit/model-server.ts";
import { askedIn } from "../../src/testing/kit/wires/asked.ts";
import { violationsIn } from "../model/strict/server.ts";
import { started } from "../support/peer-cli.ts";
import { calling, differs, done, endsIn, type Scenario, told } from "./checks.ts";
import { optionScenarios } from "./option-scenarios.ts";
import { isTurn, type Trial } from "./trial.ts";

const server = resolve(import.meta.dirname, "../../scripts/tiny-mcp-server.mjs");

export const scenarios: Record<string, Scenario> = {
  async detect({ cli, env }) {
    const found = await detectCli(cli.tool, { executable: cli.program, env: { ...process.env, ...env } });
    return differs({ version: [found?.version, /^\d+\.\d+\.\d+/], path: [found?.path, cli.program] });
  },

  async text(trial) {
    trial.says([{ text: ["Four ", "is the ", "answer."] }]);
    const prompt = 'Say "four" & more:\n2+2 = $X?';
    const { result, events, requests } = await trial.run({ prompt });
    const asked = askedIn(requests[0]!)?.messages.findLast(({ role }) => role === "user")?.text ?? "";
    const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : [])).join("");
    return differs({
      outcome: [result.outcome, "success"],
      text: [result.text, "Four is the answer."],
      pieces: [pieces, "Four is the answer."],
      session: [typeof result.sessionId, "string"],
      requests: [requests.length, 1],
      "what the model is asked": [asked.trim().endsWith(prompt) ? prompt : asked, prompt],
      turns: [result.turns, 1],
    });
  },

  async tool(trial) {
    const { peer } = trial.cli;
    trial.says([calling(peer.shell("echo hello >&2")), done]);
    const { result, events } = await trial.run();
    const [end] = endsIn(events);
    const args = (end?.args ?? {}) as Record<string, unknown>;
    return differs({
      text: [result.text, "Done."],
      name: [end?.name, "Bash"],
      command: [args.command, "echo hello >&2"],
      redirect: ["hasOutputRedirect" in args && args.hasOutputRedirect === false, false],
      kind: [end?.outcome?.kind, "success"],
      output: [String(told(end, "stdout")).trim(), "hello"],
      turns: [result.turns, 2],
    });
  },

  async "two calls at once"(trial) {
    const { peer } = trial.cli;
    trial.says([calling(peer.shell("echo one"), peer.shell("echo two")), done]);
    const { events, requests } = await trial.run();
    const results = askedIn(requests.at(-1)!)?.messages.flatMap(({ role, text }) => (role === "tool" ? [text] : []));
    const outputs = endsIn(events).map((end) => String(told(end, "stdout")).trim());
    return differs({
      outputs: [outputs.sort(), ["one", "two"]],
      "what the model is told": [["one", "two"].every((word) => results?.some((text) => text.includes(word))), true],
      requests: [requests.length, 2],
    });
  },

  async "exit code"(trial) {
    trial.says([calling(trial.cli.peer.shell("echo oops; exit 3")), done]);
    const { events } = await trial.run();
    const [end] = endsIn(events);
    return differs({ kind: [end?.outcome?.kind, "failure"], exitCode: [told(end, "exitCode"), 3] });
  },

  async "edit diff"(trial) {
    const { peer } = trial.cli;
    const file = trial.file("a.txt");
    const made = trial.file("new.txt");
    writeFileSync(file, "zero\none\ntwo\n");
    trial.says([
      ...(peer.read ? [calling(peer.read(file))] : []),
      calling(peer.edit(file, "two", "three")),
      calling(peer.write(made, "new\n")),
      done,
    ]);
    const { events } = await trial.run();
    const [edit, write] = endsIn(events).slice(-2);
    return differs({
      file: [readFileSync(file, "utf8"), "zero\none\nthree\n"],
      edit: [edit?.name, "Edit"],
      "lines of the edit": [
        [told(edit, "linesAdded"), told(edit, "linesRemoved")],
        [1, 1],
      ],
      diff: [told(edit, "diffString"), /-two\n\+three/],
      write: [write?.name, "Write"],
      "lines of the new file": [
        [told(write, "linesAdded"), told(write, "linesRemoved")],
        [1, 0],
      ],
    });
  },

  async read(trial) {
    const { peer } = trial.cli;
    const file = trial.file("a.txt");
    writeFileSync(file, "one\ntwo\nthree\n");
    if (!peer.read) return "it has no tool that reads files";
    trial.says([calling(peer.read(file)), done]);
    const { events } = await trial.run();
    const [end] = endsIn(events);
    return differs({
      name: [end?.name, "Read"],
      kind: [end?.outcome?.kind, "success"],
      content: [String(told(end, "content") ?? ""), /^one\ntwo\nthree\n?$/],
      "called empty": [told(end, "isEmpty") === true, false],
    });
  },

  async "usage, three turns"(trial) {
    trial.says([done]);
    const first = await trial.run();
    const counted = [first.result.usage];
    for (let turn = 0; turn < 2; turn++)
      counted.push((await trial.run({ resume: first.result.sessionId! })).result.usage);
    const expected = { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40, cacheWriteTokens: 0 };
    return differs({ usage: [counted, [expected, expected, expected]] });
  },

  async schema(trial) {
    const schema = z.object({ colour: z.string() });
    const { tool } = trial.cli;
    const answer = { colour: "red" };
    trial.says([
      tool === "claude" ? calling({ name: "StructuredOutput", args: answer }) : { text: JSON.stringify(answer) },
      done,
    ]);
    const { result } = await trial.run({ schema });
    return differs({
      outcome: [result.outcome, "success"],
      data: [result.outcome === "success" ? result.data : result.error.message, answer],
    });
  },

  async image(trial) {
    const file = trial.file("red.png");
    writeFileSync(file, Buffer.from(redPixel, "base64"));
    const { peer, tool } = trial.cli;
    const { images } = await getCapabilities(tool, { executable: trial.cli.program });
    trial.says([images || !peer.read ? done : calling(peer.read(file)), done]);
    const { result, requests } = await trial.run({ images: [file] });
    const sent = requests.some(({ body }) => /image\/png/.test(body.toString("utf8")));
    return differs({
      outcome: [result.outcome, "success"],
      "the model saw it": [sent, true],
      capability: [images, true],
    });
  },

  async "MCP tool"(trial) {
    const { peer } = trial.cli;
    if (!peer.mcp) return "it knows no MCP servers";
    trial.says([calling(peer.mcp("tiny", "say", {})), done]);
    const { events, result } = await trial.run({ mcpServers: { tiny: { command: process.execPath, args: [server] } } });
    const [end] = endsIn(events);
    return differs({
      outcome: [result.outcome, "success"],
      name: [end?.name, "mcp__tiny__say"],
      result: [JSON.stringify(end?.outcome ?? null), /ok/],
    });
  },

  401: (trial) => failing(trial, { status: 401 }, "MODEL_AUTH_ERROR"),
  429: (trial) => failing(trial, { status: 429 }, "MODEL_RATE_LIMIT"),
  403: (trial) => failing(trial, { status: 403 }, "MODEL_AUTH_ERROR"),
  "context overflow": (trial) => failing(trial, overflow, "MODEL_OVERFLOW"),
  "unknown model": (trial) => failing(trial, { status: 404 }, "MODEL_UNKNOWN"),

  async "unknown session"(trial) {
    trial.says([done]);
    const { result } = await trial.run({ resume: "00000000-0000-4000-8000-000000000000" });
    if (result.outcome === "success") return "it said nothing of it";
    return differs({
      code: [result.error.code, "SESSION_NOT_FOUND"],
      message: [result.error.message, /session|thread|conversation/i],
    });
  },

  async abort(trial) {
    trial.says([calling(trial.cli.peer.shell("cat /dev/zero | tail -c 61 && echo 61.25")), done]);
    const run = start(trial.options());
    const wait = (ms: number) => new Promise((settle) => setTimeout(settle, ms));
    // Some CLIs tell of a call only when it is over.
    while (trial.asked === 0) await wait(50);
    await wait(2000);
    const { outcome } = await run.cancel();
    return differs({ outcome: [outcome, "cancelled"], "what is left running": [commandsLike("tail -c 61"), []] });
  },

  async budget(trial) {
    trial.says([calling(trial.cli.peer.shell("echo again"))]);
    const { result, requests } = await trial.run({ budget: { turns: 3 } });
    return differs({
      code: [result.outcome === "success" ? "none" : result.error.code, "MAX_TURNS"],
      requests: [requests.length, 3],
      turns: [result.turns, 3],
    });
  },

  async resume(trial) {
    trial.says([{ text: "The word is heron." }]);
    const first = await trial.run({ prompt: "Say a word." });
    const second = await trial.run({ prompt: "Which word?", resume: first.result.sessionId! });
    return differs({
      session: [second.result.sessionId, first.result.sessionId],
      "what the model is told": [/The word is heron/.test(second.requests[0]?.body.toString("utf8") ?? ""), true],
    });
  },

  async fork(trial) {
    const { fork } = await getCapabilities(trial.cli.tool, { executable: trial.cli.program });
    if (!fork) return "it cannot fork a session";
    trial.says([{ text: "The word is heron." }]);
    const first = await trial.run({ prompt: "Say a word." });
    const second = await trial.run({ prompt: "Which word?", resume: first.result.sessionId!, fork: true });
    return differs({
      outcome: [second.result.outcome, "success"],
      "a session of its own": [second.result.sessionId !== first.result.sessionId, true],
      "what the model is told": [/The word is heron/.test(second.requests[0]?.body.toString("utf8") ?? ""), true],
    });
  },

  async "history import"(trial) {
    trial.says([calling(trial.cli.peer.shell("echo hello")), { text: "I said hello." }]);
    const { result } = await trial.run({ prompt: "Say hello." });
    const home = { ...process.env, ...trial.env } as NodeJS.ProcessEnv;
    const session = await loadSession({ tool: trial.cli.tool, sessionId: result.sessionId!, env: home });
    const blocks = session.messages.flatMap(({ content }) => content);
    return differs({
      workspace: [session.workspace, trial.place.workspace],
      prompt: [blocks.some((block) => block.type === "text" && block.text === "Say hello."), true],
      call: [blocks.some((block) => block.type === "tool_use" && block.name === "Bash"), true],
      answer: [blocks.some((block) => block.type === "text" && block.text === "I said hello."), true],
    });
  },

  ...optionScenarios,

  async canUseTool(trial) {
    const { peer, tool } = trial.cli;
    const { permissionCallback } = await getCapabilities(tool, { executable: trial.cli.program });
    if (!permissionCallback) return "it has no hooks for one run";
    const file = trial.file("made");
    trial.says([calling(peer.shell(`touch ${file}`)), done]);
    const asked: string[] = [];
    const { events, result } = await trial.run({
      canUseTool: ({ name }) => {
        asked.push(name);
        return { allow: false, reason: "Not today." };
      },
    });
    const [end] = endsIn(events);
    return differs({
      asked: [asked, ["Bash"]],
      file: [readdirSync(trial.place.workspace), []],
      kind: [end?.outcome?.kind, "rejected"],
      reason: [told(end, "reason"), "Not today."],
      denials: [result.denials.map(({ name, reason }) => [name, reason]), [["Bash", "Not today."]]],
    });
  },

  async "changed input"(trial) {
    const { peer, tool } = trial.cli;
    const { permissionCallback } = await getCapabilities(tool, { executable: trial.cli.program });
    if (!permissionCallback) return "it has no hooks for one run";
    trial.says([calling(peer.shell("echo one")), done]);
    const { events } = await trial.run({
      canUseTool: ({ input }) => ({ allow: true, input: { ...input, command: "echo two" } }),
    });
    const [end] = endsIn(events);
    return differs({
      output: [String(told(end, "stdout")).trim(), "two"],
      command: [(end?.args as { command?: string } | undefined)?.command, "echo two"],
    });
  },

  async record(trial) {
    const { exit, stdout, stderr, lines } = await recorded(trial);
    const requests = lines.filter((line) => "request" in line);
    const replies = lines.filter((line) => "reply" in line);
    return differs({
      exit: [exit, 0],
      answer: [stdout, /Done\./],
      stderr: [/Error:/.test(stderr), false],
      "requests of the conversation": [requests.length >= 2, true],
      "a reply to each": [replies.length, requests.length],
      "keys in the file": [JSON.stringify(lines).includes("on-loopback"), false],
    });
  },

  async replay(trial) {
    const { exit, stderr, file } = await recorded(trial);
    if (exit !== 0) return `it could not be recorded: ${stderr}`;
    const asked = trial.asked;
    rmSync(trial.file("made.txt"), { force: true });
    const again = await courser(trial, ["replay", file], prompted(trial, "Say hello."));
    const made = existsSync(trial.file("made.txt")) ? readFileSync(trial.file("made.txt"), "utf8") : "nothing";
    // Some tell the model which files are there.
    rmSync(trial.file("made.txt"), { force: true });
    const other = await courser(trial, ["replay", file], prompted(trial, "Say goodbye."));
    return differs({
      exit: [again.exit === 0 ? 0 : again.stderr.slice(-300), 0],
      answer: [again.stdout, /Done\./],
      "what ran again": [made, "hello\n"],
      "what the vendor was asked": [trial.asked, asked],
      "exit of a run that differs": [other.exit, 1],
      "what differs": [other.stderr, /differs from this run in request \d+: messages\[\d+\].*hello.*goodbye/],
    });
  },
};

/** One call and an answer, recorded from a vendor that refuses what the real ones refuse. */
async function recorded(trial: Trial) {
  const call = calling(trial.cli.peer.shell("echo hello | tee made.txt"));
  const script = [{ thinking: "They greet.", ...call }, done];
  trial.says((request) => {
    // Servers that are like OpenAI's older API are more lenient than it is, and CLIs that ask them rely on that.
    const [violation] = request.wire === "openai-chat" ? [] : violationsIn(request);
    if (violation !== undefined) return { status: 400, body: { error: { message: violation } } };
    return isTurn(request) ? (script.shift() ?? done) : { text: "ok" };
  });
  const file = join(trial.place.home, "run.jsonl");
  const ran = await courser(trial, ["record", "-o", file], prompted(trial, "Say hello."));
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  return { ...ran, file, lines };
}

/** The command line of the CLI itself. */
function prompted({ cli: { peer, program } }: Trial, prompt: string): string[] {
  const model = peer.args.includes("--model") || peer.program === "codex" ? [] : ["--model", peer.model];
  return [program, ...peer.args, ...model, ...(peer.promptFlag ? [peer.promptFlag] : []), prompt];
}

async function courser(trial: Trial, words: readonly string[], command: readonly string[]) {
  const cli = resolve(import.meta.dirname, "../../dist/courser.cjs");
  const env = Object.fromEntries(Object.entries(trial.env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const place = { cwd: trial.place.workspace, env };
  return started(process.execPath, [cli, ...words, "--", ...command], place, 120_000);
}

async function failing(trial: Trial, answer: ModelAnswer, code: string): Promise<string | undefined> {
  trial.says(() => answer);
  const { result } = await trial.run({ timeoutMs: 60_000 });
  if (result.outcome === "success") return "it did not fail";
  return differs({ code: [result.error.code, code], message: [result.error.message, /^[^[{\n]{5,}/] });
}

/** Processes of this machine whose command line holds these words; of none where it cannot be told. */
function commandsLike(words: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.includes(words) && !line.includes("try-agents") ? [line] : [];
      } catch {
        return [];
      }
    });
}

const overflow: ModelAnswer = {
  status: 400,
  body: {
    type: "error",
    error: {
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message: "prompt is too long: 208310 tokens > 200000 maximum",
    },
  },
};

const redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
