// The checks of `doctor`, in the order in which a run needs what they check.
import { accessSync, constants, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { ripgrepPath } from "../../../agent/ripgrep.ts";
import { runProgram } from "../../../process/run-program.ts";
import { quotedName } from "../../../run/mcp.ts";
import { detectCli } from "../../../sdk/detect.ts";
import { drivers } from "../../../sdk/drivers/index.ts";
import type { UnifiedTool } from "../../../sdk/unified.ts";
import { bytesIn } from "../../../store/chats/disk-use.ts";
import { chatsDir } from "../../../store/chats/layout.ts";
import { loadHooks } from "../../../store/hook-files.ts";
import { loadPlugins } from "../../../store/plugins/installed.ts";
import { openDatabase } from "../../../store/sqlite.ts";
import { byteSize, counted } from "../../../view/numbers.ts";
import { contextOf } from "../mcp/context.ts";
import { type ListedServer, readyWords, tryServers } from "../mcp/list.ts";
import type { DoctorContext } from "./context.ts";
import type { Finding } from "./index.ts";
import { checkModel } from "./model.ts";
import { sandboxState } from "./sandbox-state.ts";

export type Check = (context: DoctorContext) => Finding[] | Promise<Finding[]>;

const ok = (message: string): Finding => ({ level: "ok", message });
const warning = (message: string, next?: string): Finding => ({ level: "warning", message, ...(next && { next }) });
const problem = (message: string, next?: string): Finding => ({ level: "problem", message, ...(next && { next }) });

export const checks: Readonly<Record<string, Check>> = {
  version({ invocation }) {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const isOld = major < 20 || (major === 20 && minor < 19);
    const system = `${process.platform}-${process.arch}`;
    return [
      isOld
        ? problem(`Node ${process.versions.node} is too old: 20.19 or newer is needed.`, "install a newer Node")
        : ok(`courser ${invocation.version}, Node ${process.versions.node}, ${system}`),
    ];
  },
  workspace({ workspace, trusted, invocation }) {
    return [
      trusted
        ? ok(`${workspace} is trusted`)
        : warning(`${workspace} is not trusted: print mode refuses to run here.`, `${invocation.name} trust add`),
    ];
  },
  config({ settings, configDir }) {
    if (settings instanceof Error) return [problem(settings.message, "correct the file")];
    return [ok(configDir), ...settings.warnings.map((message) => warning(message))];
  },
  model: checkModel,
  store: checkStore,
  tools: checkTools,
  search({ settings }) {
    const endpoint = settings instanceof Error ? undefined : settings.courser.embeddings;
    if (endpoint?.url === undefined || endpoint.model === undefined)
      return [ok("code search by words alone (courser.json can name an embedding endpoint)")];
    return [ok(`code search by words, and by meaning with ${endpoint.model} at ${endpoint.url}`)];
  },
  sandbox: checkSandbox,
  hooks({ configDir, workspace, home, trusted, invocation }) {
    const { hooks, waiting, warnings } = loadHooks({ configDir, workspace, home }, { trusted });
    return [
      ok(hooks.length === 0 ? "no hooks" : counted(hooks.length, "hook")),
      ...waiting.map(({ file }) =>
        warning(`${file} is new or has changed: its hooks do not run.`, `review it, then: ${invocation.name} --trust`),
      ),
      ...warnings.map((message) => warning(message)),
    ];
  },
  mcp: checkServers,
  plugins({ configDir }) {
    const { plugins, warnings } = loadPlugins(configDir);
    return [
      ok(plugins.length === 0 ? "none" : plugins.map(({ name }) => name).join(", ")),
      ...warnings.map((message) => warning(message)),
    ];
  },
  terminal({ invocation: { env } }) {
    const term = env["TERM"];
    const isUtf8 = /utf-?8/i.test(env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "");
    return [
      term === undefined || term === "dumb"
        ? ok("a terminal that only prints: the screen is shown as lines")
        : ok(`${term}${env["COLORTERM"] ? `, ${env["COLORTERM"]}` : ""}`),
      ...(isUtf8 ? [] : [warning("The locale is not UTF-8: some characters may look wrong.", "export LANG=C.UTF-8")]),
    ];
  },
  agents: findAgents,
};

function checkStore({ configDir, invocation }: DoctorContext): Finding[] {
  const place = existsSync(configDir) ? configDir : join(configDir, "..");
  try {
    accessSync(place, constants.W_OK);
  } catch {
    return [
      problem(`${place} cannot be written: chats cannot be kept.`, "CURSOR_CONFIG_DIR=<directory>, or --no-persist"),
    ];
  }
  const folder = mkdtempSync(join(place, ".courser-doctor-"));
  try {
    openDatabase(join(folder, "test.db")).close();
  } catch (error) {
    return [
      problem(`SQLite cannot be used in ${place}: ${(error as Error).message}`, `${invocation.name} --no-persist`),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  if (free < 50 * 1024 * 1024) return [warning(`${place} has ${Math.floor(free / 1_048_576)} MB left.`, "make room")];
  const [chats, snapshots] = [chatsDir(configDir), join(configDir, "courser", "snapshots")].map(bytesIn);
  const use = `chats take ${byteSize(chats!)}, snapshots ${byteSize(snapshots!)}`;
  return [ok(`${configDir} can be written, SQLite works; ${use}`)];
}

async function checkTools({ invocation: { env }, workspace }: DoctorContext): Promise<Finding[]> {
  const version = async (command: readonly string[]) => {
    const { exitCode, stdout } = await runProgram({
      command,
      cwd: workspace,
      env,
      timeoutMs: 10_000,
      leftovers: "ignore",
    });
    return exitCode === 0 ? /\d+\.\d+[\w.]*/.exec(stdout.toString("utf8"))?.[0] : undefined;
  };
  const [ripgrep, git, bash] = await Promise.all([
    version([ripgrepPath(), "--version"]),
    version(["git", "--version"]),
    version(["bash", "--version"]),
  ]);
  return [
    ripgrep
      ? ok(`ripgrep ${ripgrep}`)
      : problem("ripgrep cannot be started: searches fail.", "npm install --force courser-agent"),
    bash ? ok(`bash ${bash}`) : problem("bash was not found: commands cannot run.", "install bash"),
    git ? ok(`git ${git}`) : warning("git was not found: worktrees and plugins by address need it.", "install git"),
  ];
}

async function checkSandbox(context: DoctorContext): Promise<Finding[]> {
  const { mode, warnings: sandboxWarnings, fault } = await sandboxState(context);
  const warnings = sandboxWarnings.map((message) => warning(message));
  if (mode === "disabled") return [ok("disabled by the configuration"), ...warnings];
  if (!fault) return [ok("commands run confined"), ...warnings];
  const next = process.platform === "linux" ? "apt install bubblewrap" : `${context.invocation.name} help sandbox`;
  const finding = mode === "enabled" ? problem : warning;
  return [finding(`${fault} Without it, print mode refuses commands that no rule allows.`, next), ...warnings];
}

/** Starts the servers as a run would, because being configured does not mean that they work. */
async function checkServers({ invocation }: DoctorContext): Promise<Finding[]> {
  const warnings: string[] = [];
  const servers = await tryServers(contextOf(invocation, (message) => warnings.push(message)));
  const { name: program } = invocation;
  const broken: Partial<Record<ListedServer["status"], (server: ListedServer) => Finding>> = {
    failed: ({ name, error, source }) =>
      warning(`${name} failed: ${error ?? "it did not answer"}`, `correct it in ${source}, then: ${program} mcp list`),
    "needs-login": ({ name }) => warning(`${name} needs a login`, `${program} mcp login ${quotedName(name)}`),
    "needs-approval": ({ name }) => warning(`${name} is not approved`, `${program} mcp enable ${quotedName(name)}`),
  };
  const usable = servers.filter(({ status }) => broken[status] === undefined);
  const words = usable.map(({ name, status, tools }) => `${name}: ${status === "ready" ? readyWords(tools) : status}`);
  return [
    ...(servers.length === 0 ? [ok("no servers")] : words.length === 0 ? [] : [ok(words.join(", "))]),
    ...servers.flatMap((server) => broken[server.status]?.(server) ?? []),
    ...warnings.map((message) => warning(message)),
  ];
}

async function findAgents({ invocation: { env } }: DoctorContext): Promise<Finding[]> {
  const tools = Object.keys(drivers) as UnifiedTool[];
  const found = await Promise.all(tools.map((tool) => detectCli(tool, { env })));
  const others = found.flatMap((each) =>
    each && !each.isOurs ? [`${each.tool} ${each.version ?? "?"} (${each.path})`] : [],
  );
  return [ok(others.length === 0 ? "no others found" : others.join(", "))];
}
