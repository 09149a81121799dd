// `npm run bench`: what Courser promises about time and size, each as a ratio to a floor measured in the same run.
//   npm run bench -- [--rounds N] [--quick] [--json FILE] [--plot FILE] [--only WORD]
//   npm run bench -- --peers DIR [--rounds N]   Courser beside the agents that are installed in DIR: bench/peers/
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { modelServer } from "../src/testing/kit/model-server.ts";
import { atExit } from "../test/support/at-exit.ts";
import { acpFigures } from "./acp.ts";
import { adapterTimes } from "./adapter.ts";
import { atOnceFigures } from "./at-once.ts";
import { codeSearchFigures } from "./code-search.ts";
import { compactRatio } from "./compact.ts";
import { decoderRatio } from "./decoder.ts";
import { fleetFigures } from "./fleet.ts";
import { fleetStart } from "./fleet-start.ts";
import { floorFigures } from "./floor.ts";
import { globRatio } from "./glob.ts";
import { grepRatio } from "./grep.ts";
import { hookTimes } from "./hooks.ts";
import { launchRatio } from "./hooks-launch.ts";
import { importTimes } from "./import-cost.ts";
import { installedMegabytes } from "./install-size.ts";
import { mcpTimes } from "./mcp.ts";
import { interleave, median, type Program, runOnce } from "./measure.ts";
import { type Bar, plot } from "./plot.ts";
import { policyTimes } from "./policy.ts";
import { replayFigures } from "./replay.ts";
import { readingFigures } from "./sdk-reading.ts";
import { serveFigures } from "./serve.ts";
import { sessionTimes } from "./sessions.ts";
import { storeFigures } from "./store.ts";
import { studioFigures } from "./studio.ts";
import { terminalFigures } from "./terminal.ts";
import { programFigures } from "./terminal-program.ts";
import { timelineFigures } from "./timeline.ts";
import { type WorkerCost, workerCost, workerFigures } from "./worker.ts";

type Options = {
  rounds: number;
  json?: string;
  plot?: string;
  only?: string;
  /** Where other agents are installed. */
  peers?: string;
};
type Line = Bar & { floor?: string };

const cli = resolve(import.meta.dirname, "../dist/courser.cjs");

export async function main(argv: readonly string[]): Promise<number> {
  const options = parse(argv);
  if (options.peers !== undefined)
    return (await import("./peers/index.ts")).comparePeers({
      folder: resolve(options.peers),
      rounds: options.rounds,
      argv,
    });
  const folder = mkdtempSync(join(tmpdir(), "courser-bench-"));
  const forget = atExit(() => rmSync(folder, { recursive: true, force: true }));
  const lines: Line[] = [];
  try {
    for (const [name, group] of Object.entries(groups)) {
      if (options.only && !name.includes(options.only)) continue;
      console.error(`measuring ${name} …`);
      lines.push(...(await group(folder, options)));
    }
  } finally {
    forget();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(table(lines));
  if (options.json)
    writeFileSync(
      options.json,
      `${JSON.stringify({ node: process.version, rounds: options.rounds, lines }, undefined, 2)}\n`,
    );
  if (options.plot)
    writeFileSync(options.plot, plot(lines, `Courser, Node ${process.version}, medians of ${options.rounds} rounds`));
  return 0;
}

/** One row a subject; each yields lines of the table. */
const groups: Record<string, (folder: string, options: Options) => Promise<Line[]>> = {
  start,
  turns,
  floor,
  codec,
  search,
  codeSearch,
  policy,
  sessions,
  store,
  hooks,
  bridge,
  sdk,
  launch,
  adapter,
  mcp,
  terminal,
  timeline,
  atOnce,
  serve,
  worker,
  fleet,
  fleetStarts,
  studio,
  replay,
  acp,
  size,
};

async function replay(folder: string, { rounds }: Options): Promise<Line[]> {
  const figures = await replayFigures(place(join(folder, "replay")), rounds);
  const floor = `offline tool turn: ${figures.plainMs.toFixed(0)} ms`;
  return [
    { name: "recording a tool turn", value: figures.recording, limit: 1.1, unit: "×", better: "less", floor },
    { name: "recording a tool turn, CPU", value: figures.recordingCpu, limit: 1.1, unit: "×", better: "less" },
    { name: "replaying a tool turn", value: figures.replay, limit: 1.1, unit: "×", better: "less", floor },
    { name: "a recording, beside its stream", value: figures.size, limit: 3, unit: "×", better: "less" },
  ];
}

async function timeline(_folder: string, { rounds }: Options): Promise<Line[]> {
  const figures = await timelineFigures(Math.min(rounds, 5));
  if (!figures) return [];
  const of100 = "one of 100 events";
  const of1000 = "one of 1,000 events";
  return [
    {
      name: "rows in the page, session of 10,000 events",
      value: figures.rows,
      limit: 400,
      unit: "rows",
      better: "less",
    },
    {
      name: "opening a session of 10,000 events",
      value: figures.opening,
      limit: 3,
      unit: "×",
      better: "less",
      floor: of100,
    },
    { name: "scrolling it", value: figures.scrolling, limit: 1.5, unit: "×", better: "less", floor: of1000 },
  ];
}

async function terminal(_folder: string, { rounds }: Options): Promise<Line[]> {
  const { bytesAt, tickBytes, coreShare, idleFrames } = await terminalFigures();
  const program = await programFigures(Math.min(rounds, 15));
  const floor = `after 100 lines: ${bytesAt[100].toFixed(0)} bytes`;
  return [
    {
      name: "terminal, bytes for a line after 10,000",
      value: bytesAt[10_000] / bytesAt[100],
      limit: 1.1,
      unit: "×",
      better: "less",
      floor,
    },
    { name: "terminal, a second of a running command", value: tickBytes, limit: 400, unit: "bytes", better: "less" },
    {
      name: "terminal, 60 deltas a second, share of a core",
      value: coreShare * 100,
      limit: 30,
      unit: "%",
      better: "less",
    },
    { name: "terminal, frames while nothing happens", value: idleFrames, limit: 0, unit: "", better: "less" },
    {
      name: "terminal, first paint",
      value: program.firstPaint,
      limit: 3.5,
      unit: "× node -e 0",
      better: "less",
      floor: `node -e 0: ${program.nodeMs.toFixed(0)} ms`,
    },
    {
      name: "terminal, 60 deltas a second, the whole program",
      value: program.streamShare,
      limit: 0.3,
      unit: "of a core",
      better: "less",
    },
    { name: "terminal, bytes in 5 s of nothing", value: program.idle.bytes, limit: 0, unit: "", better: "less" },
    { name: "terminal, wake-ups in 5 s of nothing", value: program.idle.wakes, limit: 0, unit: "", better: "less" },
    { name: "terminal, 10,000 events", value: program.sessionMb, limit: 120, unit: "MB", better: "less" },
    ...program.peers.flatMap(({ name, firstOutputMs, idle }): Line[] => [
      { name: `${name}, first output`, value: firstOutputMs / program.nodeMs, unit: "× node -e 0", better: "less" },
      { name: `${name}, bytes in 5 s of nothing`, value: idle.bytes, unit: "", better: "less" },
      { name: `${name}, wake-ups in 5 s of nothing`, value: idle.wakes, unit: "", better: "less" },
    ]),
  ];
}

async function acp(folder: string, { rounds }: Options): Promise<Line[]> {
  const { floorMs, firstAnswer, firstUpdate, eightSessionsMb } = await acpFigures(
    cli,
    place(join(folder, "acp")),
    rounds,
  );
  const floor = `node -e 0: ${floorMs.toFixed(1)} ms`;
  return [
    { name: "ACP, first answer", value: firstAnswer, limit: 2.5, unit: "×", better: "less", floor },
    {
      name: "ACP, first update of a turn",
      value: firstUpdate,
      limit: 1.1,
      unit: "×",
      better: "less",
      floor: "print mode, the same turn",
    },
    { name: "ACP, 8 sessions at work, peak memory", value: eightSessionsMb, limit: 200, unit: "MB", better: "less" },
  ];
}

async function codeSearch(): Promise<Line[]> {
  const figures = await codeSearchFigures();
  const floor = `plain FTS5 over the same ${figures.megabytes.toFixed(0)} MB: ${figures.plainSeconds.toFixed(1)} s`;
  const percent = (value: number) => value * 100;
  return [
    {
      name: "code search, 20,000 files indexed",
      value: figures.indexSeconds,
      limit: 10,
      unit: "s",
      better: "less",
      floor,
    },
    { name: "code search, looked at again", value: figures.recheckSeconds, limit: 1, unit: "s", better: "less" },
    { name: "code search, a question", value: figures.questionMs, limit: 20, unit: "ms", better: "less" },
    {
      name: "right file in five, questions tuned with",
      value: percent(figures.tuned),
      limit: 80,
      unit: "%",
      better: "more",
    },
    {
      name: "right file in five, questions held back",
      value: percent(figures.heldBack),
      limit: 80,
      unit: "%",
      better: "more",
    },
    { name: "right file in five, plain FTS5", value: percent(figures.plain), unit: "%", better: "more" },
  ];
}

async function adapter(): Promise<Line[]> {
  const { msPer100, timesParse, events } = await adapterTimes();
  const floor = `${events} events`;
  return [
    { name: "adapter, 100 events", value: msPer100, limit: 1, unit: "ms", better: "less", floor },
    { name: "adapter, beside JSON.parse", value: timesParse, limit: 8, unit: "×", better: "less", floor },
  ];
}

async function start(folder: string, { rounds }: Options): Promise<Line[]> {
  const plain = place(join(folder, "plain"));
  const busy = place(join(folder, "busy"));
  fillWorkspace(busy);
  const run = (where: Place, ...args: string[]): Program => ({
    command: process.execPath,
    args: [cli, ...args],
    cwd: where.workspace,
    env: where.env,
  });
  const offline = ["-p", "--force", "--output-format", "stream-json", "--model", "offline"];
  const programs = {
    floor: { ...run(plain), args: ["-e", "0"] },
    version: run(plain, "--version"),
    help: run(plain, "--help"),
    first: run(plain, ...offline, "what is 2+2?"),
    firstBusy: run(busy, ...offline, "what is 2+2?"),
    tool: run(plain, ...offline, "read a.txt"),
  };
  const samples = await interleave(programs, rounds);
  const wall = (name: keyof typeof programs) => median(samples[name]!.map((sample) => sample.wallMs));
  const first = (name: keyof typeof programs) => median(samples[name]!.map((sample) => sample.firstLineMs));
  const peaks = await memory(programs.tool);
  const floor = wall("floor");
  const ratio = (name: string, value: number, limit: number): Line => ({
    name,
    value: value / floor,
    limit,
    unit: "×",
    better: "less",
    floor: `node -e 0: ${floor.toFixed(1)} ms`,
  });
  return [
    ratio("--version", wall("version"), 1.3),
    ratio("--help", wall("help"), 2),
    ratio("first event", first("first"), 2),
    ratio("first event, full workspace", first("firstBusy"), 2.3),
    ratio("offline run with one tool call", wall("tool"), 3),
    { name: "peak memory, offline tool call", value: peaks, limit: 70, unit: "MB", better: "less" },
  ];
}

async function turns(folder: string, { rounds }: Options): Promise<Line[]> {
  const where = place(join(folder, "turns"));
  const server = await modelServer((request) => {
    const body = request.json as { messages?: { role: string; content: unknown }[] } | undefined;
    const asked = JSON.stringify(body?.messages?.findLast((message) => message.role === "user") ?? "");
    const answered = body?.messages?.at(-1)?.role === "tool";
    return asked.includes("tool turn") && !answered
      ? { toolCalls: [{ name: "Shell", args: { command: "echo hi" } }] }
      : { text: "4" };
  });
  try {
    const url = `${server.url}/v1`;
    const agent = (prompt: string): Program => ({
      command: process.execPath,
      args: [cli, "-p", "--force", "--output-format", "stream-json", "-e", url, "--model", "bench", prompt],
      cwd: where.workspace,
      env: where.env,
    });
    const programs: Record<string, Program> = {
      floor: { ...agent(""), args: ["-e", "0"] },
      text: agent("text turn"),
      tool: agent("tool turn"),
    };
    const samples = await interleave(programs, rounds);
    const floor = median(samples["floor"]!.map((sample) => sample.wallMs));
    const wall = (name: string) => median(samples[name]!.map((sample) => sample.wallMs)) / floor;
    const bytes = server.requests[0]!.body.length;
    return [
      {
        name: "text turn, loopback model",
        value: wall("text"),
        limit: 5,
        unit: "×",
        better: "less",
        floor: `node -e 0: ${floor.toFixed(1)} ms`,
      },
      { name: "tool turn, loopback model", value: wall("tool"), limit: 6, unit: "×", better: "less" },
      { name: "peak memory, tool turn", value: await memory(programs["tool"]!), limit: 90, unit: "MB", better: "less" },
      { name: "first request", value: bytes / 1000, limit: 12, unit: "kB", better: "less" },
    ];
  } finally {
    await server.stop();
  }
}

async function floor(folder: string, { rounds }: Options): Promise<Line[]> {
  const figures = await floorFigures(cli, place(join(folder, "floor")), Math.min(rounds, 15));
  const floor = `the least agent on Node: ${figures.floorMs.toFixed(0)} ms`;
  return [
    { name: "tool turn, processor time", value: figures.toolTurn, limit: 2.1, unit: "×", better: "less", floor },
    { name: "each further call, processor time", value: figures.furtherCall, limit: 2.2, unit: "×", better: "less" },
    { name: "-b beside -p, processor time", value: figures.background, limit: 1.6, unit: "×", better: "less" },
  ];
}

async function codec(): Promise<Line[]> {
  const { ratio, peakRssGrowthMb } = await decoderRatio(50);
  return [
    { name: "decoder, share of bare JSON.parse", value: ratio, limit: 0.5, unit: "×", better: "more" },
    { name: "decoder, memory growth over 50 MB", value: peakRssGrowthMb, unit: "MB", better: "less" },
  ];
}

async function policy(): Promise<Line[]> {
  const { everydayMs, hostileMs, slowest } = await policyTimes();
  return [
    { name: "decision on an everyday command", value: everydayMs, limit: 0.2, unit: "ms", better: "less" },
    { name: `decision on a hostile 60 kB line (${slowest})`, value: hostileMs, limit: 50, unit: "ms", better: "less" },
  ];
}

async function search(folder: string, { rounds }: Options): Promise<Line[]> {
  const { ratio } = await grepRatio(20_000);
  const glob = await globRatio(cli, place(join(folder, "glob")), rounds);
  const floor = `bare rg --files: ${glob.bareMs.toFixed(0)} ms`;
  return [
    { name: "grep tool over bare rg, 20,000 files", value: ratio, limit: 1.3, unit: "×", better: "less" },
    { name: "glob tool in 50,000 files", value: glob.ratio, limit: 2.5, unit: "×", better: "less", floor },
  ];
}

async function sessions(folder: string, { rounds }: Options): Promise<Line[]> {
  const times = await sessionTimes(join(folder, "sessions"), rounds);
  return [
    { name: "ls over 5,000 chats", value: times.listMs, limit: 500, unit: "ms", better: "less" },
    { name: "search over 5,000 chats", value: times.searchMs, limit: 200, unit: "ms", better: "less" },
    { name: "the first search, which reads them", value: times.firstSearchMs / 1000, unit: "s", better: "less" },
    { name: "create-chat among them", value: times.createMs, unit: "ms", better: "less" },
  ];
}

async function store(folder: string, { rounds }: Options): Promise<Line[]> {
  const where = place(join(folder, "store"));
  const run = (...args: string[]): Program => ({
    command: process.execPath,
    args: [cli, ...args],
    cwd: where.workspace,
    env: where.env,
  });
  const chats = { configDir: where.config, workspace: realpathSync(where.workspace) };
  const { append, resumeMs, keep, floorMs } = await storeFigures(chats, run, rounds);
  const floor = `node -e 0: ${floorMs.toFixed(1)} ms`;
  return [
    { name: "10,000th message over the 10th", value: append, limit: 2, unit: "×", better: "less" },
    { name: "resuming 10,000 messages", value: resumeMs, limit: 300, unit: "ms", better: "less" },
    {
      name: "shortening 10,000 messages over 1,000",
      value: await compactRatio(rounds),
      limit: 30,
      unit: "×",
      better: "less",
    },
    { name: "keeping a short run", value: keep, limit: 0.6, unit: "×", better: "less", floor },
  ];
}

async function hooks(folder: string, { rounds }: Options): Promise<Line[]> {
  const { manyMs, slowestMs, spawnMs, ratio } = await hookTimes(join(folder, "hooks"), rounds);
  const floor = `${manyMs.toFixed(0)} ms; 1.5 × ${slowestMs.toFixed(0)} ms and ${spawnMs.toFixed(0)} ms of spawning`;
  return [{ name: "100 hooks on one event", value: ratio, limit: 1, unit: "×", better: "less", floor }];
}

async function bridge(folder: string, { rounds }: Options): Promise<Line[]> {
  const { importMs, floorMs } = await importTimes("hooks", place(join(folder, "bridge")).workspace, rounds);
  const floor = `node -e 0: ${floorMs.toFixed(1)} ms`;
  return [
    { name: "importing the hooks bridge", value: importMs - floorMs, limit: 15, unit: "ms", better: "less", floor },
  ];
}

async function sdk(folder: string, { rounds }: Options): Promise<Line[]> {
  const { workspace } = place(join(folder, "sdk"));
  const { importMs, floorMs } = await importTimes("index", workspace, rounds);
  const { ratio, growthMb } = await readingFigures(workspace);
  const floor = `node -e 0: ${floorMs.toFixed(1)} ms`;
  return [
    { name: "importing the SDK", value: importMs - floorMs, limit: 40, unit: "ms", better: "less", floor },
    { name: "reading a CLI by start, share of bare JSON.parse", value: ratio, unit: "×", better: "more" },
    { name: "reading 50 MB by start, memory growth", value: growthMb, unit: "MB", better: "less" },
  ];
}

async function launch(folder: string, { rounds }: Options): Promise<Line[]> {
  const { ratio, floorMs } = await launchRatio(place(join(folder, "launch")), rounds);
  const floor = `node -e 0: ${floorMs.toFixed(1)} ms`;
  return [{ name: "hook script in TypeScript", value: ratio, limit: 2.5, unit: "×", better: "less", floor }];
}

async function mcp(folder: string, { rounds }: Options): Promise<Line[]> {
  const { first, firstMs, wholeMs } = await mcpTimes(
    place(join(folder, "plain-mcp")),
    place(join(folder, "mcp")),
    rounds,
  );
  const floor = `without: ${firstMs.toFixed(1)} ms`;
  return [
    { name: "first event with three MCP servers", value: first, limit: 1.2, unit: "×", better: "less", floor },
    { name: "a whole run with them, longer by", value: wholeMs, unit: "ms", better: "less" },
  ];
}

async function atOnce(folder: string, { rounds }: Options): Promise<Line[]> {
  const { ratio, soloMs } = await atOnceFigures(place(join(folder, "at-once")), Math.min(rounds, 5));
  const floor = `each by itself: ${soloMs.toFixed(0)} ms`;
  return [{ name: "twelve runs at once, processor time", value: ratio, limit: 1.1, unit: "×", better: "less", floor }];
}

async function fleetStarts(folder: string, { rounds }: Options): Promise<Line[]> {
  const start = await fleetStart(cli, place(join(folder, "fleet-start")), Math.min(rounds, 15));
  if (!start) return [];
  const floor = `-p: ${start.plain.toFixed(0)} ms until its init`;
  const added = start.sent - start.plain;
  return [
    { name: "a fleet: added to the start of a whole run", value: added, limit: 150, unit: "ms", better: "less", floor },
    {
      name: "a fleet: -b to the first event of its run",
      value: start.command / start.plain,
      unit: "×",
      better: "less",
      floor,
    },
  ];
}

async function fleet(_folder: string, { rounds }: Options): Promise<Line[]> {
  const figures = await fleetFigures(Math.min(rounds, 15));
  if (!figures) return [];
  const bytes = `${figures.eventBytes.toFixed(0)} bytes an event, ${(figures.runBytes / 1000).toFixed(1)} kB a run of ten`;
  const busy = `${figures.busyMs.toFixed(1)} ms an event, server ${figures.serverMb.toFixed(0)} MB; ${bytes}`;
  return [
    { name: "a fleet: an event, to its reader", value: figures.eventMs, limit: 15, unit: "ms", better: "less" },
    { name: "a fleet: a run, to its worker", value: figures.startMs, limit: 150, unit: "ms", better: "less" },
    {
      name: "a fleet: events, 20 readers each",
      value: figures.rate,
      limit: 450,
      unit: "/s",
      better: "more",
      floor: busy,
    },
    { name: "a fleet: readers that got all of it", value: figures.whole * 100, limit: 100, unit: "%", better: "more" },
  ];
}

async function serve(folder: string, { rounds }: Options): Promise<Line[]> {
  const figures = await serveFigures(cli, place(join(folder, "serve")), rounds);
  const floor = `node -e 0: ${figures.floorMs.toFixed(1)} ms`;
  return [
    { name: "-b, the service runs", value: figures.served, limit: 6, unit: "×", better: "less", floor },
    { name: "-b, the service is started", value: figures.unserved, limit: 12, unit: "×", better: "less", floor },
    { name: "an idle service, memory", value: figures.idleMb, limit: 70, unit: "MB", better: "less" },
    { name: "a service after 1,000 runs, memory", value: figures.usedMb, limit: 100, unit: "MB", better: "less" },
    { name: "an idle service, processor time in 3 s", value: figures.idleCpuMs, limit: 10, unit: "ms", better: "less" },
    {
      name: "readers of one run, of 50, that got everything once",
      value: figures.wholeReaders,
      limit: 50,
      unit: "",
      better: "more",
    },
  ];
}

async function worker(folder: string, { rounds }: Options): Promise<Line[]> {
  const { own, server } = await workerFigures(cli, place(join(folder, "worker")));
  const cost = await workerCost(cli, place(join(folder, "worker-cost")), Math.min(rounds, 10));
  const line = (name: string, value: number): Line => ({ name, value, limit: 70, unit: "MB", better: "less" });
  return [
    line("an idle worker, memory", own),
    ...(server === undefined ? [] : [line("an idle worker of a fleet on NATS, memory", server)]),
    ...(cost ? [costLine(cost)] : []),
  ];
}

function costLine({ ratio, plainMs, serverMs, serverMessages, serverBytes }: WorkerCost): Line {
  const ofServer = `${serverMs.toFixed(1)} ms, ${serverMessages.toFixed(0)} messages, ${(serverBytes / 1000).toFixed(1)} kB stored`;
  const floor = `-p: ${plainMs.toFixed(0)} ms; the server: ${ofServer}`;
  return { name: "a run of ten calls on a worker, CPU", value: ratio, limit: 1.15, unit: "×", better: "less", floor };
}

async function studio(_folder: string, { rounds }: Options): Promise<Line[]> {
  const { firstLoadKb, page } = await studioFigures(rounds);
  const first = Object.entries(firstLoadKb).map(
    ([name, value]): Line => ({
      name: `studio, first load of the ${name}`,
      value,
      limit: 90,
      unit: "kB",
      better: "less",
    }),
  );
  if (!page) return first;
  const { open, scroll, maxRows, typing } = page;
  const opening = `of 100: ${open[100].toFixed(0)} ms`;
  const scrolling = `of 300: ${scroll[300].toFixed(0)} ms for 60 steps`;
  return [
    ...first,
    {
      name: "studio, opening 10,000 events",
      value: open[10_000] / open[100],
      limit: 1.3,
      unit: "×",
      better: "less",
      floor: opening,
    },
    { name: "studio, rows in the page", value: maxRows, limit: 400, unit: "", better: "less" },
    {
      name: "studio, scrolling 10,000 events",
      value: scroll[10_000] / scroll[300],
      limit: 1.3,
      unit: "×",
      better: "less",
      floor: scrolling,
    },
    {
      name: "studio, typing while a run prints",
      value: typing.streaming / typing.rest,
      limit: 1.5,
      unit: "×",
      better: "less",
      floor: `at rest: ${typing.rest.toFixed(1)} ms to the next frame`,
    },
  ];
}

async function size(folder: string): Promise<Line[]> {
  return [
    {
      name: "node_modules of the packed package",
      value: await installedMegabytes(join(folder, "size")),
      limit: 60,
      unit: "MB",
      better: "less",
    },
  ];
}

type Place = { workspace: string; config: string; env: Record<string, string> };

function place(folder: string): Place {
  const workspace = join(folder, "work");
  const config = join(folder, "home/.cursor");
  mkdirSync(workspace, { recursive: true });
  mkdirSync(config, { recursive: true });
  writeFileSync(join(workspace, "a.txt"), "hello\n");
  return { workspace, config, env: { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") } };
}

/** Five rules, AGENTS.md, hooks, fifty allow rules and five hundred old chats. */
function fillWorkspace({ workspace, config }: Place): void {
  mkdirSync(join(workspace, ".cursor/rules"), { recursive: true });
  for (let index = 0; index < 5; index++) {
    writeFileSync(
      join(workspace, `.cursor/rules/rule-${index}.mdc`),
      `---\ndescription: rule ${index}\nalwaysApply: ${index < 3}\n---\n${"Prefer small functions.\n".repeat(20)}`,
    );
  }
  writeFileSync(join(workspace, "AGENTS.md"), "# Notes\n\nRun the tests.\n".repeat(30));
  writeFileSync(
    join(workspace, ".cursor/hooks.json"),
    JSON.stringify({ version: 1, hooks: { stop: [{ command: "true" }] } }),
  );
  const allow = Array.from({ length: 50 }, (_, index) => `Shell(tool-${index})`);
  writeFileSync(
    join(config, "cli-config.json"),
    JSON.stringify({ version: 1, editor: { vimMode: false }, permissions: { allow, deny: ["Shell(rm)"] } }),
  );
  for (let index = 0; index < 500; index++) {
    const chat = join(
      config,
      "chats",
      "252f0c0d0bc44b5218e5ba5189b6e15e",
      `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    );
    mkdirSync(chat, { recursive: true });
    writeFileSync(join(chat, "store.db"), "");
  }
}

async function memory(program: Program): Promise<number> {
  const peaks: number[] = [];
  for (let index = 0; index < 5; index++) peaks.push((await runOnce(program, { usage: true })).peakMb);
  return median(peaks);
}

function table(lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const good =
      line.limit === undefined || (line.better === "less" ? line.value <= line.limit : line.value >= line.limit);
    const limit = line.limit === undefined ? "" : `${line.better === "less" ? "≤" : "≥"} ${line.limit}`;
    return [
      line.name,
      `${line.value.toFixed(2)} ${line.unit}`,
      limit,
      line.limit === undefined ? "" : good ? "holds" : "MISSED",
      line.floor ?? "",
    ];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function parse(argv: readonly string[]): Options {
  const options: Options = { rounds: 15 };
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    const value = () => argv[++index] ?? "";
    if (word === "--quick") options.rounds = 5;
    else if (word === "--rounds") options.rounds = Number(value());
    else if (word === "--json") options.json = value();
    else if (word === "--plot") options.plot = value();
    else if (word === "--only") options.only = value();
    else if (word === "--peers") options.peers = value();
    else throw new Error(`unknown option ${word}`);
  }
  return options;
}
