// Diagnostics: reports what language servers find in edited files. A server
// starts with the first edit of a file that it supports, and ends with the run.
import { dirname } from "node:path";
import { orAborted } from "../../net/or-aborted.ts";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import { settlesWithin } from "../../process/clock.ts";
import type { ProcessRunner } from "../process.ts";
import type { Sandbox } from "../sandbox/index.ts";
import { DiskChanges } from "./disk-changes.ts";
import { type FileEdit, LanguageServer, patienceMs } from "./language-server.ts";
import { errorLines, type FileErrors } from "./new-errors.ts";
import { serverFor } from "./server-table.ts";

export interface Diagnostics {
  /** Returns the errors that this edit caused, as text; empty if there are none, or none are known in time. */
  afterEdit(edit: FileEdit, signal: AbortSignal): Promise<string>;
  /** Returns errors found since. `waitMs` is how long to wait for checks that still run. */
  takeLate(agent: string, waitMs?: number): Promise<string>;
  end(): Promise<void>;
}

export type DiagnosticsOptions = {
  workspace: string;
  env: NodeJS.ProcessEnv;
  processes: ProcessRunner;
  /** The sandbox that language servers run in, if one works on this machine. */
  sandbox: Sandbox;
  warn(message: string): void;
};

/** Limit for the projects in a workspace, since each server takes much memory. */
const maxServers = 4;

export function createDiagnostics({ workspace, env, processes, sandbox, warn }: DiagnosticsOptions): Diagnostics {
  const servers = new Map<string, LanguageServer>();
  /** Paths of edited files whose errors are not known yet. */
  const waiting: string[] = [];
  let hasEnded = false;

  const serverForFile = async (path: string): Promise<LanguageServer | undefined> => {
    if (!isInside(path, workspace)) return undefined;
    const isConfined = (await sandbox.problem()) === undefined;
    const found = serverFor(path, { workspace, env, isConfined });
    if (!found || hasEnded) return undefined;
    const { row, program, root } = found;
    const key = `${program}\0${root}`;
    const existing = servers.get(key);
    if (existing || servers.size === maxServers) return existing;
    const server = new LanguageServer({
      ...found,
      isConfined,
      disk: new DiskChanges(root, Object.keys(row.languages), processes),
      start: (onOutput) =>
        processes.start({
          command: [program, ...row.arguments],
          cwd: root,
          input: { open: true },
          keepBytes: 16_384,
          graceMs: 300,
          onOutput,
          ...(isConfined && { sandbox, readable: packagesOf(program) }),
        }),
      failed: (problem) =>
        warn(
          `${row.name} does not check edits: ${problem.replace(/\.+$/, "")}. To do without it, set "diagnostics" to false.`,
        ),
    });
    servers.set(key, server);
    return server;
  };

  const describeErrors = (files: readonly FileErrors[], { name }: LanguageServer): string[] => {
    const filesToShow = files.map((file) => ({ ...file, path: shownPath(file.path, workspace) }));
    return filesToShow.length === 0 ? [] : [errorLines(filesToShow, name)];
  };

  return {
    async afterEdit(edit, signal) {
      const { path, agent } = edit;
      const checking = serverForFile(path).then(async (server) => {
        // Do not wait for a language server that is already slower than an edit waits.
        const isBehind = server?.isBehind === true;
        const done = server?.check(edit);
        if (!isBehind) await done;
        return isBehind ? undefined : server;
      });
      waiting.push(path);
      const isInTime = await settlesWithin(orAborted(checking, signal), patienceMs).catch(() => false);
      waiting.splice(waiting.indexOf(path), 1);
      if (!isInTime) return "";
      const server = await checking;
      return server ? describeErrors(server.takeErrors(agent, waiting), server).join("\n") : "";
    },
    async takeLate(agent, waitMs = 0) {
      const all = [...servers.values()];
      if (waitMs > 0) await settlesWithin(Promise.all(all.map(({ working }) => working)), waitMs);
      return all.flatMap((server) => describeErrors(server.takeErrors(agent, waiting), server)).join("\n\n");
    },
    async end() {
      hasEnded = true;
      await Promise.all([...servers.values()].map((server) => server.end()));
      await sandbox.end();
    },
  };
}

/** Returns the folder of the program and the packages it was installed with. */
function packagesOf(program: string): string[] {
  const real = realOrSame(program);
  const [above] = /^.*\/node_modules(?=\/)/.exec(real) ?? [dirname(real)];
  return [...new Set([dirname(program), above])];
}
