// What a run asks, put to the human of this side: an answer for each, and none for what nobody waits for any more.
import { type HostAbility, hostAbilities } from "../../protocol/control-lines.ts";
import type { Answer, Human, Question } from "../../protocol/run.ts";
import type { LiveOptions } from "./session.ts";

export class Questions {
  readonly #human: Human | undefined;
  readonly #open = new Map<string, AbortController>();

  constructor(human: Human | undefined) {
    this.#human = human;
  }

  /** Somebody is thinking about an answer. */
  get isAsking(): boolean {
    return this.#open.size > 0;
  }

  /** Undefined: the question was closed before there was an answer. What the human throws is a no. */
  async ask(question: Question): Promise<Answer | undefined> {
    const human = this.#human;
    if (!human || human.answers?.includes(question.type) === false) return { type: "no" };
    const abort = new AbortController();
    this.#open.set(question.id, abort);
    try {
      const answer = await human.ask(question, abort.signal);
      return abort.signal.aborted ? undefined : answer;
    } catch (error) {
      if (abort.signal.aborted) return undefined;
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

/** What a host of this human can do. */
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
