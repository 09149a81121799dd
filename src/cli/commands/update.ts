// Updates the copy that runs, by the package manager that installed it. Only when asked: nothing here runs by itself.
import { UserError } from "../../protocol/error-codes.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";
import { installationOf, type Manager, packageName, packageVersion, runningFile } from "./installation.ts";

/** Most time for the question which version is the newest. */
const askLimitMs = 30_000;

export async function update({ version, env }: Invocation): Promise<number> {
  const installation = installationOf(runningFile());
  const { packageRoot } = installation;
  switch (installation.type) {
    case "checkout":
      return answer(
        `Version ${version} runs from a git checkout, which is yours to update:\n\n  cd ${packageRoot} && git pull && npm ci\n`,
      );
    case "cache":
      return answer(
        `Version ${version} runs from the cache of ${installation.tool}. To run the newest:\n\n  ${installation.run}\n`,
      );
    case "unknown":
      throw new UserError(
        "UPDATE_FAILED",
        `${packageRoot} was not put there by a package manager that is known here, so it is left as it is. To install the newest: npm install --global ${packageName}@latest`,
      );
    case "package":
  }
  const { manager, scope } = installation;
  const installed = packageVersion(packageRoot) ?? version;
  const newest = await newestVersion(manager, env);
  const where = scope === "global" ? `globally by ${manager.name}` : `by ${manager.name} in ${manager.directory}`;
  if (newest === installed) return answer(`${packageName} ${installed}, installed ${where}, is the newest version.\n`);

  const said = await answer(
    `${packageName} ${installed}, installed ${where}: updating to ${newest}\n$ ${manager.update.join(" ")}\n`,
  );
  await install(manager, env);
  return said;
}

/** Asked first and quietly: without a network the answer is one line and not the pages that a failed installation prints. */
async function newestVersion(manager: Manager, env: NodeJS.ProcessEnv): Promise<string> {
  const { execFile } = await import("node:child_process");
  const [program, ...args] = manager.latest;
  const options = { cwd: manager.directory, env, timeout: askLimitMs, shell: needsShell };
  const output = await new Promise<string>((resolve, reject) => {
    execFile(program!, args, options, (error, stdout, stderr) => {
      if (error) reject(updateFailed(manager, causeOf(error, stderr)));
      else resolve(stdout);
    });
  });
  const newest = /\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?/.exec(output)?.[0];
  if (newest === undefined) throw updateFailed(manager, "the answer holds no version");
  return newest;
}

async function install(manager: Manager, env: NodeJS.ProcessEnv): Promise<void> {
  const { spawn } = await import("node:child_process");
  const [program, ...args] = manager.update;
  // The one child of this program that gets its terminal: the package manager shows its progress and may ask for a password.
  const child = spawn(program!, args, { cwd: manager.directory, env, stdio: "inherit", shell: needsShell });
  const ended = await new Promise<string | undefined>((resolve) => {
    child.on("error", (error) => resolve(causeOf(error, "")));
    child.on("close", (code, signal) =>
      resolve(code === 0 ? undefined : `it ended with ${signal ?? `exit code ${code}`}`),
    );
  });
  if (ended !== undefined) throw updateFailed(manager, ended);
}

/** On Windows the package managers are .cmd files, which only a shell starts. */
const needsShell = process.platform === "win32";

function causeOf(error: Error & { code?: unknown; killed?: boolean }, stderr: string): string {
  if (error.code === "ENOENT") return "it is not in PATH";
  if (error.killed) return `no answer within ${askLimitMs / 1000} s`;
  const lines = stderr.split("\n").map((line) =>
    line
      .replace(/^npm (error|ERR!)\s*/, "")
      .replace(/^(code|errno|syscall) .*/, "")
      .trim(),
  );
  return lines.find((line) => line !== "") ?? error.message.split("\n")[0]!;
}

function updateFailed(manager: Manager, cause: string): UserError {
  return new UserError(
    "UPDATE_FAILED",
    `${manager.name} could not update ${packageName}: ${cause.replace(/\.$/, "")}. To try again: ${manager.update.join(" ")}`,
  );
}
