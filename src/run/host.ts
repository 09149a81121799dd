// RunHost: the process that carries out a run, and what it lends it. Nothing of this is part of the request.
import type { Seams } from "../agent/seams.ts";
import type { ProviderOptions } from "../model/open.ts";
import type { Provider } from "../model/provider.ts";
import type { ResolvedModel } from "../model/resolve.ts";
import type { Message } from "../protocol/message.ts";
import type { Human, Recorded } from "../protocol/run.ts";
import type { Waiting } from "../protocol/waiting.ts";

export type RunHost = {
  /** The name that the program was called by, for commands to type. */
  program: string;
  version: string;
  env: NodeJS.ProcessEnv;
  /** A key for the model, and headers for its server, that were given for this run. */
  apiKey?: string;
  /** A program that prints a bearer token for the model's server. */
  tokenCommand?: string;
  headers?: readonly string[];
  /** Do not verify the certificate of the model's server. */
  insecure?: boolean;
  /** Absent: nobody can answer. */
  human?: Human;
  /**
   * Is a person in front of the run now? Then what no rule speaks of is asked. Absent: nobody is, and a question is asked only
   * where nothing else can be done; it waits for whoever comes.
   */
  attended?(): boolean;
  /** Where it is known only later who can answer: nothing is asked before. */
  ready?: Promise<unknown>;
  /** Ends the run, with its reason. */
  signal?: AbortSignal;
  /** Where calls are held: resolves when whoever keeps the log elsewhere has kept the start of this one. */
  heldCall?(callId: string, agent: string | undefined): Promise<void> | undefined;
  /** Takes the secrets of this process out of a text. */
  redact?(text: string): string;
  /**
   * Is given each answer, as it was said after the last call of a tool, before the turn counts as done. A UserError that it
   * throws is how the turn ended.
   */
  deliver?(answer: { text: string; structured?: unknown }): void;
  /** Is told of every event the moment it is shown. */
  watch?(recorded: Recorded): void;
  /** Is told what the run waits for. */
  waiting?: Waiting;
  /** A file that is told what the run does, line by line. */
  log?: string;
  /** Told what went wrong beside the run, when it is over. */
  warn?(message: string): void;
  /** Told what goes on, for people who look for a fault. */
  debug?(message: string): void;
  seams?: Partial<Seams> & {
    openProvider?(model: ResolvedModel, options: ProviderOptions): Promise<Provider>;
    /** The provider that was opened, with something around it. */
    wrapProvider?(provider: Provider, model: ResolvedModel): Provider;
    /** What is known of a model that a recording takes the place of. */
    modelInfo?: Partial<Pick<ResolvedModel, "displayName" | "contextTokens" | "price" | "effort">>;
    /** What was said before the first prompt. */
    messages?: readonly Message[];
  };
};
