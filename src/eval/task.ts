// Reads a task in Harbor's format (task.toml, instruction.md, tests/test.sh and an optional solution/solve.sh) into plain data.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import { fieldsOf, isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { programName } from "../text/program-name.ts";
import { type Environment, invalidTaskError, readEnvironment } from "./environment.ts";
import { refuseLinksOut } from "./folders.ts";

/** The time limit and the variables of a phase. `${NAME}` in them is expanded from this process's environment. */
export type Phase = { timeoutMs: number; env: Readonly<Record<string, string>> };

export type TaskServer = { command: string; args?: string[]; env?: Record<string, string> } | { url: string };

/** A task as plain data, which can be sent to other machines. Paths are absolute. */
export type Task = {
  name: string;
  folder: string;
  instruction: string;
  environment: Environment;
  setup: Phase;
  agent: Phase;
  verifier: Phase;
  solution: Phase;
  mcpServers: Readonly<Record<string, TaskServer>>;
  /** The mode that the agent works in. */
  mode?: "plan" | "ask";
  /** The expected verdict for an agent that does nothing: `pass` if nothing has to be done. */
  noop: "pass" | "fail";
  /** The files of recorded runs, by name. */
  recordings: Readonly<Record<string, string>>;
  /** The replies for the model `script`. */
  script?: string;
};

/** Finds the tasks at these paths, each of which is a task or a folder of tasks. */
export function findTasks(paths: readonly string[]): Task[] {
  const folders = paths.flatMap((path) => taskFolders(resolve(path)));
  const tasks = [...new Set(folders)].map(readTask);
  const twice = tasks.find(({ name }, index) => tasks.findIndex((each) => each.name === name) !== index);
  if (twice)
    throw invalidTaskError(twice.folder, `there is another task named ${twice.name}. Rename one of the two folders`);
  return tasks;
}

function taskFolders(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError("TASK_INVALID", `${path} is not a directory. Name a task, or a directory of tasks.`);
  if (existsSync(join(path, "task.toml"))) return [path];
  const below = readdirSync(path)
    .sort()
    .map((name) => join(path, name))
    .filter((folder) => existsSync(join(folder, "task.toml")));
  if (below.length > 0) return below;
  throw new UserError(
    "TASK_INVALID",
    `${path} holds no task: neither it nor a directory in it has a task.toml. The form: ${programName()} help eval`,
  );
}

export function readTask(folder: string): Task {
  refuseLinksOut(folder);
  for (const name of ["instruction.md", "tests/test.sh"])
    if (!existsSync(join(folder, name))) throw invalidTaskError(folder, `${name} is missing`);
  const config = readConfig(folder);
  if (config["steps"] !== undefined)
    throw invalidTaskError(folder, "tasks of several steps ([[steps]]) are not supported");
  const table = (name: string) => (isObject(config[name]) ? config[name] : {});
  const phase = (name: string, key = "timeout_sec") => phaseOf(folder, name, table(name), key);
  const environment = table("environment");
  if (environment["docker_image"] !== undefined)
    throw invalidTaskError(
      folder,
      `its environment is the image ${environment["docker_image"]}, and there are no containers here`,
    );
  const courserTable = isObject(table("metadata")["courser"]) ? table("metadata")["courser"] : {};
  const { mode, noop } = courserTable as Record<string, unknown>;
  if (mode !== undefined && mode !== "plan" && mode !== "ask")
    throw invalidTaskError(folder, 'metadata.courser.mode must be "plan" or "ask"');
  if (noop !== undefined && noop !== "pass" && noop !== "fail")
    throw invalidTaskError(folder, 'metadata.courser.noop must be "pass" or "fail"');
  const script = join(folder, "script.json");
  return {
    name: basename(folder),
    folder,
    instruction: readFileSync(join(folder, "instruction.md"), "utf8").trim(),
    environment: readEnvironment(folder),
    setup: phase("environment", "build_timeout_sec"),
    agent: phase("agent"),
    verifier: phase("verifier"),
    solution: { ...phase("solution"), timeoutMs: phase("agent").timeoutMs },
    mcpServers: serversOf(folder, environment["mcp_servers"]),
    ...(mode !== undefined && { mode }),
    noop: noop ?? "fail",
    recordings: recordingsOf(folder),
    ...(existsSync(script) && { script }),
  };
}

function readConfig(folder: string): Record<string, unknown> {
  const text = readFileSync(join(folder, "task.toml"), "utf8");
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw invalidTaskError(folder, `task.toml, line ${error.line}: ${error.message.split("\n")[0]}`);
  }
}

/** The default time limit of a task, as in Harbor. */
const usualSeconds = 600;

function phaseOf(folder: string, name: string, table: Record<string, unknown>, key: string): Phase {
  const seconds = table[key] ?? usualSeconds;
  if (typeof seconds !== "number" || !(seconds > 0))
    throw invalidTaskError(folder, `${name}.${key} must be a positive number`);
  const env = table["env"] ?? {};
  if (!isObject(env) || Object.values(env).some((value) => typeof value !== "string"))
    throw invalidTaskError(folder, `${name}.env must be a table of strings`);
  return { timeoutMs: seconds * 1000, env: env as Record<string, string> };
}

function serversOf(folder: string, value: unknown): Record<string, TaskServer> {
  if (value === undefined) return {};
  if (!Array.isArray(value)) throw invalidTaskError(folder, "environment.mcp_servers must be a list of tables");
  return Object.fromEntries(
    value.map((server: unknown) => {
      const { name, command, args, env, url } = fieldsOf(server);
      const fault = () =>
        invalidTaskError(folder, "each of environment.mcp_servers needs a name, and a command or a url");
      if (typeof name !== "string") throw fault();
      if (typeof url === "string") return [name, { url }];
      if (typeof command !== "string") throw fault();
      const more = { ...(Array.isArray(args) && { args: args.map(String) }), ...(isObject(env) && { env }) };
      return [name, { command, ...more } as TaskServer];
    }),
  );
}

function recordingsOf(folder: string): Record<string, string> {
  const recordings = join(folder, "recordings");
  const names = existsSync(recordings) ? readdirSync(recordings).filter((name) => name.endsWith(".jsonl")) : [];
  return Object.fromEntries(names.sort().map((name) => [name.replace(/\.jsonl$/, ""), join(recordings, name)]));
}
