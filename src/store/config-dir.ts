// Resolves the directory for configuration and state.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Returns CURSOR_CONFIG_DIR, else $XDG_CONFIG_HOME/cursor, else ~/.cursor. An empty variable counts as unset. */
export function configDir(env: NodeJS.ProcessEnv): string {
  if (env["CURSOR_CONFIG_DIR"]) return resolve(env["CURSOR_CONFIG_DIR"]);
  if (env["XDG_CONFIG_HOME"]) return resolve(env["XDG_CONFIG_HOME"], "cursor");
  return join(homeDir(env), ".cursor");
}

export function homeDir(env: NodeJS.ProcessEnv): string {
  return resolve(env["HOME"] || env["USERPROFILE"] || homedir());
}
