// Finds the path of a program.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/**
 * Returns an absolute path, since the program may run in another directory. Paths are resolved from the current directory, names in PATH.
 */
export function findProgram(
  program: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isWindows = platform === "win32";
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";")] : [""];
  if (/[/\\]/.test(program)) return endings.map((ending) => resolve(program + ending)).find(isFile);
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(isWindows ? ";" : delimiter).filter((path) => path !== "");
  // Skip names without an extension: npm puts a script beside the `.cmd` file, which Windows cannot start.
  const tried = isWindows ? endings.slice(1) : endings;
  return folders
    .flatMap((folder) => tried.map((ending) => resolve(folder, program + ending)))
    .find(isWindows ? isFile : isProgram);
}

/** Reports whether the path is a file that this user may execute. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
