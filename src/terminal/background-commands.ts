// Commands that go on in the background: how many there are, and what became of each when it has ended.
import { isObject } from "../json/object.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { BackgroundCommand } from "../protocol/run.ts";
import { oneLine } from "../text/one-line.ts";

type Listeners = {
  list(): Promise<readonly BackgroundCommand[] | undefined>;
  say(text: string): void;
  changed(): void;
};

/** How often those that run are looked at; without any, no timer runs. */
const everyMs = 1000;

export class BackgroundCommands {
  readonly #listeners: Listeners;
  #running: readonly BackgroundCommand[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  get running(): readonly BackgroundCommand[] {
    return this.#running;
  }

  /** A command that goes on by itself has the id of a task. */
  event(event: AgentEvent): void {
    if (event.type !== "tool_end" || event.tool !== "shell") return;
    const value = event.outcome?.value;
    if (isObject(value) && typeof value.taskId === "string") void this.look();
  }

  async look(): Promise<void> {
    const listed = (await this.#listeners.list()) ?? [];
    const before = this.#running;
    this.#running = listed.filter(({ status }) => status === "running");
    for (const { taskId } of before) {
      const now = listed.find((each) => each.taskId === taskId);
      if (now && now.status !== "running") this.#listeners.say(endOf(now));
    }
    if (before.length !== this.#running.length) this.#listeners.changed();
    clearTimeout(this.#timer);
    if (this.#running.length > 0) this.#timer = setTimeout(() => void this.look(), everyMs).unref();
  }

  /** Another run has commands of its own. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#running = [];
  }
}

function endOf({ taskId, command, status, exitCode }: BackgroundCommand): string {
  const how =
    status === "killed" ? "was stopped" : exitCode === null ? "was ended by a signal" : `ended: exit ${exitCode}`;
  return `In the background, ${oneLine(command, 60)} (${taskId}) ${how}. /tasks shows its output.`;
}
