// The workspace that the cases of the group `sandbox` speak of, with everything a command might try to reach.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";

import { dirname, join } from "node:path";
import { temporaryWithoutBlanks } from "../support/temporary.ts";

export type SandboxFixture = {
  base: string;
  workspace: string;
  home: string;
  configDir: string;
  remove(): void;
};

export function makeSandboxFixture(): SandboxFixture {
  const base = realpathSync(mkdtempSync(join(temporaryWithoutBlanks(), "courser-box-")));
  chmodSync(base, 0o755);
  const [workspace, home] = [join(base, "ws"), join(base, "home")];
  const configDir = join(home, ".cursor");
  for (const folder of [join(workspace, "src"), join(workspace, ".cursor"), home, configDir])
    mkdirSync(folder, { recursive: true });
  const numbers = Array.from({ length: 5000 }, (_, index) => index + 1).join("\n");
  write(workspace, { "README.md": "hello\n", "src/app.ts": "" });
  git(workspace, "init", "-q");
  git(workspace, "add", "-A");
  git(workspace, "commit", "-qm", "one");
  write(workspace, { "victim.txt": "", ".env": "KEY=1\n", "list.txt": `${numbers}\n` });
  writeFileSync(join(base, "outside.txt"), "");
  return { base, workspace, home, configDir, remove: () => rmSync(base, { recursive: true, force: true }) };
}

/** As somebody, whoever runs the tests, and without their settings. */
export function git(folder: string, ...args: string[]): string {
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_NOSYSTEM: "1", ...who };
  return execFileSync("git", ["-c", "init.defaultBranch=main", ...args], { cwd: folder, env, encoding: "utf8" });
}

export function write(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Counts who comes. */
export interface Listener {
  readonly connections: number;
  port: number;
  close(): Promise<void>;
}

/** A path, an abstract name that begins with NUL, or a port of this machine. */
export async function listen(where: string | "port"): Promise<Listener> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    if (where === "port") server.listen(0, "127.0.0.1", resolve);
    else server.listen(where, resolve);
  });
  const address = server.address();
  return {
    get connections() {
      return connections;
    },
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

let missing: { why: string | undefined } | undefined;

/** Why no sandbox can be had on this machine, asked of bubblewrap itself and not of the code under test. */
export function sandboxMissing(): string | undefined {
  if (!missing) {
    const trial = ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"];
    if (process.platform !== "linux") missing = { why: "bubblewrap is for Linux" };
    else if (!existsSync("/usr/bin/bwrap")) missing = { why: "no bubblewrap here" };
    else {
      const { status, stderr } = spawnSync("/usr/bin/bwrap", trial, { encoding: "utf8" });
      missing = { why: status === 0 ? undefined : `bubblewrap does not work here: ${stderr.trim()}` };
    }
  }
  return missing.why;
}
