// Tracks commands running in the background: counts them and reports how each one ended.
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { BackgroundCommand } from "../protocol/run.ts";
import { oneLine } from "../text/one-line.ts";
import type { Desk } from "./desk.ts";

/** Interval for polling running commands. No timer runs while there are none. */
const everyMs = 1000;

export class BackgroundCommands {
  readonly #desk: Pick<Desk, "conversation" | "say" | "redraw">;
  #running: readonly BackgroundCommand[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(desk: Pick<Desk, "conversation" | "say" | "redraw">) {
    this.#desk = desk;
  }

  get running(): readonly BackgroundCommand[] {
    return this.#running;
  }

  /** A finished shell call whose result has a task id continues in the background. */
  event(event: AgentEvent): void {
    if (event.type !== "tool_end" || event.tool !== "shell") return;
    const value = event.outcome?.value;
    if (isObject(value) && typeof value.taskId === "string") void this.look();
  }

  async look(): Promise<void> {
    const listed = (await this.#desk.conversation.run?.backgroundCommands?.()) ?? [];
    const before = this.#running;
    this.#running = listed.filter(({ status }) => status === "running");
    for (const { taskId } of before) {
      const now = listed.find((each) => each.taskId === taskId);
      if (now && now.status !== "running") this.#desk.say(describeEnd(now));
    }
    if (before.length !== this.#running.length) this.#desk.redraw();
    clearTimeout(this.#timer);
    if (this.#running.length > 0) this.#timer = setTimeout(() => void this.look(), everyMs).unref();
  }

  /** Reports the commands that stop with the session. An attached run continues elsewhere, and so do its commands. */
  end(): void {
    if (!this.#desk.conversation.attachment)
      for (const { command } of this.#running) this.#desk.say(`Stopped with this session: ${command}`);
    this.stop();
  }

  /** Forgets the commands when another run is opened, which has its own. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#running = [];
  }
}

function describeEnd({ taskId, command, status, exitCode }: BackgroundCommand): string {
  const how =
    status === "killed" ? "was stopped" : exitCode === null ? "was ended by a signal" : `ended: exit ${exitCode}`;
  return `In the background, ${oneLine(command, 60)} (${taskId}) ${how}. /tasks shows its output.`;
}
