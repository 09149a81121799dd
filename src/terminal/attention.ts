// For a person who looks elsewhere: the title of the window says what the session does, a bell or a notification that it
// waits or has ended.
import type { Tty } from "./tty.ts";

export type Attending = "idle" | "working" | "asking" | "done";

const words: Readonly<Record<Attending, string>> = {
  idle: "",
  working: " · working",
  asking: " · waits for you",
  done: " · done",
};

/** Whoever waits longer looks elsewhere. */
const longTurnMs = 10_000;

/** Terminals that show a text of ours outside of their window; the others ring. */
const showsNotifications = /^(iTerm\.app|WezTerm|ghostty)$/;

export type AttentionOptions = {
  tty: Pick<Tty, "setTitle">;
  write(text: string): void;
  env: NodeJS.ProcessEnv;
  program: string;
  /** As the settings have it. */
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

  /** `name`: of what is worked on. Written only when it differs. */
  show(state: Attending, name = this.#name): void {
    this.#state = state;
    this.#name = name;
    const { tty, program, hasTitle } = this.#options;
    const title = `${program} · ${name}${hasTitle() ? words[state] : ""}`;
    if (title === this.#title || name === "") return;
    this.#title = title;
    tty.setTitle(title);
  }

  /** Another program had the terminal, and the title. */
  renew(): void {
    this.#title = "";
    this.show(this.#state);
  }

  /** Somebody is there again. */
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
