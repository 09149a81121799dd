// Resolves a server's definition: substitutes variables, reads its envFile, and builds a minimal environment.
import { readFileSync, statSync } from "node:fs";
import { basename, isAbsolute, join, resolve, sep } from "node:path";
import { systemErrorText } from "../text/system-error.ts";
import { tryOr } from "../text/try-or.ts";
import { hashesBehind } from "./files-behind.ts";
import type { McpDefinition, McpServer } from "./mcp-servers.ts";

export type VariableContext = { workspace: string; home: string; env: Readonly<Record<string, string | undefined>> };

/** How to start or reach a server, after variables were substituted. */
export type ResolvedServer =
  | {
      kind: "command";
      command: string[];
      cwd: string;
      env: Record<string, string>;
      /** Environment variables that were read from the server's envFile. */
      fromFile?: Record<string, string>;
    }
  | { kind: "url"; url: URL; headers: Record<string, string>; auth?: McpDefinition["auth"] };

/** Why a definition cannot be resolved: a sentence without its full stop. */
export class VariableProblem extends Error {}

export function resolveServer(server: McpServer, context: VariableContext): ResolvedServer {
  const { definition } = server;
  const fill = (text: string) => substitute(text, context);
  if (definition.url !== undefined) {
    const address = fill(definition.url);
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !/^https?:$/.test(url.protocol))
      throw new VariableProblem(`its "url" is not an http or https address: ${definition.url}`);
    return {
      kind: "url",
      url,
      headers: mapValues(definition.headers, fill),
      ...(definition.auth && { auth: resolvedAuth(definition.auth, fill) }),
    };
  }
  const cwd = workingFolder(server, context);
  const fromFile = definition.envFile === undefined ? {} : variablesIn(resolve(cwd, fill(definition.envFile)));
  return {
    kind: "command",
    command: [resolveProgram(fill(definition.command!), cwd), ...(definition.args ?? []).map(fill)],
    cwd,
    env: { ...smallEnvironment(context.env), ...fromFile, ...mapValues(definition.env, fill) },
    ...(definition.envFile !== undefined && { fromFile }),
  };
}

/**
 * Hashes the files that decide what a definition does, which an agent may be able to edit. An argument may be a script that names
 * files (`bash -c '. ./run.sh'`), a variable may name what a program loads.
 */
export function serverHashes(server: McpServer, context: VariableContext): Record<string, string> {
  const { definition, folder } = server;
  const { command, args = [], envFile, env = {} } = definition;
  const words = [command, ...args, envFile, ...Object.values(env)].flatMap((word) => {
    return tryOr(() => (word === undefined ? [] : [substitute(word, context)]), []);
  });
  // The server's working folder cannot be resolved, so the server does not start.
  return tryOr(
    () => hashesBehind(words, { cwd: workingFolder(server, context), roots: [context.workspace, folder] }),
    {},
  );
}

function workingFolder({ definition: { cwd }, folder }: McpServer, context: VariableContext): string {
  return cwd === undefined ? folder : resolve(folder, substitute(cwd, context));
}

/** Resolves a server's program: a path is relative to its working folder; a bare name is looked up in PATH. */
function resolveProgram(command: string, cwd: string): string {
  return /[\\/]/.test(command) && !isAbsolute(command) ? join(cwd, command) : command;
}

function resolvedAuth(auth: NonNullable<McpDefinition["auth"]>, fill: (text: string) => string) {
  const { CLIENT_ID, CLIENT_SECRET, scopes } = auth;
  return {
    CLIENT_ID: fill(CLIENT_ID),
    ...(CLIENT_SECRET !== undefined && { CLIENT_SECRET: fill(CLIENT_SECRET) }),
    ...(scopes && { scopes: scopes.map(fill) }),
  };
}

/** Substitutes in one pass: variables inside values are not expanded. */
function substitute(text: string, { workspace, home, env }: VariableContext): string {
  const fixed: Record<string, string> = {
    userHome: home,
    workspaceFolder: workspace,
    workspaceFolderBasename: basename(workspace),
    pathSeparator: sep,
    "/": sep,
  };
  return text.replace(
    /\$\{(?:(env):)?([^}:]+)(?::-([^}]*))?\}/g,
    (whole, isEnv: string | undefined, name: string, otherwise: string | undefined) => {
      if (!isEnv && Object.hasOwn(fixed, name)) return fixed[name]!;
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return whole;
      const value = env[name] ?? otherwise;
      if (value === undefined) throw new VariableProblem(`the variable ${name}, which it names, is not set`);
      return value;
    },
  );
}

function mapValues(values: Readonly<Record<string, string>> | undefined, fill: (text: string) => string) {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, fill(value)]));
}

/** Variables that every server receives, so that it finds its files and language. None of them can be a secret. */
const small = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR)$/;
const smallOnWindows =
  /^(PATH|PATHEXT|HOMEDRIVE|HOMEPATH|USERNAME|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMFILES|PROGRAMDATA|SYSTEMDRIVE|SYSTEMROOT|COMSPEC|TEMP|TMP)$/i;

function smallEnvironment(env: VariableContext["env"]): Record<string, string> {
  const wanted = process.platform === "win32" ? smallOnWindows : small;
  return Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined && wanted.test(pair[0])),
  );
}

const largestEnvFile = 64 * 1024;

function variablesIn(file: string): Record<string, string> {
  let text: string;
  try {
    const stat = statSync(file);
    if (!stat.isFile() || stat.size > largestEnvFile) throw new Error("it is not a small text file");
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new VariableProblem(`its "envFile" cannot be read: ${systemErrorText(error)}`);
  }
  const found: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) found[name] = unquoteValue(value!);
  }
  return found;
}

function unquoteValue(value: string): string {
  const [, quote, inside] = /^(["'])(.*)\1(?:\s+#.*)?$/s.exec(value) ?? [];
  if (quote === undefined) return value.replace(/\s+#.*$/, "");
  return quote === '"' ? inside!.replace(/\\([nrt"\\])/g, (_, letter: string) => escapes[letter]!) : inside!;
}

const escapes: Record<string, string> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\" };
