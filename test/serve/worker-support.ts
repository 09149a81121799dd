// Workers as processes, a fleet that they share, and a model whose next step follows from what it was told.
import { type ChildProcess, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import type { Entry, Fleet, LogEntry, RunRecord, RunSpec } from "../../src/serve/fleet.ts";
import { isOver } from "../../src/serve/fleet.ts";
import { newRun } from "../../src/serve/new-run.ts";
import {
  type ModelAnswer,
  type ModelServer,
  modelServer,
  type RecordedRequest,
} from "../../src/testing/kit/model-server.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { until } from "./service-support.ts";

export type TestWorker = { child: ChildProcess; ended: Promise<number | null>; said(): string };

export class TestFleet {
  readonly workspace: Workspace = createWorkspace();
  readonly #children: ChildProcess[] = [];
  readonly #url: string | undefined;
  readonly fleet: Fleet;
  model!: ModelServer;

  /** `url`: with what opens it here. Without, this machine's own. */
  constructor(url?: string, fleet?: Fleet) {
    this.#url = url;
    this.fleet = fleet ?? openSqliteFleet(join(this.workspace.config, "runs/runs.db"));
  }

  async answer(next: (request: RecordedRequest) => ModelAnswer): Promise<void> {
    this.model = await modelServer(next);
    this.workspace.file(`${this.workspace.config}/courser.json`, JSON.stringify(this.model.settings));
  }

  /** Each on a machine of its own, where the fleet is not this machine's. */
  start(args: readonly string[] = [], env: Record<string, string> = {}): TestWorker {
    const home =
      this.#url === undefined ? this.workspace.home : join(this.workspace.home, `machine-${this.#children.length}`);
    const config = join(home, ".cursor");
    mkdirSync(config, { recursive: true });
    if (this.model) writeFileSync(join(config, "courser.json"), JSON.stringify(this.model.settings));
    const fleet = this.#url === undefined ? [] : ["--fleet", this.#url];
    const child = spawnOwned(process.execPath, [cli, "worker", "start", ...fleet, ...args], {
      cwd: this.workspace.path,
      env: { ...this.workspace.env, HOME: home, OPENAI_API_KEY: "sk-test-of-the-worker", ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#children.push(child);
    let text = "";
    child.stderr!.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    return { child, ended, said: () => text };
  }

  spec(given: Partial<RunSpec>, request: Partial<RunSpec["request"]> = {}): RunSpec {
    return {
      cli: "courser",
      prompt: { text: "take all steps" },
      ...given,
      request: { workspace: this.workspace.path, model: "chat/m", force: true, sandbox: "disabled", ...request },
    };
  }

  async enqueue(spec: RunSpec): Promise<string> {
    return (await this.fleet.enqueue(newRun(spec))).id;
  }

  async log(run: string): Promise<LogEntry[]> {
    return this.fleet.entries(run, 0, 5000);
  }

  async entry<Type extends Entry["type"]>(
    run: string,
    type: Type,
  ): Promise<Extract<Entry, { type: Type }> | undefined> {
    const found = (await this.log(run)).findLast(({ entry }) => entry.type === type);
    return found?.entry as Extract<Entry, { type: Type }> | undefined;
  }

  async over(run: string, limitMs = 30_000): Promise<RunRecord> {
    let found: RunRecord | undefined;
    const isSo = async () => {
      found = await this.fleet.run(run);
      return found !== undefined && isOver(found.state);
    };
    await until(isSo, `${run} to be over`, limitMs);
    return found!;
  }

  async object(run: string, name: string): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await this.fleet.get(run, name))!) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  /** A repository with one commit. */
  repository(files: Record<string, string>, name = "repository"): string {
    const path = join(this.workspace.home, name);
    for (const [file, content] of Object.entries(files)) this.workspace.file(join(path, file), content);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: path, encoding: "utf8" });
    git("init", "--quiet", "--initial-branch=main");
    git("add", ".");
    git("commit", "--quiet", "-m", "first");
    return path;
  }

  async remove(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await gone;
    }
    await this.model?.stop();
    this.fleet.close();
    this.workspace.remove();
  }
}

export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
}

/** How many results of tools the model was told, and everything that it was told. */
export function toldTo({ json }: RecordedRequest): { results: number; text: string } {
  const messages = (json?.messages ?? []) as { role: string }[];
  return { results: messages.filter(({ role }) => role === "tool").length, text: JSON.stringify(messages) };
}
