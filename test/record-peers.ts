// `npm run record:peers`: streams of the real Claude Code, Codex and Gemini CLI, from npm, on a model on loopback, kept in
// test/recordings/peers. By hand, because it installs from the network:
//   npm run record:peers -- [--only claude|codex|gemini] [--into FOLDER]
// `--into` keeps the packages for the next time.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Answer, modelServer } from "../src/testing/kit/model-server.ts";
import { installed, plainEnv, started } from "./support/peer-cli.ts";

const recordings = resolve(import.meta.dirname, "recordings/peers");

type Place = { workspace: string; home: string; url: string };

type Peer = {
  package: string;
  program: string;
  env(place: Place): Record<string, string>;
  /** Words of a run that may do everything, without the prompt. */
  args: readonly string[];
  /** Words of a run that may do little. */
  careful: readonly string[];
  /** Put before the prompt. */
  promptFlag?: string;
  /** What the model calls, step by step: a command, one that fails, a new file, a reading, a change of the file. */
  calls(workspace: string): { name: string; args: unknown }[];
};

const peers: Record<string, Peer> = {
  claude: {
    package: "@anthropic-ai/claude-code@2.1.325",
    program: "claude",
    env: ({ url }) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "on-loopback",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
      // It refuses to skip permissions as root outside of a container.
      IS_SANDBOX: "1",
    }),
    args: [
      "-p",
      "--verbose",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
      "--permission-mode",
      "bypassPermissions",
    ],
    careful: ["-p", "--verbose", "--output-format", "stream-json"],
    calls: (workspace) => [
      { name: "Bash", args: { command: "echo hello", description: "Say hello" } },
      { name: "Bash", args: { command: "echo oops >&2; exit 3", description: "Fail" } },
      { name: "Write", args: { file_path: join(workspace, "new.txt"), content: "one\ntwo\n" } },
      { name: "Read", args: { file_path: join(workspace, "new.txt") } },
      { name: "Edit", args: { file_path: join(workspace, "new.txt"), old_string: "two", new_string: "three" } },
    ],
  },
  codex: {
    package: "@openai/codex@0.166.0",
    program: "codex",
    env({ home, workspace, url }) {
      mkdirSync(join(home, ".codex"), { recursive: true });
      const provider = `name = "loopback"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0`;
      writeFileSync(
        join(home, ".codex/config.toml"),
        `model = "gpt-5"\nmodel_provider = "loopback"\n[model_providers.loopback]\n${provider}\n[projects."${workspace}"]\ntrust_level = "trusted"\n`,
      );
      return { LOOPBACK_KEY: "on-loopback" };
    },
    args: ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    careful: ["exec", "--json", "--skip-git-repo-check"],
    calls: () => [
      { name: "exec_command", args: { cmd: "echo hello" } },
      { name: "exec_command", args: { cmd: "echo oops >&2; exit 3" } },
      // Its own program for patches, which it then takes over from the shell.
      {
        name: "exec_command",
        args: { cmd: "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\nEOF\n" },
      },
      { name: "exec_command", args: { cmd: "cat new.txt" } },
      { name: "update_plan", args: { plan: [{ step: "Write the file", status: "completed" }] } },
    ],
  },
  gemini: {
    package: "@google/gemini-cli@0.61.0",
    program: "gemini",
    env({ home, url }) {
      mkdirSync(join(home, ".gemini"), { recursive: true });
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, maxAttempts: 1 },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      };
      writeFileSync(join(home, ".gemini/settings.json"), JSON.stringify(settings));
      return { GEMINI_API_KEY: "on-loopback", GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: "true" };
    },
    args: ["--output-format", "stream-json", "--approval-mode", "yolo", "--model", "gemini-2.5-pro"],
    careful: ["--output-format", "stream-json", "--model", "gemini-2.5-pro"],
    promptFlag: "-p",
    calls: (workspace) => [
      { name: "run_shell_command", args: { command: "echo hello", description: "Say hello" } },
      { name: "run_shell_command", args: { command: "echo oops >&2; exit 3", description: "Fail" } },
      { name: "write_file", args: { file_path: join(workspace, "new.txt"), content: "one\ntwo\n" } },
      { name: "read_file", args: { file_path: join(workspace, "new.txt") } },
      {
        name: "replace",
        args: {
          file_path: join(workspace, "new.txt"),
          instruction: "Change it",
          old_string: "two",
          new_string: "three",
        },
      },
    ],
  },
};

type Scenario = { careful?: true; answer(peer: Peer, place: Place, turn: number): Answer };

const usage = { input: 1200, output: 34, cacheRead: 800, cacheWrite: 0 };

const scenarios: Record<string, Scenario> = {
  work: {
    answer(peer, { workspace }, turn) {
      const call = peer.calls(workspace)[turn];
      if (!call) return { text: ["All of it ", "is done: ", "“naïve” ✓"], usage };
      const said = turn === 0 ? { thinking: "First I say hello.", text: ["I say ", "hello."] } : {};
      return { ...said, toolCalls: [{ id: `call_${turn + 1}`, ...call }], usage };
    },
  },
  refused: {
    careful: true,
    answer(peer, { workspace }, turn) {
      if (turn > 0) return { text: "It was not permitted.", usage };
      return { toolCalls: [{ id: "call_1", ...peer.calls(workspace)[2]! }], usage };
    },
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
      const program = await installed(peer.package, peer.program, packages);
      for (const [title, scenario] of Object.entries(scenarios)) {
        const { exit, stream } = await record(peer, program, scenario);
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
    const env = { ...plainEnv(), ...peer.env(place), HOME: place.home };
    const args = [
      ...(scenario.careful ? peer.careful : peer.args),
      ...(peer.promptFlag ? [peer.promptFlag] : []),
      "go",
    ];
    const { exit, output, stdout } = await started(program, args, { cwd: place.workspace, env }, 120_000);
    if (!stdout.trim()) throw new Error(`${program} said nothing: ${output.slice(-2000)}`);
    return { exit, stream: anonymous(stdout, place) };
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
