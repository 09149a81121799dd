// Where a program is.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** Absolute, since it may be run in another directory: a path from here, a name as the system would find it. */
export function findProgram(
  program: string,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isWindows = platform === "win32";
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";")] : [""];
  if (/[/\\]/.test(program)) return endings.map((ending) => resolve(program + ending)).find(isFile);
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(isWindows ? ";" : delimiter).filter((path) => path !== "");
  // npm puts a script without an ending beside the `.cmd`, which Windows cannot start.
  const tried = isWindows ? endings.slice(1) : endings;
  return folders
    .flatMap((folder) => tried.map((ending) => resolve(folder, program + ending)))
    .find(isWindows ? isFile : isProgram);
}

/** A file that this user may run. */
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
