// `npm run long`: the scripts that take minutes or need something from outside, and `npm run long -- NAME …` runs one of them.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What each does, its file, and whether it uses `dist/`, which is then built first. */
const scripts = {
  stress: ["Random faults: --runs N --concurrency C --seed S", "test/stress/index.ts", "built"],
  campaigns: ["All campaigns with faults in one command: --runs N", "test/stress/campaigns.ts", "built"],
  "stop-matrix": ["Every way to stop × every moment × every tool: --rounds N", "test/stress/stop-matrix.ts", "built"],
  "kill-matrix": ["Every signal in every state: --rounds N", "test/stress/kill-matrix.ts", "built"],
  kill: ["kill -9 while chats are written: --rounds N", "test/store/kill.ts", "built"],
  race: ["Links swapped under a running tool: --rounds N", "test/agent/race.ts", "built"],
  doors: ["Every restriction at every way to start a run", "test/doors/long.ts", "built"],
  keys: ["Random keys and resizes in tmux: --keys N --seed S", "test/terminal/random-keys.ts", "built"],
  serve: ["A service that is killed under load: --runs N --kills N", "test/serve/stress.ts", "built"],
  batch: ["Batches that are killed and resumed: --runs N --kills N", "test/serve/batch-long.ts", "built"],
  fleet: [
    "Real workers, killed and frozen: [--cluster] --runs N --kills N --freezes N --restarts N --leader-kills N",
    "test/serve/fleet-processes.ts",
  ],
  "simulate-fleet": [
    "Thousands of workers in simulated time: --runs N --workers N --seed S",
    "test/serve/simulation/index.ts",
  ],
  replay: ["Recorded runs, replayed elsewhere: --runs N", "test/testing/recorded-runs.ts", "built"],
  fuzz: ["Damaged streams for the SDK: --rounds N", "test/sdk/fuzz.ts"],
  "fuzz-policy": ["Random commands for the policy: --rounds N", "test/policy/fuzz/index.ts"],
  mutate: ["Small changes of the source that tests must notice: --sample N --seed S", "scripts/mutate/index.mjs"],
  "eval-record": ["Records the tasks of eval/tasks anew", undefined, "built"],
  "eval-search": ["How well code search finds what was asked for", "test/agent/code-search/evaluate.ts"],
  "check-package": ["What is in the packed package", "scripts/check-package.mjs", "built"],
  "try-nodes": ["Tests on other versions of Node: VERSION [PATH…]", "scripts/try-nodes.mjs"],
  "try-agents": ["The SDK with the real claude, codex, gemini, opencode and pi: DIR", "test/try-agents.ts", "built"],
  "try-clients": ["Public programs that start cursor-agent, unchanged", "test/try-clients.ts", "built"],
  "try-hosts": ["The hooks bridge in real hosts", "test/try-hosts.ts", "built"],
  "record-peers": ["Records the streams of real agents", "test/record-peers.ts"],
  pictures: ["Pictures of the terminal for the docs", "test/terminal/take-pictures.ts", "built"],
  "pictures-studio": ["Pictures of the studio for the docs", "test/studio/pictures.ts", "built"],
  cast: ["The moving picture of the README", "scripts/cast.mjs"],
  prices: ["The table of prices from its data package", "scripts/price-table.ts"],
  compatibility: ["The page on compatibility from the cases that prove it", "scripts/compatibility.ts"],
  reference: ["The SDK's reference from its types", "scripts/sdk-reference.ts"],
};

const [name, ...argv] = process.argv.slice(2);
const script = Object.hasOwn(scripts, name ?? "") ? scripts[name] : undefined;
if (script) await start(script);
else list();

function list() {
  if (name !== undefined) console.error(`There is no long script "${name}". These are there:\n`);
  const width = Math.max(...Object.keys(scripts).map((each) => each.length));
  console.log("npm run long -- NAME [options]\n");
  for (const [each, [what]] of Object.entries(scripts)) console.log(`  ${each.padEnd(width)}  ${what}`);
  process.exitCode = name === undefined ? 0 : 2;
}

/** In this process, so that a signal reaches the script and what it has started. */
async function start([, file, built]) {
  if (file?.endsWith(".ts")) {
    process.argv = [process.argv[0], join(root, "scripts/run-ts.mjs"), ...(built ? ["--build"] : []), file, ...argv];
    return import("./run-ts.mjs");
  }
  if (built) await import("./build.mjs");
  if (file) {
    process.argv = [process.argv[0], join(root, file), ...argv];
    return import(join(root, file));
  }
  const { status } = spawnSync(
    process.execPath,
    ["dist/courser.cjs", "eval", "eval/tasks", "--model", "script", "--save-recordings", ...argv],
    { cwd: root, stdio: "inherit" },
  );
  process.exitCode = status ?? 1;
}
