// Passes the questions of a run to the caller's Human, and drops answers to questions that are no longer open.
import { type HostAbility, hostAbilities } from "../../protocol/control-lines.ts";
import type { Answer, Human, Question } from "../../protocol/run.ts";
import type { LiveOptions } from "./session.ts";

export class Questions {
  readonly #human: Human | undefined;
  readonly #isLeft: boolean;
  readonly #open = new Map<string, AbortController>();

  /** With `isLeft`, questions that this human does not answer are left to others; otherwise the answer is no. */
  constructor(human: Human | undefined, { isLeft = false } = {}) {
    this.#human = human;
    this.#isLeft = isLeft;
  }

  /** Whether a question waits for its answer. */
  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Returns undefined if the question was closed before it was answered, or is left to others. If the human throws, the
   * answer is no. `isOpen` is checked first, for a reader that sees the question long after it was asked.
   */
  async ask(question: Question, isOpen = async () => true): Promise<Answer | undefined> {
    const human = this.#human;
    if (!human || human.answers?.includes(question.type) === false) return this.#isLeft ? undefined : { type: "no" };
    const abort = new AbortController();
    this.#open.set(question.id, abort);
    try {
      if (!(await isOpen()) || abort.signal.aborted) return undefined;
      const answer = await human.ask(question, abort.signal);
      return abort.signal.aborted ? undefined : answer;
    } catch (error) {
      if (abort.signal.aborted || this.#isLeft) return undefined;
      const reason = error instanceof Error ? error.message : String(error);
      return { type: "no", ...(reason !== "" && { reason }) };
    } finally {
      if (this.#open.get(question.id) === abort) this.#open.delete(question.id);
    }
  }

  close(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  closeAll(): void {
    for (const id of [...this.#open.keys()]) this.close(id);
  }
}

/** Returns the abilities that a host announces when this human can be asked. */
export function abilitiesOf(
  human: Human | undefined,
  {
    subagents = true,
    toolOutput = true,
    holdCalls = false,
    attended = false,
  }: Pick<LiveOptions, "subagents" | "toolOutput" | "holdCalls" | "attended">,
): HostAbility[] {
  const kinds = human ? (human.answers ?? ["permission", "trust"]) : [];
  const can: Record<HostAbility, boolean> = {
    answer: kinds.some((kind) => kind !== "trust"),
    attend: attended,
    trust: kinds.includes("trust"),
    tool_output: toolOutput,
    subagents,
    hold_calls: holdCalls,
  };
  return hostAbilities.filter((ability) => can[ability]);
}
