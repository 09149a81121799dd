// Scenarios of process cases that are told in words: recognised by what they are about, with the figures they name.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunningCli } from "../../src/sdk/child.ts";
import { bundle, probe, repository } from "./process-bundle.ts";
import { aliveWith, isAlive, uniqueSleep, until } from "./process-support.ts";

export type ScenarioSeen = {
  ms?: number;
  exit?: number | null;
  orphans?: number;
  /** The CLI is still there some seconds after its driver is gone. */
  livesOn?: boolean;
  maxRssMb?: number;
  lost?: number;
  tool?: string;
  results?: number;
  delivered?: string;
  via?: string;
  zombies?: number;
  descriptorGrowth?: number;
};

type Place = { folder: string; long: boolean };
type Config = { env?: Record<string, string> };

/** Another build can be put under the same cases. */
const dist = process.env["COURSER_CLI"] ?? join(repository, "dist/courser.cjs");
const notBuilt = "dist/courser.cjs is not built";

/** What was seen, or why it could not be looked at. */
export async function runScenario(words: string, config: Config, place: Place): Promise<ScenarioSeen | string> {
  const commands = /([\d,_]+) (?:[\w-]+ ){0,3}commands/i.exec(words);
  if (commands) return manyCommands(words, numberOf(commands[1]!), place);
  if (/\bprompt/i.test(words)) return longPrompt(words, place);
  if (/\bslow|\/ ?s\b|per second|back-?pressure|\bto send\b|stops? reading|does not read/i.test(words))
    return existsSync(dist) ? slowReader(words, place) : notBuilt;
  if (/\b(SDK|driver|parent|launcher)\b|process that (started|spawned|drives|runs)/i.test(words))
    return existsSync(dist) ? parentGone(words, config, place) : notBuilt;
  if (/SIG[A-Z]+|ctrl-?c/i.test(words)) return existsSync(dist) ? signalled(words, config, place) : notBuilt;
  return `nobody knows how to play "${words}"`;
}

async function manyCommands(words: string, count: number, { folder, long }: Place): Promise<ScenarioSeen | string> {
  const mark = `CASE_MANY_${uniqueSleep().replace(".", "_")}`;
  const command = /fail to start|not found|do not exist|missing/i.test(words)
    ? ["no-such-program"]
    : /kill|signal|crash/i.test(words)
      ? ["bash", "-c", "echo one; if ((RANDOM % 4 == 0)); then kill -9 $$; fi"]
      : ["bash", "-c", "echo one; true | cat"];
  return probe(
    { through: "many", command, cwd: folder, mark, count: long ? count : Math.min(count, 120) },
    folder,
    false,
  );
}

/** Recorded by a program that notes what it was given; where the real CLI is built, it must have understood the same. */
async function longPrompt(words: string, { folder }: Place): Promise<ScenarioSeen> {
  const prompt = promptOf(words);
  const record = join(folder, "record.json");
  const recorder = `
    let stdin = "";
    process.stdin.on("data", (chunk) => (stdin += chunk)).setEncoding("utf8").on("end", () => {
      require("node:fs").writeFileSync(process.env.RECORD, JSON.stringify({ args: process.argv.slice(1), stdin }));
      console.log(JSON.stringify({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "ok" }] } }));
    });`;
  const cli = new RunningCli({
    command: process.execPath,
    args: ["-e", recorder, "--", "-p"],
    cwd: folder,
    env: { RECORD: record },
    prompt,
  });
  await readAll(cli.frames);
  await cli.ended;
  const { args, stdin } = JSON.parse(readFileSync(record, "utf8")) as { args: string[]; stdin: string };
  const isExact = cli.via === "stdin" ? stdin === prompt && args.length === 1 : args.at(-1) === prompt && stdin === "";
  const isUnderstood = !existsSync(dist) || (await promptUnderstood(prompt, folder)) === prompt;
  return { delivered: isExact && isUnderstood ? "exact" : "changed", via: cli.via, ms: 0 };
}

function promptOf(words: string): string {
  const quoted = /[`"']([^`"']+)[`"']/.exec(words)?.[1];
  const literal = quoted ?? (/dash|hyphen|option|flag/i.test(words) ? "--force --yolo " : "");
  const [, length, unit = ""] = /([\d,_]+)[ -]?(characters?|chars|bytes|[KM]i?B)/i.exec(words) ?? [];
  if (length === undefined) return literal || (/line/i.test(words) ? "one\n\ntwo\n-f\nthree" : "say hello");
  const size = numberOf(length) * (/^k/i.test(unit) ? 1024 : /^m/i.test(unit) ? 1024 * 1024 : 1);
  // Blanks at the end of stdin belong to whoever piped it, so the prompt ends in something else.
  return `${(literal + "say it: a\u00e9\u65e5 ".repeat(Math.ceil(size / 12))).slice(0, size - 1)}.`;
}

async function promptUnderstood(prompt: string, folder: string): Promise<string | undefined> {
  const { args, env } = agentWith([{ text: "ok" }], folder);
  const cli = new RunningCli({ command: process.execPath, args, cwd: join(folder, "work"), env, prompt });
  const frames = await readAll(cli.frames);
  await cli.ended;
  const user = frames.find(({ type }) => type === "user");
  return (user?.value["message"] as { content: { text: string }[] } | undefined)?.content[0]?.text;
}

/** Each call changes a word in a file of a megabyte, and its result shows the file: so much is to be sent, piece by piece. */
async function slowReader(words: string, { folder, long }: Place): Promise<ScenarioSeen> {
  const [, amount, unit] = /([\d,.]+) ?([KMG])i?B(?! ?\/ ?s| per)/.exec(words) ?? [undefined, "50", "M"];
  const bytes = numberOf(amount!) * { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }[unit as "K" | "M" | "G"];
  // Fewer are enough to see that the CLI waits, which is looked for below.
  const pieces = Math.ceil(bytes / 2 ** 20 / (long ? 1 : 4));
  const replies = Array.from({ length: pieces }, (_, piece) => ({
    calls: [
      {
        name: "Edit",
        args: { path: "file", edits: [{ oldText: `state ${piece}\n`, newText: `state ${piece + 1}\n` }] },
      },
    ],
  }));
  const { args, env } = agentWith([...replies, { text: "ok" }], folder, ["--max-turns", String(pieces + 5)]);
  const file = join(folder, "work", "file");
  writeFileSync(file, `state 0\n${`${"x".repeat(1023)}\n`.repeat(1024)}`);
  const cli = new RunningCli({ command: process.execPath, args, cwd: join(folder, "work"), env, prompt: "go" });
  let maxRssMb = 0;
  const watch = setInterval(() => {
    maxRssMb = Math.max(maxRssMb, peakRssMb(cli.pid));
  }, 20);
  let completed = 0;
  let results = 0;
  let received = 0;
  let isHeldUp = true;
  for await (const frame of cli.frames) {
    // At this pace the whole would take hours: nobody reads until the CLI comes to a halt, which must be before its end.
    if (completed < 2 && isHeldUp) isHeldUp = (await lastState(file, long ? 10_000 : 700)) < pieces;
    received += JSON.stringify(frame.value).length;
    if (frame.type === "result") results++;
    if (frame.type === "tool_call" && frame.value["subtype"] === "completed") completed++;
  }
  clearInterval(watch);
  const { outcome } = await cli.ended;
  const isWhole = outcome === "ok" && results === 1 && received >= pieces * 2 ** 20;
  return { maxRssMb, lost: pieces - completed + (isWhole && isHeldUp ? 0 : 1), results };
}

/** The number in the first line of the file, once it has not changed for so long. */
async function lastState(file: string, quietMs: number): Promise<number> {
  const state = () => Number(/^state (\d+)/.exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  let last = state();
  for (let since = performance.now(); performance.now() - since < quietMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const now = state();
    if (now !== last) since = performance.now();
    last = now;
  }
  return last;
}

/** The driver is killed, or ends by itself, while its CLI runs a tool. */
async function parentGone(words: string, config: Config, { folder }: Place): Promise<ScenarioSeen> {
  const sleep = uniqueSleep();
  const { args, env } = agentWith(
    [{ calls: [{ name: "Shell", args: { command: `sleep ${sleep}` } }] }, { text: "ok" }],
    folder,
  );
  const cwd = join(folder, "work");
  const asked = config.env?.["COURSER_EXIT_WITH_PARENT"];
  const watched = asked === undefined ? /\bSDK\b/.test(words) : asked === "1"; // the SDK always asks for it
  const driver = watched
    ? spawn(process.execPath, [
        await bundle("test/agent/process-sdk.ts"),
        JSON.stringify({ command: process.execPath, args, cwd, env, prompt: "go" }),
      ])
    : spawn("bash", ["-c", '"$@" >/dev/null </dev/null & echo $!; wait', "driver", process.execPath, ...args, "go"], {
        cwd,
        env: plain(env),
      });
  const pid = Number(await firstLine(driver));
  await until(() => aliveWith(`sleep\0${sleep}`).length > 0, 20_000);
  const startedAt = performance.now();
  driver.kill((/SIG[A-Z]+/.exec(words)?.[0] ?? "SIGKILL") as NodeJS.Signals);
  const isGone = await until(() => !isAlive(pid), watched ? 15_000 : 3000);
  const ms = performance.now() - startedAt;
  await until(() => aliveWith(sleep).length === 0, isGone ? 1000 : 0);
  const orphans = aliveWith(sleep).length;
  if (!isGone) for (const left of [pid, ...aliveWith(sleep)]) process.kill(left, "SIGKILL");
  return { ms, livesOn: !isGone, orphans };
}

/** A signal, once or twice, while the agent runs a tool or waits for the model. */
async function signalled(words: string, config: Config, { folder }: Place): Promise<ScenarioSeen> {
  const sleep = uniqueSleep();
  const duringTool = /\btool|command|shell/i.test(words) || !/\bmodel|answer/i.test(words);
  const stubborn = /ignores? (SIG)?TERM|traps? (SIG)?TERM/i.test(words) ? "trap '' TERM INT; " : "";
  const reply = duringTool
    ? { calls: [{ name: "Shell", args: { command: `${stubborn}sleep ${sleep}` } }] }
    : { delayMs: 60_000, text: "late" };
  const { args, env } = agentWith([reply, { text: "ok" }], folder);
  const child = spawn(process.execPath, [...args, "go"], {
    cwd: join(folder, "work"),
    env: plain({ ...env, ...config.env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr.resume();
  const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  await until(() => (duringTool ? aliveWith(`sleep\0${sleep}`).length > 0 : stdout.includes("\n")), 20_000);
  const signal = (/SIG[A-Z]+/.exec(words)?.[0] ?? "SIGINT") as NodeJS.Signals;
  const times = /\bthrice|three times/i.test(words) ? 3 : /\btwice|two times|second|again/i.test(words) ? 2 : 1;
  const startedAt = performance.now();
  for (let time = 0; time < times; time++) {
    child.kill(signal);
    if (time + 1 < times) await new Promise((resolve) => setTimeout(resolve, 300));
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const exit = await ended;
  clearTimeout(timer);
  const lines = stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, any>);
  return {
    ms: performance.now() - startedAt,
    exit,
    results: lines.filter(({ type }) => type === "result").length,
    tool: stateOf(lines.find(({ type, subtype }) => type === "tool_call" && subtype === "completed")),
    orphans: aliveWith(sleep).length,
  };
}

function stateOf(completed: Record<string, any> | undefined): string {
  const result = completed?.["tool_call"]?.shellToolCall?.result;
  if (!result) return "unfinished";
  return /cancel|abort|interrupt/i.test(JSON.stringify(result.error ?? result)) ? "cancelled" : Object.keys(result)[0]!;
}

/** The built CLI in print mode, with a model that plays these replies, in a home of its own. */
function agentWith(replies: unknown[], folder: string, more: string[] = []) {
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  for (const each of [home, work]) mkdirSync(each, { recursive: true });
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify(replies));
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: undefined,
    CURSOR_CONFIG_DIR: undefined,
    NODE_EXTRA_CA_CERTS: undefined,
    NODE_OPTIONS: undefined,
  };
  const args = [dist, "-p", "--force", "--output-format", "stream-json", "--model", `script:${script}`, ...more];
  return { args, env };
}

function plain(env: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const { COURSER_EXIT_WITH_PARENT: _watch, ...own } = process.env;
  return { ...own, ...env };
}

async function readAll<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout!.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(text.split("\n")[0]!);
    });
  });
}

function peakRssMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function numberOf(text: string): number {
  return Number(text.replace(/[,_]/g, ""));
}
