// `npm run bench -- --peers DIR`: Courser and every other agent that is installed in DIR, one turn after the other with the same model
// on loopback, and docs/benchmarks.md written from what was measured.
//   DIR/node_modules or DIR/NAME/node_modules: npm install --prefix DIR/codex @openai/codex
//   DIR/node22: npm install --prefix DIR/node22 node@22, for those that need it
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { ModelServer, RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { median, type Program, runOnce, type Sample } from "../measure.ts";
import { growthAnswer, makeLargeRepository, promptFor, writeLargeFile } from "./growth.ts";
import { peakOfTree } from "./memory.ts";
import { benchModel, hasResult, toolsIn } from "./model.ts";
import { type Figures, type Growth, type PeerRow, writeReport } from "./report.ts";
import { type Peer, type PeerPlace, peers, prompts, type Turn } from "./table.ts";

const root = resolve(import.meta.dirname, "../..");

/** Ours, by the same rules as the others. */
const courser: Peer = {
  name: "courser",
  package: "courser-agent",
  program: "courser",
  turn: (turn, { url, prompt, again }) => ({
    args: [
      ...["-p", "--force", "--output-format", "stream-json", ...(again ? ["--continue"] : [])],
      ...["-e", `${url[turn]}/v1`, "--model", "bench-model", prompt],
    ],
  }),
};

const timeoutMs = 180_000;

export type PeersOptions = { folder: string; rounds: number; argv: readonly string[] };

export async function comparePeers({ folder, rounds, argv }: PeersOptions): Promise<number> {
  if (!existsSync(folder))
    throw new Error(`${folder} does not exist: npm install --prefix ${folder}/codex @openai/codex`);
  const inside = withoutNetwork(argv);
  if (inside !== undefined) return inside;
  const temporary = mkdtempSync(join(tmpdir(), "courser-peers-"));
  const server = await benchModel(growthAnswer);
  try {
    const found = [courser, ...peers].flatMap((peer) => {
      const installed = installedPeer(peer, folder);
      return installed ? [new Entrant(peer, installed, join(temporary, peer.name), server)] : [];
    });
    let load = 0;
    console.error(`found: ${found.map(({ peer }) => peer.name).join(", ")}`);
    for (const entrant of found) await entrant.tryOut();
    for (let round = 1; round <= rounds; round++) {
      for (const entrant of found) {
        await entrant.round();
        load = Math.max(load, loadavg()[0]!);
      }
      console.error(`round ${round} of ${rounds}`);
    }
    for (const entrant of found) await entrant.measureMemory(Math.min(3, rounds));
    const large = join(temporary, "large");
    makeLargeRepository(large);
    const steps = found.filter(({ runsHere }) => runsHere).map((entrant) => entrant.growthSteps(large));
    for (const [index] of (steps[0] ?? []).entries()) {
      console.error(`growth, step ${index + 1} of ${steps[0]!.length}`);
      for (const own of steps) await own[index]!();
    }
    const measured = new Date().toISOString().slice(0, 10);
    const figures: Figures = {
      measured,
      rounds,
      node: process.version,
      cores: cpus().length,
      load: Math.round(load * 10) / 10,
      network: process.env[marker] === undefined ? "as it is" : "loopback only",
      rows: found.map((entrant) => entrant.row()),
      growth: { measured, load: Math.round(loadavg()[0]! * 10) / 10 },
    };
    console.log(writeReport(figures, join(root, "docs")));
    return 0;
  } finally {
    await server.stop();
    endLeftBehind(temporary);
    rmSync(temporary, { recursive: true, force: true });
  }
}

type Installed = { command: string; version: string; path: string };

class Entrant {
  readonly peer: Peer;
  readonly #installed: Installed;
  readonly #place: PeerPlace;
  readonly #workspace: string;
  readonly #server: ModelServer;
  readonly #samples: Record<Turn, Measured[]> = { text: [], tool: [] };
  #peaks: number[] = [];
  readonly #growth: Growth = {};
  #isStuck = false;
  #failure: string | undefined;
  #failed = 0;

  constructor(peer: Peer, installed: Installed, folder: string, server: ModelServer) {
    this.peer = peer;
    this.#installed = installed;
    this.#server = server;
    const url = (turn: Turn) => `${server.url}/${turn}`;
    this.#place = { home: join(folder, "home"), url: { text: url("text"), tool: url("tool") } };
    this.#workspace = join(folder, "workspace");
    mkdirSync(join(this.#workspace, "src"), { recursive: true });
    mkdirSync(this.#place.home, { recursive: true });
    writeFileSync(join(this.#workspace, "README.md"), "# Sample\n");
    writeFileSync(join(this.#workspace, "src/index.js"), "console.log(1);\n");
    spawnSync("git", ["init", "--quiet"], { cwd: this.#workspace });
    peer.prepare?.(this.#place);
  }

  /** Once each, not counted: what fails here is not asked again. */
  async tryOut(): Promise<void> {
    for (const args of this.peer.before?.(this.#place) ?? []) await runOnce(this.#program(args), { ownGroup: true });
    for (const turn of ["text", "tool"] as const) {
      const { sample, fault } = await this.#measure(turn);
      if (fault === undefined) continue;
      const said = (sample.stderr.trim() || sample.stdout.trim()).split("\n").at(-1) ?? "";
      this.#failure = said === "" ? fault : `${fault}: ${said.slice(0, 160)}`;
      console.error(`${this.peer.name} does not run here: ${this.#failure}`);
      return;
    }
  }

  async round(): Promise<void> {
    if (this.#failure !== undefined) return;
    for (const turn of ["text", "tool"] as const) {
      const measured = await this.#measure(turn);
      if (measured.fault === undefined) this.#samples[turn].push(measured);
      else this.#failed++;
    }
  }

  /** Apart from the rounds: looking costs time. */
  async measureMemory(rounds: number): Promise<void> {
    if (this.#failure !== undefined) return;
    for (let round = 0; round < rounds; round++) {
      let peak: ReturnType<typeof peakOfTree> | undefined;
      await runOnce(this.#turn("tool"), {
        ownGroup: true,
        started: (pid) => {
          peak = peakOfTree(pid);
        },
      });
      const megabytes = peak?.end();
      if (megabytes) this.#peaks.push(megabytes);
    }
  }

  get runsHere(): boolean {
    return this.#failure === undefined;
  }

  row(): PeerRow {
    const { name, note } = this.peer;
    const { version } = this.#installed;
    if (this.#failure !== undefined) return { name, version, failure: this.#failure };
    const { text, tool } = this.#samples;
    if (text.length === 0 || tool.length === 0) return { name, version, failure: "no round succeeded" };
    const of = (samples: readonly Measured[], value: (measured: Measured) => number) =>
      Math.round(median(samples.map(value)));
    const first = tool[0]!.requests.find(({ json }) => toolsIn(json).length > 0) ?? tool[0]!.requests[0]!;
    return {
      name,
      version,
      textTurnMs: of(text, ({ sample }) => sample.wallMs),
      toolTurnMs: of(tool, ({ sample }) => sample.wallMs),
      firstEventMs: of(text, ({ sample }) => sample.firstLineMs),
      firstRequestMs: of(text, ({ requests, started }) => requests[0]!.at - started),
      ...(this.#peaks.length > 0 && { peakMb: Math.round(median(this.#peaks)) }),
      firstRequestKb: Math.round(first.body.length / 100) / 10,
      requests: tool[0]!.requests.length,
      ...(this.#failed > 0 && { failed: this.#failed }),
      ...(note !== undefined && { note }),
      ...(Object.keys(this.#growth).length > 0 && { growth: this.#growth }),
    };
  }

  async #measure(turn: Turn): Promise<Measured> {
    const asked = this.#server.requests.length;
    const started = performance.now();
    const sample = await runOnce(this.#turn(turn), { ownGroup: true, timeoutMs });
    const requests = this.#server.requests.slice(asked).filter(({ wire }) => wire !== undefined);
    const fault =
      sample.exit !== 0
        ? sample.exit === null
          ? `it did not end within ${timeoutMs / 60_000} minutes`
          : `exit ${sample.exit}`
        : requests.length === 0
          ? "the model was not asked"
          : turn === "tool" && !requests.some(hasResult)
            ? "the command was not run"
            : undefined;
    return { sample, requests, started, fault };
  }

  #turn(turn: Turn): Program {
    const { args, env } = this.peer.turn(turn, { ...this.#place, prompt: prompts[turn] });
    return this.#program(args, env);
  }

  /** What grows with the work, as steps that are taken in turns with the other agents. */
  growthSteps(largeRepository: string): (() => Promise<void>)[] {
    const file = writeLargeFile(this.#workspace);
    const grow =
      (name: string, more: { file?: string; again?: boolean } = {}) =>
      () =>
        this.#grow(name, more);
    return [
      ...["calls1", "calls10", "calls100"].map((name) => grow(name)),
      grow("edits", { file }),
      grow("reads", { file }),
      grow("calls400"),
      grow("again", { again: true }),
      () => this.#growAtOnce(),
      () => this.#growLarge(largeRepository),
    ];
  }

  async #growAtOnce(): Promise<void> {
    if (this.#isStuck) return;
    const started = performance.now();
    const run = () => runOnce(this.#job("calls1"), { ownGroup: true, timeoutMs });
    const runs = await Promise.all(Array.from({ length: 12 }, run));
    if (runs.every(({ exit }) => exit === 0)) this.#growth.atOnceMs = performance.now() - started;
  }

  async #growLarge(folder: string): Promise<void> {
    if (this.#isStuck) return;
    const asked = this.#server.requests.length;
    const { exit } = await runOnce({ ...this.#job("large"), cwd: folder }, { ownGroup: true, timeoutMs });
    const at = this.#server.requests.slice(asked).filter(({ json }) => toolsIn(json).length > 0);
    const gaps = at.slice(1).map((request, index) => request.at - at[index]!.at);
    if (exit === 0 && gaps.length === 4) this.#growth.large = gaps;
    for (const made of ["made-first", "made-second"]) rmSync(join(folder, made), { force: true });
  }

  async #grow(name: string, more: { file?: string; again?: boolean }): Promise<void> {
    if (this.#isStuck) return;
    const before = bytesBelow(this.#place.home);
    const { wallMs, exit } = await runOnce(this.#job(name, more), { ownGroup: true, timeoutMs });
    // A database that was tidied up may have become smaller.
    const bytes = Math.max(0, bytesBelow(this.#place.home) - before);
    if (exit === 0) this.#growth[name] = { ms: wallMs, bytes };
    else console.error(`${this.peer.name}: ${name} ended with ${exit}`);
    // An agent that does not come to an end with ten calls does not with a hundred.
    this.#isStuck = exit === null;
  }

  #job(workload: string, { file, again }: { file?: string; again?: boolean } = {}): Program {
    const asked = { ...this.#place, prompt: promptFor(workload, file), ...(again && { again }) };
    const { args, env } = this.peer.turn("tool", asked);
    return this.#program(args, env);
  }

  #program(args: readonly string[], env: Record<string, string> = {}): Program {
    const { home } = this.#place;
    return {
      command: this.#installed.command,
      args,
      cwd: this.#workspace,
      env: {
        PATH: this.#installed.path,
        HOME: home,
        XDG_CONFIG_HOME: join(home, ".config"),
        XDG_DATA_HOME: join(home, ".local/share"),
        XDG_CACHE_HOME: join(home, ".cache"),
        XDG_STATE_HOME: join(home, ".local/state"),
        LANG: "C.UTF-8",
        TERM: "dumb",
        SHELL: "/bin/bash",
        DO_NOT_TRACK: "1",
        NO_UPDATE_NOTIFIER: "1",
        NO_COLOR: "1",
        ...env,
      },
    };
  }
}

type Measured = { sample: Sample; requests: RecordedRequest[]; started: number; fault: string | undefined };

function installedPeer({ name, package: packageName, program, node }: Peer, folder: string): Installed | undefined {
  const path = process.env["PATH"] ?? "";
  if (name === "courser") return { command: join(root, "dist/courser.cjs"), version: versionIn(root), path };
  const modules = [join(folder, name, "node_modules"), join(folder, "node_modules")].find((each) =>
    existsSync(join(each, ".bin", program)),
  );
  if (!modules) return undefined;
  const needsOther = node !== undefined && node > Number(process.versions.node.split(".")[0]);
  const other = needsOther ? join(folder, `node${node}/node_modules/node/bin`) : undefined;
  return {
    command: join(modules, ".bin", program),
    version: versionIn(join(modules, packageName)),
    path: other && existsSync(other) ? `${other}${delimiter}${path}` : path,
  };
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

const marker = "COURSER_BENCH_INSIDE";

/** The same again where there is no network but loopback, where the system lets us: what is left of telemetry would be measured too. */
function withoutNetwork(argv: readonly string[]): number | undefined {
  if (process.env[marker] !== undefined || process.platform !== "linux") return undefined;
  const isRoot = process.getuid?.() === 0;
  const namespace = isRoot ? ["--net"] : ["--map-root-user", "--net"];
  const raise = 'ip link set lo up && exec "$@"';
  if (spawnSync("unshare", [...namespace, "sh", "-c", raise, "sh", "true"]).status !== 0) {
    console.error("No network namespace can be made here: the agents keep their network.");
    return undefined;
  }
  const command = [process.execPath, join(root, "scripts/run-ts.mjs"), join(root, "bench/index.ts"), ...argv];
  const { status } = spawnSync("unshare", [...namespace, "sh", "-c", raise, "sh", ...command], {
    stdio: "inherit",
    env: { ...process.env, [marker]: "1" },
  });
  return status ?? 1;
}

/** What lies below a folder on disk. */
function bytesBelow(folder: string): number {
  const said = spawnSync("du", ["-sk", folder], { encoding: "utf8" }).stdout;
  return Number(/^\d+/.exec(said)?.[0] ?? 0) * 1024;
}

/** Daemons that an agent started: those that live in one of our homes. */
function endLeftBehind(temporary: string): void {
  if (process.platform !== "linux") return;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    try {
      if (readFileSync(join("/proc", pid, "environ"), "latin1").includes(`HOME=${temporary}/`))
        process.kill(Number(pid));
    } catch {} // it is somebody else's, or gone
  }
}
