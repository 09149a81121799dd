// `update`: updates the running copy with the package manager that installed it. Never runs unless the user asks.
import { runProgram } from "../../process/run-program.ts";
import { type ProcessEnding, Supervisor } from "../../process/supervisor.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";
import { installationOf, type Manager, packageName, packageVersion, runningFile } from "./installation.ts";

/** The time limit for looking up the newest version, in milliseconds. */
const askLimitMs = 30_000;

export async function update({ name, version, env }: Invocation): Promise<number> {
  const installation = installationOf(runningFile());
  const { packageRoot } = installation;
  switch (installation.type) {
    case "checkout":
      return answer(
        `Version ${version} runs from a git checkout, which is yours to update:\n\n  cd ${packageRoot} && git pull && npm ci\n`,
      );
    case "archive":
      return answer(
        `Version ${version} runs from the source in ${packageRoot}. Put the newer source there, then:\n\n  cd ${packageRoot} && npm ci\n`,
      );
    case "cache":
      return answer(
        `Version ${version} runs from the cache of ${installation.tool}. To run the newest:\n\n  ${installation.run}\n`,
      );
    case "unknown":
      throw new UserError(
        "UPDATE_FAILED",
        `${packageRoot} was not installed by a known package manager, so it was not changed. From a clone, type: npm ci && npm install --global .`,
      );
    case "package":
  }
  const { manager, scope, source } = installation;
  const installed = packageVersion(packageRoot) ?? version;
  const where = scope === "global" ? `globally by ${manager.name}` : `by ${manager.name} in ${manager.directory}`;
  if (source !== undefined)
    return answer(
      `${packageName} ${installed}, installed ${where}, is from ${source}. ${updateAdvice(manager, source)}\n`,
    );
  const newest = await newestVersion(manager, env, name);
  if (newest === installed) return answer(`${packageName} ${installed}, installed ${where}, is the newest version.\n`);
  // Refuse a downgrade: a compromised registry could bring back a version with known holes.
  if (isOlder(newest, installed))
    return answer(
      `${packageName} ${installed}, installed ${where}, is newer than ${newest}, the newest that ${manager.name} finds, and was left as it is.\n`,
    );

  // Install exactly the version that was compared, even if the registry publishes a newer one in the meantime.
  const command = manager.update.map((word) => word.replace(/@latest$/, `@${newest}`));
  const updateCode = await answer(
    `${packageName} ${installed}, installed ${where}: updating to ${newest}\n$ ${command.join(" ")}\n`,
  );
  await install(manager, command, env);
  return updateCode;
}

/** Compares the three numbers only and ignores any suffix. */
function isOlder(one: string, other: string): boolean {
  const numbers = (version: string) => version.split(/[-+]/, 1)[0]!.split(".").map(Number);
  const [mine, theirs] = [numbers(one), numbers(other)];
  const at = mine.findIndex((number, index) => number !== theirs[index]);
  return at !== -1 && mine[at]! < theirs[at]!;
}

/** Explains how to update: a repository can be fetched again; a file or folder must be replaced by a newer one. */
function updateAdvice({ directory, add }: Manager, source: string): string {
  const isRepository = /^(git|github:|gitlab:|bitbucket:)|\.git(#|$)|^[\w.-]+\/[\w.-]+(#|$)/.test(source);
  const from = isRepository ? source.replace(/#[0-9a-f]{40}$/, "") : source;
  const before = isRepository ? "To update" : "When a newer one is there";
  return `${before}:\n\n  cd ${directory} && ${[...add, from].join(" ")}`;
}

/** Looks up the version first, so that without a network the output is one line and not a failed installation. */
async function newestVersion(manager: Manager, env: NodeJS.ProcessEnv, name: string): Promise<string> {
  const end = await runProgram({
    ...inOurSession(manager, env),
    command: shellWords(manager.latest),
    timeoutMs: askLimitMs,
  });
  const retry = `To try again: ${name} update`;
  if (end.timedOut) throw updateFailed(manager, `no answer within ${askLimitMs / 1000} s`, retry);
  if (end.failure?.code === "CLI_NOT_FOUND") {
    throw updateFailed(manager, "it is not in PATH", `Put it there, then type: ${name} update`);
  }
  if (/\bE?404\b/.test(end.stderr)) {
    const command = [...manager.add, "FILE_OR_URL"].join(" ");
    throw updateFailed(
      manager,
      "the registry does not have it, so this copy came from a tarball or from git",
      `From there: ${command}`,
    );
  }
  if (end.exitCode !== 0) throw updateFailed(manager, complaintIn(end.stderr) ?? causeOf(end), retry);
  const newest = /\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?/.exec(end.stdout.toString("utf8"))?.[0];
  if (newest === undefined) throw updateFailed(manager, "the answer contains no version", retry);
  return newest;
}

/** Runs the update on this terminal: the package manager shows its progress and may ask for a password. */
async function install(manager: Manager, command: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const request = { ...inOurSession(manager, env), command: shellWords(command), inheritStreams: true };
  const end = await new Supervisor(request).ended;
  if (end.exitCode !== 0) throw updateFailed(manager, causeOf(end), `To try again: ${command.join(" ")}`);
}

/** Runs the package manager in this terminal session, so that it receives Ctrl-C too. */
function inOurSession({ directory }: Manager, env: NodeJS.ProcessEnv) {
  return { cwd: directory, env, plain: true, leftovers: "ignore" } as const;
}

/** Returns the command for Windows, where package managers are .cmd files that only a shell can start. */
function shellWords(words: readonly string[]): readonly string[] {
  return process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c", ...words] : words;
}

function causeOf({ exitCode, signal, failure }: Pick<ProcessEnding, "exitCode" | "signal" | "failure">): string {
  if (failure) return failure.message;
  return `it ended with ${signal || `exit code ${exitCode}`}`;
}

function complaintIn(stderr: string): string | undefined {
  const lines = stderr.split("\n").map((line) =>
    line
      .replace(/^npm (error|ERR!)\s*/, "")
      .replace(/^(code|errno|syscall) .*/, "")
      .trim(),
  );
  return lines.find((line) => line !== "");
}

function updateFailed(manager: Manager, cause: string, next: string): UserError {
  const what = `${manager.name} could not update ${packageName}: ${cause.replace(/\.$/, "")}. ${next}`;
  return new UserError("UPDATE_FAILED", what);
}
