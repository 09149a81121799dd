// `record -- claude …` and `replay FILE -- claude …`: start the real program with a local server in place of its vendor.
import { rmSync } from "node:fs";
import { constants } from "node:os";
import { basename } from "node:path";
import { findProgram } from "../../process/find-program.ts";
import { Supervisor } from "../../process/supervisor.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { createRedactor } from "../../redact/redact.ts";
import { askCli } from "../../sdk/ask-cli.ts";
import { drivers } from "../../sdk/drivers/index.ts";
import { findCli } from "../../sdk/find-cli.ts";
import type { BuiltInTool } from "../../sdk/unified.ts";
import { redacted } from "../describe.ts";
import { placesOf } from "../normalise.ts";
import { type Exchanges, exchangesVersion } from "./exchange-file.ts";
import { placeholderKey, pointedClis } from "./pointed-cli.ts";
import { type Middleman, startRecorder } from "./recorder.ts";
import { startReplayer } from "./replayer.ts";

export type CliCommand = {
  /** The program to run, with its arguments. */
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  version: string;
  secrets: readonly string[];
};

type FoundProgram = { tool: BuiltInTool; words: readonly string[]; args: readonly string[] };

/** Returns which agent CLI a command runs, recognised by the name of its program. */
export async function programOf({ command, env }: Pick<CliCommand, "command" | "env">): Promise<FoundProgram> {
  const [program = "", ...args] = command;
  const name = basename(program).replace(/\.(?:exe|cmd|[cm]?js)$/, "");
  const tools = Object.keys(drivers) as BuiltInTool[];
  const tool = tools.find((each) => drivers[each].programs.includes(name) || each === name);
  if (tool === undefined)
    throw usageError(
      `'${name}' is no agent CLI that can be recorded. These can: ${[...Object.keys(pointedClis), "courser"].join(", ")}.`,
    );
  const path = findProgram(program, env);
  const cli = path === undefined ? undefined : await findCli(drivers[tool], { executable: path, env });
  if (!cli) throw new UserError("CLI_NOT_FOUND", `${program} was not found. Install it, or give its path.`);
  if (tool === "cursor" && !cli.isOurs)
    throw usageError(`${program} asks a service of its vendor that cannot be recorded.`);
  return { tool, words: cli.words, args };
}

/** Runs an agent CLI and records its exchanges. Returns the exit code of the program. */
export async function recordCli(file: string, cliCommand: CliCommand): Promise<number> {
  const { tool, words, args } = await programOf(cliCommand);
  const { env, cwd, version, secrets } = cliCommand;
  if (tool === "cursor") return await startAndWait([...words, "--record", file, ...args], { cwd, env });
  const agentVersion = await versionOf(words, env);
  const recorder = await startRecorder({
    file,
    env,
    secrets,
    header: {
      exchanges: exchangesVersion,
      version,
      recordedAt: new Date().toISOString(),
      agent: tool,
      ...(agentVersion !== undefined && { agentVersion }),
      command: redacted(cliCommand.command, createRedactor({ values: secrets }).redact),
      places: placesOf({ workspace: cwd }, env),
    },
  });
  return await startPointed({ tool, words, args, isReplay: false, server: recorder }, cliCommand);
}

export type CliReplay = CliCommand & { onMismatch: "stop" | "continue"; speed?: number };

/** Runs a CLI against recorded answers. `differences` lists where its requests differ from the recorded ones. */
export async function replayCli(
  exchanges: Exchanges,
  given: CliReplay,
): Promise<{ exitCode: number; differences: readonly string[] }> {
  const { tool, words, args } = await programOf(given);
  const { header, file } = exchanges;
  if (tool !== header.agent)
    throw usageError(`The recording ${file} is one of ${header.agent}. Replay it with: -- ${header.agent} …`);
  const { env, cwd, onMismatch, speed, secrets } = given;
  const now = { tool, places: placesOf({ workspace: cwd }, env), at: new Date(), version: await versionOf(words, env) };
  const { redact } = createRedactor({ values: [...secrets, placeholderKey] });
  const replayer = await startReplayer(exchanges, { now, redact, onMismatch, ...(speed !== undefined && { speed }) });
  const exitCode = await startPointed({ tool, words, args, isReplay: true, server: replayer }, given);
  return { exitCode, differences: replayer.differences() };
}

type Pointed = FoundProgram & { tool: keyof typeof pointedClis | "cursor"; isReplay: boolean; server: Middleman };

async function startPointed(
  { tool, words, args, isReplay, server }: Pointed,
  { cwd, env }: CliCommand,
): Promise<number> {
  const { home } = placesOf({ workspace: cwd }, env);
  let folders: readonly string[] = [];
  try {
    const { standIn } = server;
    const pointed = pointedClis[tool as keyof typeof pointedClis]({ env, home, cwd, args, standIn, isReplay });
    folders = pointed.folders ?? [];
    // Exclude this machine from the user's proxy, so that requests to the recorder reach it.
    const direct = { NO_PROXY: [env["NO_PROXY"], "127.0.0.1"].filter(Boolean).join(",") };
    return await startAndWait([...words, ...(pointed.words ?? []), ...args], {
      cwd,
      env: { ...env, ...direct, ...pointed.env },
    });
  } finally {
    await server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the program on this terminal. An interrupt typed there reaches it directly; a signal to this process alone is forwarded. */
export async function startAndWait(
  command: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  const child = new Supervisor({ command, cwd, env, inheritStreams: true, plain: true, leftovers: "ignore" });
  const interrupt = () => {
    if (!process.stdin.isTTY) child.signal("SIGINT");
  };
  const end = () => child.stop("cancelled");
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", end);
  process.on("SIGHUP", end);
  const { exitCode, signal, failure } = await child.ended;
  process.off("SIGINT", interrupt);
  process.off("SIGTERM", end);
  process.off("SIGHUP", end);
  if (failure) throw new UserError(failure.code ?? "CLI_NOT_FOUND", failure.message);
  return exitCode ?? 128 + (constants.signals[(signal || "SIGKILL") as NodeJS.Signals] ?? 9);
}

async function versionOf(words: readonly string[], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { output, isWhole } = await askCli({ words, args: ["--version"], env });
  return isWhole ? /\d+\.\d+[\w.+-]*/.exec(output)?.[0] : undefined;
}
