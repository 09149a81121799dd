// The door `-b` for the stop matrix: a run in the process of its host, followed from outside, with the lines that a stream would have.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { spawnOwned } from "../support/at-exit.ts";
import type { Workspace } from "../support/run-cli.ts";

type Line = Record<string, any>;

export type BackgroundRun = {
  id: string;
  /** The process that hosts the run and carries it out. */
  hostPid(): number | undefined;
  /** Asks for a stop as a person does. */
  cancel(): void;
};

/** Starts a run with `-b`, and follows its log into `lines`. The child that comes back ends with the run. */
export function startInBackground(place: Workspace, args: readonly string[], env: NodeJS.ProcessEnv, lines: Line[]) {
  const [cli, ...flags] = args;
  const options = { cwd: place.path, env };
  const id = execFileSync(process.execPath, [cli!, "-b", ...flags], { ...options, encoding: "utf8" }).trim();
  const child = spawnOwned(process.execPath, [cli!, "runs", "logs", id, "--follow", "--format", "json"], {
    ...options,
    stdio: ["pipe", "pipe", "pipe"],
  });
  createInterface({ input: child.stdout! }).on("line", (text) => lines.push(...streamLines(JSON.parse(text)["entry"])));
  const run: BackgroundRun = {
    id,
    hostPid: () =>
      readdirSync("/proc")
        .map(Number)
        .find((pid) => pid > 0 && commandLine(pid).includes(`--lease\0${id}:`)),
    cancel: () => void spawnOwned(process.execPath, [cli!, "runs", "stop", id], { ...options, stdio: "ignore" }),
  };
  return { child, run };
}

function streamLines({ type, event, end, agent = "" }: Line): Line[] {
  if (type === "result") return [{ type: "result", error_code: end.code }];
  if (type !== "event" || !/^tool_(start|end)$/.test(event.type)) return [];
  const { tool, args, outcome } = event;
  const callId = `${agent}${event.callId}`; // a subagent counts its calls by itself
  if (event.type === "tool_start") return [{ type: "tool_call", subtype: "started", call_id: callId }];
  const result = outcome.kind === "success" ? { success: outcome.value } : { [outcome.kind]: outcome.value };
  return [{ type: "tool_call", subtype: "completed", call_id: callId, tool_call: { [tool]: { args, result } } }];
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
