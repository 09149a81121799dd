// Gets the user's attention: the window title shows the state of the session; a bell or a notification says that it waits or has ended.
import type { Tty } from "./tty.ts";

export type Attending = "idle" | "working" | "asking" | "done";

const words: Readonly<Record<Attending, string>> = {
  idle: "",
  working: " · working",
  asking: " · waits for you",
  done: " · done",
};

/** After a turn of more than this many milliseconds, the user is assumed to be looking elsewhere. */
const longTurnMs = 10_000;

/** Matches terminals that support desktop notifications. Others ring the bell. */
const showsNotifications = /^(iTerm\.app|WezTerm|ghostty)$/;

export type AttentionOptions = {
  tty: Pick<Tty, "setTitle">;
  write(text: string): void;
  env: NodeJS.ProcessEnv;
  program: string;
  /** Whether the `notifications` setting is on. */
  notifies: boolean;
  hasTitle(): boolean;
};

export class Attention {
  readonly #options: AttentionOptions;
  #title = "";
  #state: Attending = "idle";
  #name = "";

  constructor(options: AttentionOptions) {
    this.#options = options;
  }

  /** Shows the state in the terminal's title, after the `name` of the task. The title is written only when it changes. */
  show(state: Attending, name = this.#name): void {
    this.#state = state;
    this.#name = name;
    const { tty, program, hasTitle } = this.#options;
    const title = `${program} · ${name}${hasTitle() ? words[state] : ""}`;
    if (title === this.#title || name === "") return;
    this.#title = title;
    tty.setTitle(title);
  }

  /** Writes the title again after another program had the terminal. */
  renew(): void {
    this.#title = "";
    this.show(this.#state);
  }

  /** Call this when the user has returned to the terminal. */
  seen(): void {
    if (this.#state === "done") this.show("idle");
  }

  asked(): void {
    this.show("asking");
    this.#ring("a question waits for you");
  }

  ended(durationMs: number): void {
    this.show("done");
    if (durationMs > longTurnMs) this.#ring("the turn has ended");
  }

  #ring(message: string): void {
    const { notifies, env, program, write } = this.#options;
    if (!notifies) return;
    const isShown = env["KITTY_WINDOW_ID"] !== undefined || showsNotifications.test(env["TERM_PROGRAM"] ?? "");
    write(isShown && !env["TMUX"] ? `\x1b]9;${program}: ${message}\x07` : "\x07");
  }
}
