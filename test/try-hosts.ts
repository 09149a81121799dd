// `npm run long -- try-hosts`: the real Claude Code, Codex and Gemini CLI, from npm, on a model on loopback. A script that `hooks init`
// wrote and `hooks install` put in must block `rm -rf` in each, and without it the command must get through. By hand, because
// it installs from the network:
//   npm run long -- try-hosts [--only claude|codex|gemini] [--into FOLDER] [--record]
// `--into` keeps the packages for the next time; `--record` writes the payloads to test/recordings/hooks.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { agentHomes } from "../src/testing/kit/agent-homes.ts";
import { modelServer, type ToolCallAnswer } from "../src/testing/kit/model-server.ts";
import { installed, plainEnv, started } from "./support/peer-cli.ts";

const repository = resolve(import.meta.dirname, "..");

type Trial = { folder: string; workspace: string; home: string; env: Record<string, string> };

type HostRow = {
  package: string;
  program: string;
  call(command: string): ToolCallAnswer;
  /** What to run, and what must be set up for it. */
  command(trial: Trial, url: string): { args: string[]; env: Record<string, string> };
  /** What the model reads when no hook is in the way; Codex has an objection of its own. */
  unguarded(text: string): boolean;
};

const hosts: Record<string, HostRow> = {
  claude: {
    package: "@anthropic-ai/claude-code",
    program: "claude",
    call: (command) => ({ name: "Bash", args: { command, description: "tidy up" } }),
    command: (_trial, url) => ({
      args: ["-p", "--dangerously-skip-permissions", "go"],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "on-loopback",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        // It refuses to skip permissions as root outside of a container.
        IS_SANDBOX: "1",
      },
    }),
    unguarded: (text) => !text.includes("is blocked"),
  },
  codex: {
    package: "@openai/codex",
    program: "codex",
    call: (command) => ({ name: "exec_command", args: { cmd: command } }),
    command({ home, workspace }, url) {
      mkdirSync(join(home, ".codex"), { recursive: true });
      const provider = `name = "loopback"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"`;
      writeFileSync(
        join(home, ".codex/config.toml"),
        `model = "gpt-5"\nmodel_provider = "loopback"\n[model_providers.loopback]\n${provider}\n[projects."${workspace}"]\ntrust_level = "trusted"\n`,
      );
      return {
        args: [
          "exec",
          "--dangerously-bypass-approvals-and-sandbox",
          "--dangerously-bypass-hook-trust",
          "--skip-git-repo-check",
          "go",
        ],
        env: { LOOPBACK_KEY: "on-loopback" },
      };
    },
    unguarded: (text) => text.includes("rm -f style commands are not permitted"),
  },
  gemini: {
    package: "@google/gemini-cli",
    program: "gemini",
    call: (command) => ({ name: "run_shell_command", args: { command, description: "tidy up" } }),
    command: ({ home, workspace }, url) => ({
      args: ["--approval-mode", "yolo", "-p", "go"],
      env: agentHomes.gemini({ home, workspace, url }).env,
    }),
    unguarded: (text) => !text.includes("is blocked"),
  },
};

export async function main(argv: readonly string[]): Promise<number> {
  const value = (name: string) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  const only = value("--only");
  const kept = value("--into");
  const packages = kept === undefined ? mkdtempSync(join(tmpdir(), "courser-hosts-")) : resolve(kept);
  let failed = 0;
  try {
    for (const [name, host] of Object.entries(hosts)) {
      if (only !== undefined && only !== name) continue;
      const program = await installed(host.package, host.program, packages);
      for (const guarded of [true, false]) {
        const problem = await tryHost(name, host, { program, guarded, record: guarded && argv.includes("--record") });
        console.log(
          `${problem === undefined ? "✓" : "✗"} ${name}: ${guarded ? "the hook blocks rm -rf" : "without it, nothing of ours is in the way"}${problem === undefined ? "" : `: ${problem}`}`,
        );
        if (problem !== undefined) failed++;
      }
    }
  } finally {
    if (kept === undefined) rmSync(packages, { recursive: true, force: true });
  }
  return failed === 0 ? 0 : 1;
}

/** What went wrong, if anything did. */
async function tryHost(
  name: string,
  host: HostRow,
  { program, guarded, record }: { program: string; guarded: boolean; record: boolean },
): Promise<string | undefined> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-host-")));
  const trial: Trial = { folder, workspace: join(folder, "work"), home: join(folder, "home"), env: {} };
  const bin = join(folder, "bin");
  for (const path of [join(trial.workspace, "victim"), trial.home, bin]) mkdirSync(path, { recursive: true });
  for (const own of ["courser", "courser-hook"]) symlinkSync(join(repository, `dist/${own}.cjs`), join(bin, own));
  trial.env = { ...plainEnv(), HOME: trial.home, PATH: [bin, process.env["PATH"]].join(delimiter) };
  const answers: unknown[] = [];
  let asked = 0;
  const server = await modelServer((request) => {
    const { tools, messages, input, contents } = (request.json ?? {}) as Record<string, unknown[]>;
    if (!tools?.length) return { text: "ok" };
    const last = (messages ?? input ?? contents)?.at(-1);
    if (last !== undefined) answers.push(last);
    return (
      [{ toolCalls: [host.call("echo hello")] }, { toolCalls: [host.call("rm -rf victim")] }][asked++] ?? {
        text: "done",
      }
    );
  });
  try {
    if (guarded) {
      const courser = (...args: string[]) =>
        started(join(bin, "courser"), ["hooks", ...args], { cwd: trial.workspace, env: trial.env });
      await courser("init", "guard");
      await courser("install", ".hooks/guard.ts", "--hosts", name);
      if (record) addRecorder(trial, name);
    }
    const { args, env } = host.command(trial, server.url);
    const { exit, output } = await started(
      program,
      args,
      { cwd: trial.workspace, env: { ...trial.env, ...env } },
      120_000,
    );
    if (record) keepRecordings(trial, name);
    const last = JSON.stringify(answers.at(-1) ?? "");
    if (exit !== 0) return `it ended with ${exit}: ${output.slice(-500)}`;
    if (guarded && !last.includes("rm -rf is blocked")) return `the model was not told why: ${last.slice(0, 500)}`;
    if (guarded && !existsSync(join(trial.workspace, "victim"))) return "the folder is gone";
    if (!guarded && !host.unguarded(last)) return `something else was in the way: ${last.slice(0, 500)}`;
    if (!guarded && name === "claude" && existsSync(join(trial.workspace, "victim")))
      return "the folder is still there";
    return undefined;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The script keeps what it is given, before it looks at it. */
function addRecorder({ workspace, folder }: Trial, name: string): void {
  const script = join(workspace, ".hooks/guard.ts");
  const recorder = join(workspace, ".hooks/record.sh");
  const file = join(folder, "payload-$(date +%s%N).json");
  writeFileSync(recorder, `#!/bin/sh\ntee "${file}" | "${script}" --host ${name}\n`);
  chmodSync(recorder, 0o755);
  const config = join(workspace, `.${name}`, name === "codex" ? "hooks.json" : "settings.json");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll("/.hooks/guard.ts", "/.hooks/record.sh"));
}

/** One for each event, the second call apart; names of this machine and ids of this run taken out. */
function keepRecordings({ folder, workspace, home }: Trial, name: string): void {
  const target = join(repository, "test/recordings/hooks", name);
  mkdirSync(target, { recursive: true });
  const ids: string[] = [];
  for (const file of readdirSync(folder)
    .filter((each) => each.startsWith("payload-"))
    .sort()) {
    const text = readFileSync(join(folder, file), "utf8")
      .replaceAll(workspace, "/home/dev/project")
      .replaceAll(home, "/home/dev")
      .replaceAll(workspace.replaceAll("/", "-"), "-home-dev-project")
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
        if (!ids.includes(id)) ids.push(id);
        return `00000000-0000-4000-8000-${String(ids.indexOf(id) + 1).padStart(12, "0")}`;
      })
      .replaceAll(/session-[\dT-]+-[0-9a-f]{8}(?=\.jsonl)/g, "session-2026-01-01T00-00-00000000")
      .replaceAll(/"timestamp":\s*"[^"]*"/g, '"timestamp": "2026-01-01T00:00:00.000Z"')
      .replaceAll(/\d{4}\/\d\d\/\d\d\/rollout-[\dT-]+?-(?=0{8})/g, "2026/01/01/rollout-2026-01-01T00-00-00-");
    const payload = JSON.parse(text) as { hook_event_name: string };
    const suffix = text.includes("rm -rf") && /^(PreToolUse|BeforeTool)$/.test(payload.hook_event_name) ? "-rm-rf" : "";
    writeFileSync(join(target, `${payload.hook_event_name}${suffix}.json`), `${JSON.stringify(payload, null, 2)}\n`);
  }
}
