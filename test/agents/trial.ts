// One trial of a real CLI: a workspace, a home and a model of its own, and what the SDK made of a run in it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type RunEvent, type RunResult, type StartOptions, start } from "../../src/sdk/index.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import {
  type ModelAnswer,
  type ModelServer,
  modelServer,
  type RecordedRequest,
} from "../../src/testing/kit/model-server.ts";
import { plainEnv } from "../support/peer-cli.ts";
import type { Peer, Place } from "./peers.ts";

export type PeerCli = { tool: Exclude<UnifiedTool, "cursor">; peer: Peer; program: string; node22: string | undefined };

export type Ran = { result: RunResult<unknown>; events: RunEvent[]; requests: RecordedRequest[]; stdout: string };

export const usage = { input: 100, output: 10, cacheRead: 40, cacheWrite: 0 };

export class Trial implements AsyncDisposable {
  readonly place: Place;
  readonly env: Record<string, string | undefined>;
  readonly cli: PeerCli;
  readonly #folder: string;
  readonly #server: ModelServer;
  #answers: readonly ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer) = [];
  #asked = 0;

  static async begin(cli: PeerCli): Promise<Trial> {
    const made: { trial?: Trial } = {};
    const server = await modelServer((request) => made.trial!.#answer(request));
    made.trial = new Trial(cli, server);
    return made.trial;
  }

  constructor(cli: PeerCli, server: ModelServer) {
    this.cli = cli;
    this.#server = server;
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-trial-")));
    this.place = { workspace: join(this.#folder, "work"), home: join(this.#folder, "home"), url: server.url };
    for (const path of [this.place.workspace, this.place.home]) mkdirSync(path);
    const foreign = Object.keys(process.env).filter((name) => !(name in plainEnv()));
    const path =
      cli.node22 === undefined ? process.env["PATH"]! : `${dirname(cli.node22)}${delimiter}${process.env["PATH"]}`;
    this.env = {
      ...Object.fromEntries(foreign.map((name) => [name, undefined])),
      ...cli.peer.env(this.place),
      PATH: path,
      HOME: this.place.home,
      NO_COLOR: "1",
    };
  }

  /** What the model says from now on, one answer after the other; the last one stays. */
  says(answers: readonly ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer)): void {
    this.#answers = answers;
    this.#asked = 0;
  }

  /** How often the model was asked to go on. */
  get asked(): number {
    return this.#server.requests.filter(isTurn).length;
  }

  /** The body of the last request of the conversation. */
  get lastRequest(): string {
    return this.#server.requests.findLast(isTurn)?.body.toString("utf8") ?? "";
  }

  file(name: string): string {
    return join(this.place.workspace, name);
  }

  options(more: Partial<StartOptions> = {}): StartOptions {
    return {
      prompt: "go",
      tool: this.cli.tool,
      executable: this.cli.program,
      cwd: this.place.workspace,
      model: this.cli.peer.model,
      permissionMode: "force",
      env: this.env,
      timeoutMs: 120_000,
      ...more,
    };
  }

  async run(more: Partial<StartOptions<any>> = {}): Promise<Ran> {
    const before = this.#server.requests.length;
    let stdout = "";
    const run = start<any>({
      ...this.options(more),
      onStdout: (chunk: Buffer) => {
        stdout += chunk;
      },
    });
    const events: RunEvent[] = [];
    for await (const event of run.events) events.push(event);
    const result = await run.result;
    return { result, events, requests: this.#server.requests.slice(before).filter(isTurn), stdout };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #answer(request: RecordedRequest): ModelAnswer {
    const answers = this.#answers;
    // Side questions (a title, a warm-up) have no tools.
    if (!isTurn(request)) return typeof answers === "function" ? answers(request) : { text: "ok" };
    if (typeof answers === "function") return answers(request);
    return { usage, ...(answers[this.#asked++] ?? answers.at(-1)!) };
  }
}

export function isTurn({ json }: RecordedRequest): boolean {
  return Array.isArray(json?.tools) && json.tools.length > 0;
}
