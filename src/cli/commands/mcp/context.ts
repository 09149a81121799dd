// What the MCP commands share: the servers configured here, and a way to start those that may be started.
import { type McpOptions, type McpServers, startServers } from "../../../agent/mcp/servers.ts";
import { createProcessRunner } from "../../../agent/process.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import { quotedName, shownStart } from "../../../run/mcp.ts";
import { type McpPlan, type McpSetup, type PlannedServer, planMcp, unknownServer } from "../../../run/mcp-plan.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import type { McpServer } from "../../../store/mcp-servers.ts";
import { loadPlugins } from "../../../store/plugins/installed.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { serverFlags } from "../../run-request.ts";
import { writeStderr } from "../../stdout.ts";

export type McpContext = McpSetup & { plan: McpPlan; version: string; program: string };

/** Collects what the `mcp` commands need; `say` receives warnings. */
export function contextOf(invocation: Invocation, say = warn): McpContext {
  const { env, line } = invocation;
  const workspace = realDirectory(flagText(line.flags, "workspace") ?? ".", "--workspace");
  const config = configDir(env);
  const { plugins, warnings } = loadPlugins(config);
  warnings.forEach(say);
  const setup = { env, workspace, configDir: config, home: homeDir(env), plugins, ...serverFlags(line.flags) };
  const plan = planMcp(setup);
  plan.warnings.forEach(say);
  return { ...setup, plan, version: invocation.version, program: invocation.name };
}

/** Returns the server that counts under this name: the first that may be started, else the first. Names may contain blanks. */
export function serverNamed({ plan }: McpContext, words: readonly string[]) {
  const name = words.join(" ");
  const all = plan.servers.filter(({ server }) => server.name === name);
  const found = all.find(({ standing }) => standing === "pending") ?? all[0];
  if (found) return found;
  throw unknownServer(name, [...new Set(plan.servers.map(({ server }) => server.name))]);
}

/** Throws for a server of the project that the user has not approved. */
export function requireApproval({ server, standing }: PlannedServer, program: string): void {
  if (standing !== "needs-approval") return;
  throw new UserError(
    "UNTRUSTED",
    `The MCP server ${server.name} is not approved. It would ${shownStart(server)} Approve it: ${program} mcp enable ${quotedName(server.name)}`,
  );
}

/** How many milliseconds to wait for MCP servers to start. It is short because a user is waiting. */
const startMs = 15_000;

export async function withServers<Result>(
  context: McpContext,
  servers: readonly McpServer[],
  work: (started: McpServers) => Promise<Result> | Result,
): Promise<Result> {
  const processes = createProcessRunner({ env: context.env });
  const stop = () => process.exit(130);
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
  const options: McpOptions = {
    ...context,
    processes,
    requests: { roots: [context.workspace], refused: warn },
    limits: { startMs },
    warn,
  };
  const started = startServers(servers, options);
  try {
    await started.ready();
    return await work(started);
  } finally {
    await started.end();
    await processes.endAll();
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}

export function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}
