// Runs a case of the group `secrets`: the text goes through the redactor and through the real sinks, in a process of their own.
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { createRedactor } from "../../src/redact/redact.ts";
import { bundle, repository } from "../agent/process-bundle.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";

type Seen = {
  /** What came out, one text for each way it went. */
  outputs: string[];
  /** Those that hold the whole text, as it was given. */
  readable: string[];
  parts: string[];
  elapsedMs: number;
  commandLine?: string;
};

const cli = join(repository, "dist/courser.cjs");

/** A command line cannot hold more. */
const longestArgument = 100_000;

export async function runSecretsCase(given: Case, { driver }: { driver: "library" | "cli" }): Promise<CaseResult> {
  const blank = { pass: false, safe: true, exact: false, verdict: "-", expected: "redacted", detail: "" };
  const needsProgram = given.config["check"] === "ps" || driver === "cli";
  if (needsProgram && !existsSync(cli)) return { ...blank, skipped: "dist/courser.cjs is not built" };
  const seen = given.config["check"] === "ps" ? await commandLineOf(given) : await redacted(given, driver);
  const faults = faultsWithWays(given.expect, {
    faults: (expect) => faultsOf(expect, seen),
    isSo: (sentence) => isSo(sentence),
  });
  const verdict = faults.length === 0 ? "redacted" : "as detail";
  return {
    ...blank,
    pass: faults.length === 0,
    safe: faults.every(({ key }) => key === "kept" || key === "max_ms"),
    exact: faults.length === 0,
    verdict,
    detail: shownFaults(faults),
  };
}

async function redacted({ config, input }: Case, driver: "library" | "cli"): Promise<Seen> {
  const chunks = chunksOf(input);
  const text = chunks.join("");
  const env = (config["env"] ?? {}) as Record<string, string>;
  const values = ((input["secret_env"] ?? []) as string[]).map((name) => env[name] ?? "");
  const redactor = createRedactor({ values });
  redactor.redact("warm"); // a program says more than one line
  // Of the processor: a busy machine makes nothing less linear.
  const started = process.cpuUsage();
  const whole = redactor.redact(text);
  const used = process.cpuUsage(started);
  const elapsedMs = (used.user + used.system) / 1000;
  const stream = redactor.stream();
  const outputs = [whole, chunks.map((chunk) => stream.push(chunk)).join("") + stream.end()];
  const readable = [...outputs];
  const place = makePlace(input, env);
  try {
    if (driver === "cli" && text.length < longestArgument) {
      const said = saidByProgram(text, place);
      outputs.push(...said);
      readable.push(String((JSON.parse(said[0]!) as { result: string }).result), said[1]!);
    } else {
      outputs.push(...(await saidBy(sinksOf(String(config["sink"] ?? ""), text.length), text, place)));
      readable.push(...outputs.slice(2));
    }
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
  return { outputs, readable, parts: partsOf(input), elapsedMs };
}

type Place = { folder: string; env: Record<string, string> };

/** The variables that a case calls secret are configured as those of an endpoint, whatever their names. */
function makePlace(input: Case["input"], env: Record<string, string>): Place {
  const folder = mkdtempSync(join(tmpdir(), "courser-secrets-"));
  const keys = (input["secret_env"] ?? []) as string[];
  mkdirSync(join(folder, ".cursor"));
  const mine = { type: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1", keys };
  const settings = { retries: 0, ...(keys.length > 0 && { providers: { mine } }) };
  writeFileSync(join(folder, ".cursor/courser.json"), JSON.stringify(settings));
  return { folder, env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env } };
}

/** Sinks that are not built yet (studio, recording) go through the same redactor, which has been seen above. */
function sinksOf(named: string, length: number): string[] {
  // The adapter quotes what is short.
  return [...sinksNamed(named), ...(length < 1500 ? ["adapter"] : [])];
}

function sinksNamed(named: string): string[] {
  if (/debug/i.test(named)) return ["debug", "log"];
  if (/error|stderr|crash/i.test(named)) return ["error", "bug", "model"];
  return /log/i.test(named) ? ["log", "error", "model"] : ["log"];
}

/** What each of the sinks says: a start of the program serves them all. */
export async function saidBy(sinks: readonly string[], text: string, { folder, env }: Place): Promise<string[]> {
  const program = await bundle("test/redact/sink-probe.ts");
  const mark = `\n<${randomUUID()}>\n`;
  const child = spawn(process.execPath, [program, mark, ...sinks], { cwd: folder, env, timeout: 60_000 });
  child.stdin.on("error", () => {});
  child.stdin.end(text);
  const [stdout, stderr] = await Promise.all([readText(child.stdout), readText(child.stderr)]);
  const parts = [stdout.split(mark), stderr.split(mark)] as const;
  return sinks.map((sink, index) => {
    const said = (parts[0][index] ?? "") + (parts[1][index] ?? "");
    if (said === "" || parts.some((part) => part.length !== sinks.length + 1))
      throw new Error(`the sink ${sink} says nothing: ${stdout}${stderr}`);
    return said;
  });
}

/** The built program quotes a wrong argument on stderr and in its result, and a model's name in its debug lines. */
function saidByProgram(text: string, { folder, env }: Place): string[] {
  const run = (...argv: string[]) =>
    spawnSync(process.execPath, [cli, "-p", "--trust", ...argv, "hi"], {
      cwd: folder,
      env,
      encoding: "utf8",
      timeout: 60_000,
    });
  const wrong = run("--output-format", "json", `--max-turns=${text}`);
  const debug = run("--debug", "-e", "http://127.0.0.1:9/v1", `--model=${text}`);
  return [wrong.stdout, wrong.stderr, debug.stderr];
}

/** Reads the command line of a run as another user would, while the run waits for its model. */
async function commandLineOf({ input }: Case): Promise<Seen> {
  const argv = (input["argv"] as string[]).slice();
  const key = argv.slice(1).join("");
  const place = makePlace(input, {});
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const server = createServer((request) => {
    request.resume();
    asked();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const child = spawn(process.execPath, [cli, "-p", "--trust", argv[0]!, key, "-e", url, "--model", "slow", "hi"], {
    cwd: place.folder,
    env: place.env,
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    await Promise.race([isAsked, ended]);
    const commandLine = child.exitCode === null ? readFileSync(`/proc/${child.pid}/cmdline`, "utf8") : key;
    return { outputs: [], readable: [], parts: [key], elapsedMs: 0, commandLine };
  } finally {
    child.kill("SIGKILL");
    await ended;
    server.close();
    server.closeAllConnections();
    rmSync(place.folder, { recursive: true, force: true });
  }
}

function chunksOf(input: Case["input"]): string[] {
  if (input["chunks_parts"]) return (input["chunks_parts"] as string[][]).map((parts) => parts.join(""));
  if (input["parts"]) return [(input["parts"] as string[]).join("")];
  if (!input["text_gen"]) return [String(input["text"] ?? "")];
  const { prefix = "", byte = "", repeat_line, count, suffix = "" } = input["text_gen"];
  return [prefix + (repeat_line === undefined ? byte : `${repeat_line}\n`).repeat(count) + suffix];
}

function partsOf(input: Case["input"]): string[] {
  return (input["parts"] ?? (input["chunks_parts"] as string[][] | undefined)?.flat() ?? []) as string[];
}

function faultsOf(expect: Record<string, unknown>, seen: Seen): Fault[] {
  return Object.entries(expect).flatMap(([key, wanted]) => {
    const check = checks[key];
    const text = check ? check(wanted, seen) : "nobody knows how to check this";
    return text === undefined ? [] : [{ key, text }];
  });
}

/** What is wrong, or undefined. */
type Check = (wanted: unknown, seen: Seen) => string | undefined;

const checks: Record<string, Check> = {
  absent_indexes: (wanted, seen) =>
    firstSeen(
      (wanted as number[]).map((index) => seen.parts[index]!),
      seen,
    ),
  absent: (wanted, seen) => firstSeen(listOf(wanted).map(String), seen),
  // The pieces of the token, and not what stands before it.
  absent_joined: (_, seen) =>
    firstSeen([seen.parts.join(""), ...seen.parts.filter((part) => /^(?=.*\d)[\w+/=-]{10,}$/.test(part))], seen),
  // Some sinks put a text on one line.
  kept: (wanted, { readable }) => {
    const lost = listOf(wanted).find((text) =>
      readable.some((output) => !oneLine(output).includes(oneLine(String(text)))),
    );
    return lost === undefined ? undefined : `${String(lost)} is gone`;
  },
  max_ms: (wanted, { elapsedMs }) => (elapsedMs <= Number(wanted) ? undefined : `${Math.round(elapsedMs)} ms`),
  proc_cmdline_absent: (_, { commandLine = "", parts }) =>
    commandLine.includes(parts[0]!) ? "the key can be read from the command line" : undefined,
};

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function firstSeen(secrets: readonly string[], { outputs }: Seen): string | undefined {
  const found = secrets.find((secret) => outputs.some((output) => output.includes(secret)));
  return found === undefined ? undefined : `${JSON.stringify(found)} can be seen`;
}

/** "documented warning and key accepted from the environment": the page says it, and tests of the models show it. */
function isSo(sentence: string): boolean {
  if (!/documented warning/.test(sentence)) return false;
  return /other users[\s\S]*command line[\s\S]*environment/i.test(
    readFileSync(join(repository, "docs/redaction.md"), "utf8"),
  );
}
