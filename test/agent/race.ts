// `npm run long -- race --rounds N`: real runs whose tools look into a folder that another process exchanges with links to saved keys and
// to files that a rule denies. Whatever comes out of there, or is changed there, is a leak.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { raceSandbox } from "./race-sandbox.ts";
import { sandboxMissing } from "./sandbox-fixture.ts";

/** Another build can be put under the same test. */
const cli = process.env["COURSER_CLI"] ?? resolve(import.meta.dirname, "../../dist/courser.cjs");

export type RaceSummary = { calls: number; answered: number; swaps: number; leaks: string[] };

export async function main(argv: readonly string[]): Promise<number> {
  const rounds = Number(argv[argv.indexOf("--rounds") + 1] ?? Number.NaN);
  if (!argv.includes("--rounds") || !Number.isInteger(rounds) || rounds < 1) {
    console.error("Usage: npm run long -- race --rounds N");
    return 2;
  }
  const { calls, answered, swaps, leaks } = await raceRounds(rounds);
  for (const tool of new Set(leaks.map(toolOf))) {
    const found = leaks.filter((leak) => toolOf(leak) === tool);
    console.log(`${found.length} leaks, such as ${found[0]}`);
  }
  console.log(`${rounds} rounds: ${calls} calls (${answered} answered), ${swaps} swaps, ${leaks.length} leaks`);
  const missing = sandboxMissing();
  if (missing !== undefined) console.log(`No races in the sandbox: ${missing}`);
  const inside = missing === undefined ? await raceSandbox(rounds) : { commands: 0, leaks: [], failures: [] };
  for (const problem of [...inside.leaks, ...inside.failures].slice(0, 5)) console.log(problem);
  const counts = `${inside.commands} commands, ${inside.leaks.length} leaks, ${inside.failures.length} not started`;
  console.log(`${rounds} rounds in the sandbox: ${counts}`);
  return leaks.length + inside.leaks.length + inside.failures.length === 0 ? 0 : 1;
}

function toolOf(leak: string): string {
  return leak.split(":")[0]!;
}

/** Each round is a run with some hundred calls. Links lead to the saved keys and to a denied folder in turn. */
export async function raceRounds(rounds: number, steps = 20): Promise<RaceSummary> {
  const summary: RaceSummary = { calls: 0, answered: 0, swaps: 0, leaks: [] };
  for (let round = 0; round < rounds; round++) {
    const world = createWorld();
    try {
      await playRound(world, { steps, secret: round % 2 === 0 ? world.config : world.denied }, summary);
    } finally {
      rmSync(world.base, { recursive: true, force: true });
    }
  }
  return summary;
}

type World = { base: string; work: string; config: string; denied: string; mark: string };

const spares = 20;
const notes = "notes.txt";

/** The same names lie in the open folder, in the denied one and beside the saved keys. Only the open one may be seen. */
function createWorld(): World {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-race-")));
  const mark = `quagga${Array.from({ length: 10 }, () => String.fromCharCode(97 + Math.random() * 26)).join("")}`;
  const world = {
    base,
    work: join(base, "work"),
    config: join(base, "config"),
    denied: join(base, "work/denied"),
    mark,
  };
  for (const folder of ["home", "config", "work/open", "work/denied", "work/src"])
    mkdirSync(join(base, folder), { recursive: true });
  for (const folder of [world.config, world.denied]) {
    writeFileSync(join(folder, "auth.json"), JSON.stringify({ note: `the note says ${mark}` }));
    writeFileSync(join(folder, notes), `the note says ${mark}\nfunction ${mark}() {}\n`);
    writeFileSync(join(folder, `${mark}.txt`), "");
  }
  writeFileSync(join(world.work, "open/auth.json"), JSON.stringify({ note: "the note says nothing" }));
  writeFileSync(join(world.work, `open/${notes}`), "the note says nothing\nfunction nothing() {}\n");
  for (const folder of [world.config, world.denied, join(world.work, "open")])
    for (let spare = 0; spare < spares; spare++) writeFileSync(join(folder, `spare-${spare}.txt`), "spare\n");
  // A search takes a while, so that the exchange falls into it.
  for (let file = 0; file < 300; file++)
    writeFileSync(join(world.work, `src/${file}.ts`), "const nothing = 0;\n".repeat(40));
  const rules = { allow: ["Write(open/**)"], deny: ["Read(denied/**)"] };
  writeFileSync(join(world.config, "cli-config.json"), JSON.stringify({ version: 1, permissions: rules }));
  return world;
}

/** Every tool that walks, opens or changes. No argument holds the mark, so that a result that does has it from elsewhere. */
function callsOf(step: number, mark: string): { name: string; args: object }[] {
  const pattern = `${mark.slice(0, 4)}[${mark[4]}]${mark.slice(5)}|${step}x{9}`;
  return [
    { name: "Read", args: { path: `open/${notes}`, limit: 100 + step } },
    { name: "Grep", args: { pattern } },
    { name: "Grep", args: { pattern, path: "open" } },
    { name: "Grep", args: { pattern, outputMode: "files_with_matches" } },
    { name: "Grep", args: { pattern, outputMode: "count", path: `open/${notes}` } },
    { name: "Glob", args: { pattern: `**/*{.txt,${step}.none}` } },
    { name: "LS", args: { path: ".", ignore: [`${step}.none`] } },
    { name: "LS", args: { path: "open", ignore: [`${step}.none`] } },
    { name: "SemanticSearch", args: { query: `what does the note say ${step}`, targetDirectories: ["open"] } },
    { name: "SemanticSearch", args: { query: `where is the ${mark.slice(0, 9)} function, ${step}` } },
    {
      name: "Edit",
      args: { path: `open/${notes}`, oldText: `the note says ${mark.slice(0, 12)}`, newText: `${step}` },
    },
    { name: "Write", args: { path: `open/made-${step}.txt`, content: "made\n" } },
    { name: "Delete", args: { path: `open/spare-${step % spares}.txt` } },
  ];
}

type Round = { steps: number; secret: string };

async function playRound(world: World, { steps, secret }: Round, summary: RaceSummary): Promise<void> {
  const script = join(world.base, "script.json");
  const replies = Array.from({ length: steps }, (_, step) => ({ calls: callsOf(step, world.mark) }));
  writeFileSync(script, JSON.stringify([...replies, { text: "done" }]));
  const before = contentOf(world);
  const swapper = await startSwapper(join(world.work, "open"), secret);
  const flags = ["-p", "--trust", "--output-format", "stream-json", "--model", `script:${script}`];
  const child = spawn(process.execPath, [cli, ...flags, "go"], {
    cwd: world.work,
    env: { PATH: process.env["PATH"], HOME: join(world.base, "home"), CURSOR_CONFIG_DIR: world.config },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await new Promise((settle) => child.on("close", settle));
  summary.swaps += await swapper.stop();
  const lines = output.split("\n").filter(Boolean);
  const ends = lines.map((line) => JSON.parse(line)).filter((line) => line.subtype === "completed");
  if (ends.length === 0) throw new Error(`The run made no call: ${output.slice(-500)}`);
  summary.calls += ends.length;
  for (const { tool_call: call } of ends) {
    const [[name, { result }]] = Object.entries<any>(call) as [[string, any]];
    if (result.success) summary.answered++;
    const said = JSON.stringify(result);
    if (said.includes(world.mark) || (name === "grepToolCall" && hasMatch(result)))
      summary.leaks.push(`${name}: ${said.slice(0, 300)}`);
  }
  const after = contentOf(world);
  // A new file may be written where none may be read.
  const isFree = (file: string) => before[file] === undefined && file.startsWith(world.denied);
  for (const [file, content] of Object.entries({ ...before, ...after }))
    if (before[file] !== after[file] && !isFree(file)) summary.leaks.push(`changed: ${file} ${content.slice(0, 100)}`);
}

/** How many lines or files matched tells what is in them as well: a pattern can ask letter by letter. */
function hasMatch(result: any): boolean {
  const [found] = Object.values<any>(Object.values<any>(result.success?.workspaceResults ?? {})[0] ?? {});
  return (found?.totalMatchedLines ?? found?.totalFiles ?? 0) > 0;
}

/** What nobody may have touched. The rest of the configuration folder is the run's own. */
function contentOf({ config, denied }: World): Record<string, string> {
  const found: Record<string, string> = {};
  for (const folder of [config, denied])
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (/\.txt$|^auth/.test(entry.name)) found[path] = readFileSync(path, "utf8");
    }
  return found;
}

/** Exchanges the folder and a link for random short times, as fast as the system does it. Ends with its input. */
const swapperCode = `
  const fs = require("node:fs");
  const [folder, secret] = process.argv.slice(1);
  const aside = folder + "-aside", link = folder + "-link";
  const pause = new Int32Array(new SharedArrayBuffer(4));
  fs.symlinkSync(secret, link);
  let swaps = 0;
  const wait = () => Atomics.wait(pause, 0, 0, Math.random() < 0.5 ? Math.random() : Math.random() * 12);
  const rename = (from, to) => {
    try { fs.renameSync(from, to); } catch {
      // A tool that writes made the folder anew in between.
      fs.rmSync(to, { recursive: true, force: true });
      try { fs.renameSync(from, to); } catch {}
    }
  };
  const turn = () => {
    for (let times = 0; times < 20; times++) {
      rename(folder, aside); rename(link, folder); wait();
      rename(folder, link); rename(aside, folder); wait();
      swaps++;
    }
    setImmediate(turn);
  };
  process.stdin.on("end", () => { process.stdout.write(String(swaps)); process.exit(); }).resume();
  setTimeout(() => process.exit(), 300000);
  turn();
  process.stdout.write(" ");
`;

async function startSwapper(folder: string, secret: string): Promise<{ stop(): Promise<number> }> {
  const child = spawn(process.execPath, ["-e", swapperCode, folder, secret], { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise((settle) => child.on("close", settle));
  await new Promise((settle) => child.stdout.once("data", settle));
  return {
    async stop() {
      child.stdin.end();
      await ended;
      return Number(said.trim());
    },
  };
}
