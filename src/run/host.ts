// RunHost: what the process that carries out a run provides to it. None of it is part of the request.
import type { Seams } from "../agent/seams.ts";
import type { ProviderOptions } from "../model/open.ts";
import type { Provider } from "../model/provider.ts";
import type { ResolvedModel } from "../model/resolve.ts";
import type { Message } from "../protocol/message.ts";
import type { Human, Recorded } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";

export type RunHost = {
  /** The name that the program was called by, for commands shown to the user. */
  program: string;
  version: string;
  env: NodeJS.ProcessEnv;
  /** API key of the model for this run; `headers` are sent to the model's server. */
  apiKey?: string;
  /** A program that prints a bearer token for the model's server. */
  tokenCommand?: string;
  headers?: readonly string[];
  /** Whether to skip the verification of the model server's certificate. */
  insecure?: boolean;
  /** The user who answers questions; absent when no user can. */
  human?: Human;
  /**
   * Returns whether a user is present now, in which case whatever no rule decides is asked. When absent, no user is: a question is asked
   * only where nothing else can be done, and waits for an answer.
   */
  attended?(): boolean;
  /** Resolves once it is known who can answer; no question is asked before. */
  ready?: Promise<unknown>;
  /** Ends the run when aborted, with the reason of the abort. */
  signal?: AbortSignal;
  /** Returns how many milliseconds are left, if the host itself enforces a time limit. */
  timeLeft?(): number;
  /** Holds a call: resolves when the host has stored the start of this call in its own log. */
  heldCall?(callId: string, agent: string | undefined): Promise<void> | undefined;
  /** Removes the secrets of this process from a text. */
  redact?(text: string): string;
  /** Called with further secret values before anything uses them. */
  learnSecrets?(values: readonly string[]): void;
  /**
   * Called with each answer, as given after the last tool call, before the turn counts as done. A UserError that it throws becomes the end
   * of the turn.
   */
  deliver?(answer: { text: string; structured?: unknown }): void;
  /** Called with every event at the time it is shown. */
  watch?(recorded: Recorded): void;
  /** Records what the run is waiting for. */
  waiting?: Waiting;
  /** The path of a file to which the run's activity is logged. */
  log?: string;
  /** Called when the run is over with problems outside of the run itself. */
  warn?(message: string): void;
  debug?(message: string): void;
  seams?: Partial<Seams> & {
    openProvider?(model: ResolvedModel, options: ProviderOptions): Promise<Provider>;
    wrapProvider?(provider: Provider, model: ResolvedModel): Provider;
    /** Properties of the model that a recording replaces. */
    modelInfo?: Partial<Pick<ResolvedModel, "displayName" | "contextTokens" | "price" | "effort">>;
    /** The messages that precede the first prompt. */
    messages?: readonly Message[];
  };
};
