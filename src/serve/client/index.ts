// The package entry `./fleet`: starts runs of a fleet from a program, with the same events and outcomes as `start`.
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { definedFields } from "../../json/object.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import type { Prompt, RunRequest } from "../../protocol/run.ts";
import { configDir } from "../../store/config-dir.ts";
import {
  type CliName,
  type Fleet,
  isLocal,
  type LocalFleet,
  type NewRun,
  type Placement,
  type RunRecord,
  type RunSpec,
  type WorkspaceSource,
} from "../fleet.ts";
import { keepHosts } from "../keep-hosts.ts";
import { type Launch, maxAtOnce, startHosts } from "../launcher.ts";
import { followUp, newRun } from "../new-run.ts";
import { openFleet } from "../open-fleet.ts";
import { modeFields, placementOf } from "../run-fields.ts";
import { fileSender, readSource, type SourceChoice } from "../send-files.ts";
import { requestForFleet } from "../sent-request.ts";
import { type FleetRun, FollowedRun, type FollowOptions, type RunHandle } from "./fleet-run.ts";
import { checkCall } from "./option-checks.ts";

export { UserError } from "../../protocol/error-codes.ts";
export type { Answer, Prompt, Question, RunRequest } from "../../protocol/run.ts";
export {
  type RunDetails,
  RunError,
  type RunFailure,
  type RunOutcome,
  type RunResult,
  type RunSuccess,
} from "../../sdk/outcome.ts";
export type { RunEvent } from "../../sdk/run-event.ts";
export type { UnifiedMessage } from "../../sdk/unified.ts";
export type { CliName, Placement, WorkspaceSource } from "../fleet.ts";
export type { FleetRun, FollowOptions } from "./fleet-run.ts";

/** Options of the `fleet` function. */
export type FleetOptions = {
  /** Environment variables with the fleet's credentials and this machine's settings. Default: process.env. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Without an address: the command that runs start with on this machine. Default: this package's own CLI. */
  program?: readonly string[] | undefined;
  /** Without an address: the maximum number of runs at once on this machine. Default: 8. */
  concurrency?: number | undefined;
};

/** Lets programs pass `undefined` for fields that they leave out. */
type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

/** A run to queue: a RunRequest with its prompt, the source of its files, and which workers may take it. */
export type FleetRequest = Optional<Omit<RunRequest, "mode" | "worktree">> &
  Optional<Placement> &
  FollowOptions & {
    /** The task that the agent is given. */
    prompt: string | Prompt;
    /** What the agent may do without asking: `force` allows everything but deny rules and protected paths. */
    mode?: "default" | "force" | "plan" | "ask" | "agent" | undefined;
    /** The agent CLI to run. Default: courser. */
    cli?: CliName | undefined;
    /** A name for the run that is shown in lists. */
    name?: string | undefined;
    /**
     * `upload` (default with an address), `git`, `git:URL#REF`, `folder:PATH`, `none`.
     * `isWhole` also sends files that git ignores and files that look like secrets.
     */
    source?:
      | string
      | Extract<WorkspaceSource, { type: "git" | "folder" }>
      | { type: "upload"; isWhole?: boolean }
      | undefined;
    /** What happens when a worker dies: `interrupt` (default) ends the run, `continue` lets another worker resume it. */
    onWorkerLoss?: "continue" | "interrupt" | undefined;
    /** Called with a line about what was sent and what was left out. */
    onSent?: ((line: string) => void) | undefined;
  };

/** A connection to a fleet. */
export interface FleetClient {
  /** Queues a run and follows it. The first call connects to the fleet. */
  run(request: FleetRequest): FleetRun;
  /** Follows an existing run. After a restart, pass the position that was reached as `from`. */
  follow(id: string, options?: FollowOptions): FleetRun;
  /** Detaches; runs continue. Runs that are not over end here as `cancelled`. */
  close(): Promise<void>;
}

/** Opens a fleet at `url` (`nats://…`), or this machine's own runs without it. */
export function fleet(url?: string, options: FleetOptions = {}): FleetClient {
  if (url !== undefined && typeof url !== "string")
    throw usageError("fleet takes the address of a fleet: fleet('nats://…'). Without one: the runs of this machine.");
  checkCall("fleet", options);
  return new Client(url, options);
}

class Client implements FleetClient {
  readonly #url: string | undefined;
  readonly #launch: Launch;
  readonly #closed = new AbortController();
  readonly #runs = new Set<Promise<unknown>>();
  #opening: Promise<Fleet> | undefined;
  #hosting: { over: Promise<void>; stop(): void } | undefined;

  constructor(url: string | undefined, { env = process.env, program, concurrency }: FleetOptions) {
    this.#url = url === "local" || url === "" ? undefined : url;
    this.#launch = {
      configDir: configDir(env),
      env,
      program: program ?? [process.execPath, fileURLToPath(new URL("../courser.cjs", import.meta.url))],
      most: concurrency ?? maxAtOnce,
      ...(this.#url !== undefined && { fleetUrl: this.#url }),
    };
  }

  run(request: FleetRequest): FleetRun {
    checkCall("run", request);
    const { cli = "courser" } = request;
    return this.#begin(cli, request, async (fleet) => {
      const run = await this.#buildRun(fleet, request);
      return this.#enqueue(fleet, run);
    });
  }

  follow(id: string, options: FollowOptions = {}): FleetRun {
    if (typeof id !== "string" || id === "") throw usageError("follow takes the id of a run: follow('run-…').");
    checkCall("follow", options);
    return this.#begin("courser", options, async (fleet) => {
      const run = await fleet.run(id);
      if (!run) throw new UserError("RUN_NOT_FOUND", `There is no run ${id}.`);
      return run;
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#runs);
    const hosting = this.#hosting;
    hosting?.stop();
    await hosting?.over;
    const fleet = await this.#opening?.catch(() => undefined);
    fleet?.close();
  }

  #begin(cli: CliName, options: FollowOptions, record: (fleet: Fleet) => Promise<RunRecord>): FleetRun {
    const handle: RunHandle = {
      cli,
      open: () => this.#open(),
      record,
      closed: this.#closed.signal,
      next: (before, prompt) =>
        this.#begin(cli, { ...options, from: undefined }, async (fleet) => {
          const run = await before();
          return this.#enqueue(fleet, followUp(run, run.sessionId, prompt));
        }),
    };
    const run = new FollowedRun(handle, options);
    this.#runs.add(run.result);
    void run.result.then(() => {
      this.#runs.delete(run.result);
      if (this.#runs.size === 0) this.#hosting?.stop();
    });
    return run;
  }

  #open(): Promise<Fleet> {
    if (this.#closed.signal.aborted) throw usageError("The fleet was closed.");
    this.#opening ??= openFleet(this.#url, this.#launch);
    this.#opening.catch(() => (this.#opening = undefined)); // after a failure, the next run connects again
    return this.#opening;
  }

  async #enqueue(fleet: Fleet, run: NewRun): Promise<RunRecord> {
    const record = await fleet.enqueue(run);
    await startHosts(fleet, this.#launch, record.id);
    if (isLocal(fleet)) this.#hosting ??= this.#host(fleet);
    return record;
  }

  /** Starts hosts only while this machine's runs are followed, so that a program that is done with them exits even without `close`. */
  #host(fleet: LocalFleet): { over: Promise<void>; stop(): void } {
    const stop = new AbortController();
    const over = keepHosts(fleet, this.#launch, stop.signal).catch(() => {});
    const hosting = {
      over,
      stop: () => {
        stop.abort();
        if (this.#hosting === hosting) this.#hosting = undefined;
      },
    };
    return hosting;
  }

  async #buildRun(fleet: Fleet, request: FleetRequest): Promise<NewRun> {
    const { prompt, mode, cli = "courser", name, source, pool, labels, priority, onWorkerLoss, ...more } = request;
    const { signal, onQuestion: _question, from: _from, onSent, workspace: folder, ...rest } = more;
    const workspace = resolve(folder ?? ".");
    const choice = this.#choice(source);
    const asked = { ...definedFields(rest), ...modeFields(mode), workspace };
    const spec: RunSpec = {
      cli,
      request: this.#url === undefined ? asked : requestForFleet(asked, choice, this.#launch, cli),
      prompt: typeof prompt === "string" ? { text: prompt } : prompt,
      ...placementOf({ pool, labels, priority }),
      ...(onWorkerLoss && { onWorkerLoss }),
    };
    const run = newRun(spec, name === undefined ? {} : { name });
    return fileSender(fleet, { env: this.#launch.env, signal, onSent })(run, choice);
  }

  #choice(source: FleetRequest["source"]): SourceChoice {
    if (typeof source === "string") return readSource(source, "source");
    return source ?? { type: this.#url === undefined ? "none" : "upload" };
  }
}
