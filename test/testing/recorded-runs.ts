// `npm run long -- replay --runs N [--seed S]`: random scripted runs of the built CLI, recorded, then replayed in another
// workspace and home. What is shown must be the same to the byte, and nothing may be touched.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { randomNumbers } from "../stress/random-run.ts";
import { type CliRun, createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

export type RandomRecording = {
  name: string;
  files: Record<string, string>;
  /** In the first home only. */
  userFiles: Record<string, unknown>;
  script: object[];
  args: string[];
};

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const server = join(repository, "test/support/mcp-server.mjs");

type Call = { name: string; args: object };

/** Every tool, each as it should be and as it should not. */
const calls: readonly Call[] = [
  { name: "Read", args: { path: "a.txt" } },
  { name: "Read", args: { path: "missing.txt" } },
  { name: "Read", args: { path: "picture.png" } },
  { name: "Read", args: { path: "src/main.ts" } },
  { name: "Read", args: { wrong: true } },
  { name: "Write", args: { path: "made.txt", contents: "made\n".repeat(30) } },
  { name: "Write", args: { path: ".cursor/hooks.json", contents: "{}" } },
  { name: "Edit", args: { path: "a.txt", edits: [{ oldText: "two", newText: "zwei" }] } },
  { name: "Edit", args: { path: "a.txt", edits: [{ oldText: "absent", newText: "x" }] } },
  { name: "Delete", args: { path: "b.txt" } },
  { name: "Delete", args: { path: "nowhere.txt" } },
  { name: "LS", args: {} },
  { name: "Glob", args: { pattern: "**/*.ts" } },
  { name: "Grep", args: { pattern: "o", path: "." } },
  { name: "SemanticSearch", args: { query: "where is main" } },
  { name: "Shell", args: { command: "echo hello; echo oops >&2; exit 3" } },
  { name: "Shell", args: { command: "pwd; echo $HOME" } },
  { name: "Shell", args: { command: "seq 1 400" } },
  { name: "Shell", args: { command: "sleep 30", isBackground: true } },
  { name: "Shell", args: { command: "sleep 5", timeout: 1000 } },
  { name: "Await", args: { taskId: "shell_1", blockUntilMs: 50 } },
  { name: "TodoWrite", args: { todos: [{ id: "1", content: "look", status: "pending" }], merge: false } },
  { name: "WebFetch", args: { url: "http://127.0.0.1:9/" } },
  { name: "WebSearch", args: { searchTerm: "x" } },
  { name: "Task", args: { description: "look", prompt: "look", subagent_type: "helper" } },
  { name: "Task", args: { description: "later", prompt: "later", subagent_type: "helper", run_in_background: true } },
  { name: "Task", args: { description: "nobody", prompt: "x", subagent_type: "nobody" } },
  { name: "CreatePlan", args: { name: "Plan", overview: "o", plan: "# Plan" } },
  { name: "Nonsense", args: { a: 1 } },
  { name: "demo-add", args: { a: 1, b: 2 } },
  { name: "demo-picture", args: {} },
  { name: "demo-fail", args: {} },
];

const errors = ["MODEL_RATE_LIMIT", "MODEL_REFUSED", "MODEL_OVERFLOW", "MODEL_UNREACHABLE"];

const say = (value: unknown) => `printf '%s' '${JSON.stringify(value)}'`;
const hookFiles: readonly object[] = [
  { sessionStart: [{ command: say({ additional_context: "Be kind." }) }] },
  { preToolUse: [{ command: say({ permission: "deny", user_message: "not today" }), matcher: "Shell" }] },
  { postToolUse: [{ command: say({ additional_context: "It was used." }) }] },
  { stop: [{ command: `test -e "$HOME/once" || { : > "$HOME/once"; ${say({ followup_message: "and then?" })}; }` }] },
  { beforeSubmitPrompt: [{ command: say({ continue: false, user_message: "no prompt" }) }] },
];

export function randomRecording(seed: number): RandomRecording {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const chance = (share: number) => random() < share;
  const hasServer = chance(0.25);
  const isSmall = chance(0.15);
  const script: object[] = [];
  for (let turn = Math.floor(random() * 5); turn > 0; turn--) {
    const made = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(calls));
    script.push({
      ...(chance(0.3) && { thinking: ["I ", "think."] }),
      ...(chance(0.5) && { text: ["Let me ", "look at ", `${turn}.`] }),
      calls: made,
      usage: { inputTokens: 10 + turn, outputTokens: 5 },
    });
    if (isSmall) script.push({ summary: true, text: "What was done: much." });
  }
  if (chance(0.12)) script.push({ text: "half", error: { code: pick(errors), message: "played" } });
  script.push({ text: ["It is ", "done. ", "Ünï→✓"], usage: { inputTokens: 7, outputTokens: 3 } }, { text: "More." });
  const format = pick(["stream-json", "stream-json", "stream-json", "json", "text"]);
  const files: Record<string, string> = {
    "a.txt": "one\ntwo\nthree\n",
    "b.txt": "to be deleted\n",
    "AGENTS.md": "Be brief.\n",
    "src/main.ts": "export function main() {}\n".repeat(isSmall ? 200 : 3),
    "src/AGENTS.md": "In src, write types.\n",
    ".cursor/rules/style.mdc": "---\nalwaysApply: true\n---\nTabs are wide.\n",
    ".cursor/agents/helper.md": "---\nname: helper\ndescription: Helps\nmodel: script:helper.json\n---\nYou help.\n",
    "helper.json": JSON.stringify([{ calls: [{ name: "LS", args: {} }] }, { text: "Helped." }, { text: "Again." }]),
  };
  const mcp = JSON.stringify({ mcpServers: { demo: { command: process.execPath, args: [server] } } });
  return {
    name: `seed ${seed}`,
    files,
    userFiles: {
      ...(chance(0.35) && { "hooks.json": { version: 1, hooks: pick(hookFiles) } }),
      ...(isSmall && { "courser.json": { contextTokens: 2500 } }),
    },
    script,
    args: [
      ...["-p", "--output-format", format],
      ...(format === "stream-json" && chance(0.5) ? ["--stream-partial-output"] : []),
      ...pick([["--force"], ["--force"], ["--trust"], ["--trust", "--mode", "ask"], ["--trust", "--plan"]]),
      ...(hasServer ? ["--mcp-config", mcp, "--approve-mcps"] : []),
      ...(chance(0.2) ? ["--image", "picture.png"] : []),
      ...(chance(0.15) ? ["--append-system-prompt", "Answer in rhyme."] : []),
      ...(chance(0.1) ? ["--max-turns", "2"] : []),
      ...(chance(0.1) ? ["--no-persist"] : []),
      ...(chance(0.1) ? ["--disallowed-tools", "Shell,Task"] : []),
      pick(["go", "do it, with ünïcode", "see @a.txt", "two\nlines"]),
    ],
  };
}

function placeOf({ files }: RandomRecording): Workspace {
  const place = createWorkspace(files);
  place.file("picture.png", Buffer.from(pixel, "base64"));
  return place;
}

export type Replayed = { faults: string[]; streamBytes: number; recordingBytes: number; ending: string };

/** Records a run, replays it elsewhere, and says what is not as it should be. */
export async function recordAndReplay(run: RandomRecording): Promise<Replayed> {
  const [here, there] = [placeOf(run), placeOf(run)];
  const faults: string[] = [];
  try {
    for (const [name, content] of Object.entries(run.userFiles)) {
      const file = join(here.config, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(content));
    }
    const script = join(here.home, "script.json");
    writeFileSync(script, JSON.stringify(run.script));
    const file = join(here.home, "run.jsonl");
    const recorded = await here.run(["--model", `script:${script}`, "--record", file, ...run.args]);
    const before = treeOf(dirname(there.path));
    const replayed = await there.run(["--model", `replay:${file}`, ...run.args]);
    for (const part of ["stdout", "stderr", "exit"] as const)
      if (recorded[part] !== replayed[part]) faults.push(`${part} differs: ${shown(recorded)} — ${shown(replayed)}`);
    const after = treeOf(dirname(there.path));
    if (after !== before) faults.push(`something was touched: ${after}, was ${before}`);
    return {
      faults,
      streamBytes: recorded.stdout.length,
      recordingBytes: statSync(file).size,
      ending: `${run.args[2]} ${recorded.exit} ${/"error_code":"(\w+)"|\[(\w+)\]\s*$/.exec(recorded.stdout + recorded.stderr)?.[0] ?? "success"}`,
    };
  } finally {
    here.remove();
    there.remove();
  }
}

function shown({ stdout, stderr, exit }: CliRun): string {
  return `${exit} ${stdout.slice(-400)} ${stderr.slice(-600)}`;
}

function treeOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.parentPath.includes("node-compile-cache"))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isFile() ? `${path.slice(folder.length)}:${readFileSync(path).length}` : path.slice(folder.length);
    })
    .sort()
    .join("\n");
}

export async function campaign(
  { runs, seed, concurrency }: { runs: number; seed: number; concurrency: number },
  report: (done: number) => void = () => {},
) {
  const faults: string[] = [];
  const endings = new Map<string, number>();
  const sizes: { name: string; ratio: number }[] = [];
  let [next, done] = [0, 0];
  const work = async () => {
    while (next < runs) {
      const run = randomRecording(seed + next++);
      const end = await recordAndReplay(run).catch((error: Error) => ({
        faults: [error.stack ?? ""],
        ending: "broken",
        streamBytes: 1,
        recordingBytes: 1,
      }));
      faults.push(...end.faults.map((fault) => `${run.name}: ${fault}`));
      endings.set(end.ending, (endings.get(end.ending) ?? 0) + 1);
      // Other formats say less than the stream: only it is compared in size.
      if (run.args[2] === "stream-json") sizes.push({ name: run.name, ratio: end.recordingBytes / end.streamBytes });
      report(++done);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { faults, endings, sizes: sizes.sort((one, other) => one.ratio - other.ratio) };
}

export async function main(argv: readonly string[]): Promise<number> {
  const option = (name: string, otherwise: number) => {
    const at = argv.indexOf(`--${name}`);
    return at < 0 ? otherwise : Number(argv[at + 1]);
  };
  const chosen = { runs: option("runs", 200), seed: option("seed", 1), concurrency: option("concurrency", 2) };
  const { faults, endings, sizes } = await campaign(chosen, (done) => {
    if (done % 20 === 0) console.log(`${done} of ${chosen.runs}`);
  });
  for (const fault of faults) console.log(fault);
  for (const [ending, count] of [...endings].sort()) console.log(`${count}\t${ending}`);
  const middle = sizes[Math.floor(sizes.length / 2)]?.ratio.toFixed(2);
  const above = sizes.filter(({ ratio }) => ratio > 3);
  for (const { name, ratio } of above) console.log(`${name}: the recording is ${ratio.toFixed(2)} times its stream`);
  const largest = sizes.at(-1)?.ratio.toFixed(2);
  console.log(
    `recording / stream: median ${middle}, most ${largest}, above 3: ${above.length} of ${sizes.length}; faults: ${faults.length}`,
  );
  return faults.length === 0 ? 0 : 1;
}
