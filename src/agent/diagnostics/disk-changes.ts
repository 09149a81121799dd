// Finds files that commands or the user changed since the last check. Language servers are notified, since most do not watch files.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ProcessRunner } from "../process.ts";
import { ripgrepPath } from "../ripgrep.ts";

/** The kinds of file changes in the language server protocol: 1 created, 2 changed, 3 deleted. */
export type FileChangeType = 1 | 2 | 3;
const [created, changed, deleted] = [1, 2, 3] as const;

export type FileEvent = { uri: string; type: FileChangeType };

/** The maximum number of files to check. In a larger project, checking would take longer than it is worth. */
const maxFiles = 20_000;

export class DiskChanges {
  readonly #root: string;
  readonly #command: readonly string[];
  readonly #processes: Pick<ProcessRunner, "run">;
  #times: Map<string, number> | undefined;

  /** `endings` are the file extensions to look at. */
  constructor(root: string, endings: readonly string[], processes: Pick<ProcessRunner, "run">) {
    this.#root = root;
    this.#command = [ripgrepPath(), "--files", "--no-config", "--null", ...endings.flatMap((end) => ["-g", `*${end}`])];
    this.#processes = processes;
  }

  /** Returns the files that changed since the previous call. The first call returns an empty list. */
  async take(): Promise<FileEvent[]> {
    const before = this.#times;
    const times = await this.#look();
    this.#times = times;
    if (!before || !times) return [];
    const events = [...times].flatMap(([path, time]): FileEvent[] => {
      const old = before.get(path);
      return old === time ? [] : [{ uri: this.#uri(path), type: old === undefined ? created : changed }];
    });
    const gone = [...before.keys()].filter((path) => !times.has(path));
    return [...events, ...gone.map((path): FileEvent => ({ uri: this.#uri(path), type: deleted }))];
  }

  #uri(path: string): string {
    return pathToFileURL(join(this.#root, path)).href;
  }

  async #look(): Promise<Map<string, number> | undefined> {
    const { stdout, truncated } = await this.#processes.run({
      command: this.#command,
      cwd: this.#root,
      keepBytes: 4 * 2 ** 20,
      timeoutMs: 2000,
      leftovers: "ignore",
    });
    const paths = stdout.split("\0").filter((path) => path !== "");
    if (truncated || paths.length > maxFiles) return undefined;
    const stat = (path: string) => lstatSync(join(this.#root, path), { throwIfNoEntry: false })?.mtimeMs;
    return new Map(paths.map((path) => [path, stat(path) ?? 0]));
  }
}
