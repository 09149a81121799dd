// Prompts that wait: for their turn, or for a safe point of the turn that runs. What must not happen beside a turn waits with them.
import { UserError } from "../protocol/error-codes.ts";
import type { Prompt, Sent, TurnEnding } from "../protocol/run.ts";

export type QueuedPrompt = Pick<Sent, "id" | "ending"> & {
  state: Sent["state"];
  prompt: Prompt;
  settle(ending: TurnEnding): void;
};

export type Job = { job(): Promise<void> };

/** `failure`: how a prompt ends that is never told. */
export class PromptQueue {
  readonly #failure: (why: UserError) => TurnEnding;
  readonly #queue: (QueuedPrompt | Job)[] = [];
  #steering: QueuedPrompt[] = [];
  #count = 0;

  constructor(failure: (why: UserError) => TurnEnding) {
    this.#failure = failure;
  }

  /** Does anything wait for its turn? */
  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Prompts of both kinds. */
  get prompts(): number {
    return this.#queue.filter((each) => "prompt" in each).length + this.#steering.length;
  }

  add(prompt: Prompt): Sent {
    const item = this.#item(prompt);
    this.#queue.push(item);
    return this.#sent(item);
  }

  /** For the turn that runs. */
  steer(prompt: Prompt): Sent {
    const item = this.#item(prompt);
    this.#steering.push(item);
    return this.#sent(item);
  }

  addJob(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ job: () => work().then(resolve, reject) });
    });
  }

  next(): QueuedPrompt | Job | undefined {
    return this.#queue.shift();
  }

  /** What is to be told to the turn that runs; it ends as that one does. */
  takeSteering(turn: QueuedPrompt | undefined): QueuedPrompt[] {
    const taken = this.#steering.splice(0);
    for (const item of taken) {
      item.state = "told";
      void turn?.ending.then(item.settle);
    }
    return taken;
  }

  /** The turn is over: what came too late for it comes next. */
  keepSteering(): void {
    this.#queue.unshift(...this.#steering.splice(0));
  }

  drop(item: QueuedPrompt, why: UserError): void {
    item.state = "dropped";
    item.settle(this.#failure(why));
  }

  #item(prompt: Prompt): QueuedPrompt {
    let settle: QueuedPrompt["settle"] = () => {};
    const ending = new Promise<TurnEnding>((resolve) => {
      settle = resolve;
    });
    return { id: `prompt-${++this.#count}`, prompt, ending, settle, state: "waiting" };
  }

  #sent(item: QueuedPrompt): Sent {
    return {
      id: item.id,
      ending: item.ending,
      get state() {
        return item.state;
      },
      withdraw: async () => {
        if (item.state !== "waiting") return false;
        for (const list of [this.#queue, this.#steering]) {
          const at = list.indexOf(item);
          if (at >= 0) list.splice(at, 1);
        }
        this.drop(item, new UserError("INTERRUPTED", "The prompt was withdrawn."));
        return true;
      },
    };
  }
}
