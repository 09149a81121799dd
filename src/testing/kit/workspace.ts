// A test workspace with a home and a configuration of its own: nothing of this machine's user reaches the run.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fingerprints } from "./changes.ts";
import type { ModelServer } from "./model-server.ts";
import { type CliOptions, type CliRun, runCli } from "./run-cli.ts";
import { temporaryFolder } from "./temporary.ts";

/** Text and bytes are written as they are, anything else as JSON. */
type Content = string | Uint8Array | object;

/** The options of `workspace`. */
export type WorkspaceOptions = {
  /** Files of the configuration folder, such as `cli-config.json`, `courser.json`, `mcp.json`, `hooks.json`. */
  config?: Record<string, Content>;
  /** Serves the models `anthropic/…`, `openai/…`, `google/…` and `chat/…`. */
  server?: Pick<ModelServer, "env" | "settings">;
  /** Additional environment variables for runs in this workspace. */
  env?: Record<string, string>;
};

/** A temporary workspace. */
export interface Workspace extends Disposable {
  /** The real path of the workspace folder. */
  readonly path: string;
  readonly home: string;
  readonly config: string;
  /** All environment variables of runs in this workspace. */
  readonly env: Record<string, string>;
  /** Writes a file and returns its path. */
  write(name: string, content: Content): string;
  read(name: string): string;
  /** Relative paths of all files, sorted; without `.git` and `node_modules`. */
  files(): string[];
  /** Runs one prompt in print mode, in a trusted workspace, and reads the events. `args` are more flags, such as `--force`. */
  run(prompt: string, options?: CliOptions & { args?: readonly string[] }): Promise<CliRun>;
  /** Runs the CLI with these arguments. */
  cli(args: readonly string[], options?: CliOptions): Promise<CliRun>;
  remove(): void;
}

/** Creates a temporary workspace with these files, and a home folder for its runs. */
export function workspace(files: Record<string, Content> = {}, options: WorkspaceOptions = {}): Workspace {
  const base = temporaryFolder("courser-test-");
  const [path, home] = [join(base.path, "work"), join(base.path, "home")];
  const config = join(home, ".cursor");
  for (const folder of [path, config]) mkdirSync(folder, { recursive: true });
  const env = { ...ownEnvironment(home), ...options.server?.env, ...options.env };
  const created: Workspace = {
    path,
    home,
    config,
    env,
    write: (name, content) => writeInto(path, name, content),
    read: (name) => readFileSync(resolve(path, name), "utf8"),
    files: () => [...fingerprints(path).keys()].sort(),
    run: (prompt, { args = [], ...rest } = {}) =>
      created.cli(["-p", "--trust", "--output-format", "stream-json", ...args, "--", prompt], rest),
    cli: (args, { env: more, ...rest } = {}) => runCli(args, { cwd: path, ...rest, env: { ...env, ...more } }),
    remove: base.remove,
    [Symbol.dispose]: base.remove,
  };
  for (const [name, content] of Object.entries(files)) created.write(name, content);
  const configured = { ...(options.server && { "courser.json": options.server.settings }), ...options.config };
  for (const [name, content] of Object.entries(configured)) writeInto(config, name, content);
  return created;
}

/** The variables that programs need to start at all, without any key. */
function ownEnvironment(home: string): Record<string, string> {
  const passed = ["PATH", "SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "TMPDIR"];
  const kept = passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]!]]));
  return { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home, LANG: "C.UTF-8" };
}

function writeInto(folder: string, name: string, content: Content): string {
  const file = resolve(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  const isRaw = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(file, isRaw ? content : `${JSON.stringify(content, null, 2)}\n`);
  return file;
}
