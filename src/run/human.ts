// Asks the user what no rule decides. Each question has an id and a hash of its content.
import type { Asker, Question as PermissionAsked } from "../agent/agent.ts";
import type { Person } from "../agent/person.ts";
import type { Need } from "../policy/need.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Answer, Human, Question, QuestionBody } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { sha256 } from "../store/chats/sha256.ts";

/** How the parts of a run ask questions. */
export interface Asking {
  /** Whether a user is present who can answer some questions. */
  readonly canAnswer: boolean;
  /** Returns whether a question of this type can be answered at all. */
  can(type: QuestionBody["type"]): boolean;
  /** Resolves to undefined when no user can answer. Rejects when asking fails. */
  ask(body: QuestionBody, signal?: AbortSignal): Promise<Answer | undefined>;
  /** Returns for how many milliseconds at least one question was open. */
  waitedMs(): number;
}

/** Creates the object that asks the user, with ids unique across runs. `whole` aborts questions outside a turn when the run ends. */
export function createAsking(
  human: Human | undefined,
  whole = new AbortController().signal,
  { waiting, newId = randomUuid }: { waiting?: Waiting | undefined; newId?: (() => string) | undefined } = {},
): Asking {
  const can = (type: QuestionBody["type"]) => human !== undefined && (human.answers?.includes(type) ?? true);
  const open = new Set<string>();
  let openSince = 0;
  let waitedMs = 0;
  return {
    waitedMs: () => waitedMs + (open.size > 0 ? Date.now() - openSince : 0),
    get canAnswer() {
      return human !== undefined && human.answers?.length !== 0;
    },
    can,
    async ask(body, signal = whole) {
      if (!human || !can(body.type)) return undefined;
      const question: Question = { id: `question-${newId()}`, hash: sha256(JSON.stringify(body)), ...body };
      const asked = () => human.ask(question, signal);
      if (open.size === 0) openSince = Date.now();
      open.add(question.id);
      try {
        return await (waiting ? waiting.during("person", body.type, asked) : asked());
      } finally {
        open.delete(question.id);
        if (open.size === 0) waitedMs += Date.now() - openSince;
      }
    },
  };
}

/** Rules that the user can grant by answering yes to a question. */
export type Proposed = { rules: readonly string[]; wider: readonly string[] };

export interface Grants {
  proposed(needs: readonly Need[]): Promise<Proposed>;
  grant(rules: readonly string[], scope: "run" | "project" | "user"): void | Promise<void>;
  /** Returns whether the call would run without asking if commands ran in the sandbox from now on. */
  offersSandbox(needs: readonly Need[]): Promise<boolean>;
  /** Runs commands of this project in the sandbox from now on, without asking. */
  useSandbox(): void;
}

/** Returns a function that asks for permission; undefined when no user can grant it. It does not ask again about calls always allowed. */
export function permissionAsker(asking: Asking, grants?: Grants): Asker | undefined {
  if (!asking.can("permission")) return undefined;
  const always = new Set<string>();
  return async ({ callId, tool, args, needs, reasons, diff, personOnly }: PermissionAsked, signal) => {
    const same = JSON.stringify([tool, needs]);
    if (always.has(same)) return { allow: true };
    const none: Proposed = { rules: [], wider: [] };
    const { rules, wider } = personOnly ? none : ((await grants?.proposed(needs)) ?? none);
    const proposed = { ...(rules.length > 0 && { rules }), ...(wider.length > 0 && { widerRules: wider }) };
    const offersSandbox = !personOnly && (await grants?.offersSandbox(needs));
    const body = { type: "permission", callId, tool, args, needs, reasons } as const;
    const answer = await asking.ask(
      {
        ...body,
        ...proposed,
        ...(offersSandbox && { offersSandbox }),
        ...(diff && { diff }),
        ...(personOnly && { personOnly }),
      },
      signal,
    );
    if (answer?.type !== "yes") return { allow: false, ...(answer?.type === "no" && { reason: answer.reason }) };
    if (answer.grant === "sandbox") {
      if (!offersSandbox) return { allow: false, reason: "Running commands in the sandbox was not offered." };
      grants?.useSandbox();
      return { allow: true, inSandbox: true };
    }
    if (answer.always) always.add(same);
    if (answer.grant) await grants?.grant(answer.wider && wider.length > 0 ? wider : rules, answer.grant);
    return { allow: true };
  };
}

/** Saves a consent. If it cannot be saved (a container without a home), it applies to this run. `what` begins the warning. */
export function keepConsent(save: () => void, what: string, warn: (message: string) => void): void {
  try {
    save();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`${what} for this run only: ${error.message}`);
  }
}

/** Returns functions that ask the model's questions and for the approval of plans; undefined when no user can answer either. */
export function personOf(asking: Asking): Person | undefined {
  if (!asking.can("choices") && !asking.can("plan")) return undefined;
  return {
    async choose(title, questions, signal) {
      const answer = await asking.ask({ type: "choices", title, questions }, signal);
      return answer?.type === "choices" && answer.answers.length > 0 ? [...answer.answers] : undefined;
    },
    async refusesPlan(plan, signal) {
      const answer = await asking.ask({ type: "plan", ...plan }, signal);
      if (answer === undefined || answer.type === "yes") return undefined;
      return (answer.type === "no" && answer.reason) || "The user said no.";
    },
  };
}
