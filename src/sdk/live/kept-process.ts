// KeptProcess: one process of a CLI that takes the prompts of a live session one after the other, over its stdin.
import { settlesWithin } from "../../process/clock.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { onAbort } from "../../protocol/on-abort.ts";
import { failedTurn } from "../../protocol/prompts.ts";
import type { TurnEnding } from "../../protocol/run.ts";
import type { OpenConnection } from "../callbacks/connection.ts";
import { RunningCli } from "../child.ts";
import type { AgentDriver, DriverRequest, LiveProtocol } from "../drivers/driver.ts";
import { explainedFailure } from "../drivers/failures.ts";
import type { FoundCli } from "../find-cli.ts";
import { judge } from "../outcome.ts";
import { createNamer } from "../run-event.ts";
import { connectionOf, defaultGraceMs, defaultIdleMs, driverRequest, type StartOptions } from "../start-options.ts";
import type { LiveEnd } from "./session.ts";

export type KeptParts = {
  driver: AgentDriver;
  live: LiveProtocol;
  cli: FoundCli;
  /** The options of the turn for which the process is started. */
  options: StartOptions;
  /** Shows an event, also one of a turn that the agent began by itself. */
  show(event: AgentEvent): void;
  /** Resolves when the readers have read everything that was published. */
  ready(): Promise<void> | undefined;
};

export class KeptProcess {
  readonly ended: Promise<LiveEnd>;
  readonly #parts: KeptParts;
  readonly #child: RunningCli;
  readonly #graceMs: number;
  readonly #startedAt = Date.now();
  #prompts = 0;
  #turn: { prompt: string; finish(ending: TurnEnding): void } | undefined;

  static async start(parts: KeptParts): Promise<KeptProcess> {
    const { options, driver } = parts;
    return new KeptProcess(parts, await connectionOf(options, driver, options.signal ?? new AbortController().signal));
  }

  private constructor(parts: KeptParts, opened: OpenConnection | undefined) {
    const { driver, live, cli, options } = parts;
    const { idleMs = defaultIdleMs, graceMs = defaultGraceMs, extraArgs = [], onNoise = "fail" } = options;
    const request = driverRequest({ ...options, images: [] }, undefined, false);
    if (opened) request.connection = opened.connection;
    const launch = driver.command(request, cli);
    const [command, ...first] = cli.words;
    const args = [...first, ...launch.args, ...live.args, ...extraArgs];
    // The last line of a turn is not the last one of the process: only its exit is the end.
    const types = new Map([...driver.frames].map(([type, { isTerminal: _end, ...frame }]) => [type, frame]));
    this.#parts = parts;
    this.#graceMs = graceMs;
    this.#child = new RunningCli({
      command: command!,
      program: driver.programs[0]!,
      args,
      cwd: request.cwd,
      env: { ...options.env, ...launch.env },
      turn: live.prompt({ text: options.prompt, images: options.images ?? [] }),
      ...(Number.isFinite(idleMs) && { idleMs }),
      isWaiting: () => !this.#turn || opened?.isBusy === true,
      graceMs,
      parser: { onNoise, types },
      ...(options.onStdout && { onStdout: options.onStdout }),
      ...(options.onStderr && { onStderr: options.onStderr }),
    });
    if (this.#child.pid !== 0) options.onStart?.({ pid: this.#child.pid, command: [command!, ...args] });
    this.ended = this.#follow(request).finally(() => opened?.close());
  }

  /** Resolves with the ending of the turn, which is not shown. The first prompt has already been sent. */
  turn(prompt: string, images: readonly string[], signal: AbortSignal): Promise<TurnEnding> {
    const { live } = this.#parts;
    const ending = new Promise<TurnEnding>((finish) => {
      this.#turn = { prompt, finish };
    });
    if (this.#prompts++ > 0) this.#child.write(live.prompt({ text: prompt, images }));
    const interrupt = async () => {
      this.#child.write(live.interrupt());
      if (!(await settlesWithin(ending, this.#graceMs))) this.#child.stop();
    };
    return ending.finally(onAbort(signal, interrupt));
  }

  /** Waits for the process to exit by itself, and stops it if it does not. */
  async close(): Promise<void> {
    this.#child.endInput();
    if (!(await settlesWithin(this.#child.ended, this.#graceMs))) this.#child.stop();
    await this.ended;
  }

  async #follow(request: DriverRequest): Promise<LiveEnd> {
    const { driver, show, ready } = this.#parts;
    const named = createNamer({ tool: driver.tool, isOurs: false });
    let decode: ReturnType<AgentDriver["decoder"]> | undefined;
    let retried: string | undefined;
    for await (const batch of this.#child.batches) {
      for (const { kind, value } of batch) {
        // Replies to control lines are not part of the conversation.
        if (kind === "other") continue;
        decode ??= driver.decoder({ ...request, prompt: this.#turn?.prompt ?? "" });
        for (const event of decode(value)) {
          if (event.type === "retry") retried = event.reason;
          if (event.type !== "done" && event.type !== "fail") show(named(event));
          else {
            decode = undefined;
            this.#finish(event.type === "fail" ? { ...event, ...explainedFailure(event, "", driver.failures) } : event);
          }
        }
        await ready();
      }
    }
    const end = await this.#child.ended;
    const { exitCode, signal, stderr, stages } = end;
    const error = this.#turn && judge(end, undefined, driver, retried);
    this.#finish(failedTurn(error ?? { message: "The process ended.", code: "NO_RESULT" }, this.#startedAt));
    return { exitCode, signal, stderr, stages, ...(error && { error }) };
  }

  #finish(ending: TurnEnding): void {
    this.#turn?.finish(ending);
    this.#turn = undefined;
  }
}
