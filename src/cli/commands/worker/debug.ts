// `worker debug`: shows which runs a worker started here would take, and what it lacks. Exits 0 iff it could execute a run.
import { mkdirSync, statfsSync } from "node:fs";
import { vendors } from "../../../model/catalog.ts";
import { probeNats } from "../../../net/probe-nats.ts";
import { readAddress } from "../../../serve/engines/nats/address.ts";
import { readKeys } from "../../../store/auth.ts";
import type { Invocation } from "../../main.ts";
import { type Check, checks as doctorChecks } from "../doctor/checks.ts";
import { type Finding, printFindings } from "../doctor/index.ts";
import { fleetUrl, withFleet } from "../runs/context.ts";
import { type WorkerSettings, workerSettings } from "./settings.ts";

/** The free disk space that a worker needs at least; a workspace may not fit into less. */
const leastFree = 1024 ** 3;

export function debugWorker(invocation: Invocation): Promise<number> {
  const settings = workerSettings(invocation);
  const { name, pool = "default", labels, dataDir } = settings;
  const { version, tools, sandbox, agents, store } = doctorChecks;
  const checks: Record<string, Check> = {
    worker: () => [ok([`${name}: pool ${pool}`, ...Object.entries(labels).map((pair) => pair.join("="))].join(", "))],
    version: version!,
    fleet: () => checkFleet(invocation),
    keys: ({ configDir, invocation: { env } }) => [checkKeys(configDir, env)],
    sandbox: sandbox!,
    tools: async (context) => (await tools!(context)).map(gitIsNeeded),
    agents: agents!,
    store: store!,
    disk: () => [checkDisk(settings)],
  };
  return printFindings(invocation, checks, {
    isJson: invocation.line.flags.has("json"),
    details: { name, pool, labels, dataDir },
  });
}

const ok = (message: string): Finding => ({ level: "ok", message });

/** Checks the connection hop by hop, and then connects as a worker would. */
async function checkFleet(invocation: Invocation): Promise<Finding[]> {
  const url = fleetUrl(invocation);
  const found: Finding[] = [];
  const servers = url === undefined ? [] : readAddress(url, invocation.env).servers;
  for (const server of servers) {
    const { hops } = await probeNats(`nats://${server.replace(/^\w+:\/\//, "")}`);
    for (const { hop, ok, detail } of hops)
      found.push({ level: ok ? "ok" : "problem", message: `${hop}: ${detail}`, ...(ok ? {} : { next: advice[hop] }) });
  }
  if (found.some(({ level }) => level === "problem")) return found;
  try {
    const { count, hosted } = await withFleet(invocation, (fleet) => fleet.waiting());
    const where = url === undefined ? "the runs of this machine" : "the fleet";
    return [...found, ok(`${where}: ${count} waiting, ${hosted} running`)];
  } catch (error) {
    return [...found, { level: "problem", message: (error as Error).message }];
  }
}

const advice = {
  name: "check the address: --fleet, COURSER_FLEET",
  tcp: "is the server running? nats-server -js",
  server: "a NATS server with JetStream is needed: nats-server -js",
} as const;

/** Lists the model keys of this machine, by name only. */
function checkKeys(configDir: string, env: NodeJS.ProcessEnv): Finding {
  const variables = new Set(["CURSOR_API_KEY", ...vendors.flatMap(({ keyVariables }) => keyVariables)]);
  const found = [
    ...[...variables].filter((name) => (env[name] ?? "") !== ""),
    ...Object.keys(readKeys(configDir)).map((vendor) => `${vendor} (saved by login)`),
  ];
  if (found.length > 0) return ok(found.join(", "));
  return {
    level: "warning",
    message: "No model key is set: runs must name a model that needs none.",
    next: "set the vendor's variable, such as OPENAI_API_KEY, for the worker",
  };
}

/** Makes missing git a problem, since most workspaces come from git and changes are found with it. */
function gitIsNeeded(finding: Finding): Finding {
  if (!finding.message.startsWith("git was not found")) return finding;
  return { ...finding, level: "problem", message: "git was not found: workspaces cannot be made." };
}

function checkDisk({ dataDir }: WorkerSettings): Finding {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = statfsSync(dataDir);
    const message = `${dataDir} has ${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB left`;
    return bavail * bsize < leastFree ? { level: "warning", message: `${message}.`, next: "make room" } : ok(message);
  } catch (error) {
    return {
      level: "problem",
      message: `${dataDir} cannot be written: ${(error as Error).message}`,
      next: "--data-dir <path>",
    };
  }
}
