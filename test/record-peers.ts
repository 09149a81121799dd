// `npm run long -- record-peers`: streams of real agent CLIs, from npm, on a model on loopback, kept in
// test/recordings/peers. By hand, because it installs from the network:
//   npm run long -- record-peers [--only NAME] [--into FOLDER]
// `--into` keeps the packages for the next time.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { type ModelAnswer, modelServer } from "../src/testing/kit/model-server.ts";
import { type Peer, type Place, peers } from "./agents/peers.ts";
import { installed, newerNode, plainEnv, started } from "./support/peer-cli.ts";

const recordings = resolve(import.meta.dirname, "recordings/peers");

/** What the model calls, step by step: a command, one that fails, a new file, a reading, a change of the file. */
function callsOf(peer: Peer, workspace: string) {
  const file = join(workspace, "new.txt");
  return [
    peer.shell("echo hello"),
    peer.shell("echo oops >&2; exit 3"),
    peer.write(file, "one\ntwo\n"),
    ...(peer.read ? [peer.read(file)] : [peer.shell(`cat ${file}`)]),
    peer.edit(file, "two", "three"),
  ];
}

type Scenario = { careful?: true; answer(peer: Peer, place: Place, turn: number): ModelAnswer };

const usage = { input: 1200, output: 34, cacheRead: 800, cacheWrite: 0 };

const scenarios: Record<string, Scenario> = {
  work: {
    answer(peer, { workspace }, turn) {
      const call = callsOf(peer, workspace)[turn];
      if (!call) return { text: ["All of it ", "is done: ", "“naïve” ✓"], usage };
      const said = turn === 0 ? { thinking: "First I say hello.", text: ["I say ", "hello."] } : {};
      return { ...said, toolCalls: [{ id: `call_${turn + 1}`, ...call }], usage };
    },
  },
  refused: {
    careful: true,
    answer(peer, { workspace }, turn) {
      if (turn > 0) return { text: "It was not permitted.", usage };
      return { toolCalls: [{ id: "call_1", ...callsOf(peer, workspace)[2]! }], usage };
    },
  },
  retried: {
    answer: () => ({ status: 429, headers: { "retry-after": "1" } }),
  },
  failed: {
    answer: () => ({
      status: 400,
      body: { type: "error", error: { type: "invalid_request_error", message: "The model has no time.", code: 400 } },
    }),
  },
};

export async function main(argv: readonly string[]): Promise<number> {
  const value = (name: string) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  const only = value("--only");
  const kept = value("--into");
  const packages = kept === undefined ? mkdtempSync(join(tmpdir(), "courser-peers-")) : resolve(kept);
  try {
    for (const [name, peer] of Object.entries(peers)) {
      if (only !== undefined && only !== name) continue;
      const program = await installed(peer.package, peer.program, join(packages, name));
      const node = peer.node22 ? dirname(await newerNode(join(packages, "node22"))) : undefined;
      for (const [title, scenario] of Object.entries(scenarios)) {
        // One that repeats a request for minutes has nothing to show.
        if (title === "retried" && peer.limits?.["429"]) continue;
        const { exit, stream } = await record(peer, program, scenario, node);
        mkdirSync(join(recordings, name), { recursive: true });
        writeFileSync(join(recordings, name, `${title}.jsonl`), stream);
        console.log(`${name} ${title}: exit ${exit}, ${stream.split("\n").length - 1} lines`);
      }
    }
  } finally {
    if (kept === undefined) rmSync(packages, { recursive: true, force: true });
  }
  return 0;
}

async function record(
  peer: Peer,
  program: string,
  scenario: Scenario,
  node: string | undefined,
): Promise<{ exit: number | null; stream: string }> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-peer-")));
  const place: Place = { workspace: join(folder, "work"), home: join(folder, "home"), url: "" };
  for (const path of [place.workspace, place.home]) mkdirSync(path);
  let turn = 0;
  const server = await modelServer((request) => {
    const { tools } = (request.json ?? {}) as { tools?: unknown[] };
    // Side questions (a title, a warm-up) have no tools.
    return tools?.length ? scenario.answer(peer, place, turn++) : { text: "ok" };
  });
  place.url = server.url;
  try {
    const env = {
      ...plainEnv(),
      ...peer.env(place),
      ...(node && { PATH: `${node}${delimiter}${process.env["PATH"]}` }),
      HOME: place.home,
    };
    const args = [
      ...(scenario.careful ? peer.careful : peer.args),
      ...(peer.promptFlag ? [peer.promptFlag] : []),
      "go",
    ];
    const { exit, output, stdout } = await started(program, args, { cwd: place.workspace, env }, 120_000);
    if (!stdout.trim()) throw new Error(`${program} said nothing: ${output.slice(-2000)}`);
    const packages = program.replace(/\/node_modules\/.*$/, "");
    return { exit, stream: anonymous(stdout.replaceAll(packages, "/usr/local/lib"), place) };
  } finally {
    await server.stop();
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}

/** Names of this machine, ids and times of this run taken out; the shape of every line stays. */
function anonymous(stream: string, { workspace, home, url }: Place): string {
  const ids: string[] = [];
  return stream
    .replaceAll(workspace.replaceAll("/", "-"), "-home-dev-project")
    .replaceAll(workspace, "/home/dev/project")
    .replaceAll(home, "/home/dev")
    .replaceAll(url, "http://127.0.0.1:8080")
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `00000000-0000-4000-8000-${String(ids.indexOf(id) + 1).padStart(12, "0")}`;
    });
}
