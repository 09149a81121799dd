// Step: one thing the offline model has understood and will carry out, and the scene it is understood in.
import type { ToolSpec } from "../provider.ts";
import type { Sum } from "./arithmetic.ts";
import type { Literal, Masked } from "./quotes.ts";

/** `previous`: what the step before it showed. */
export type Content = string | { previous: true };

export type Lines = { first?: number; last?: number; from?: number; to?: number };

export type LineChoice = { number: number } | { last: true } | { text: string };

export type LineChange = { type: "remove" } | { type: "set" | "before" | "after"; text: string };

export type Todo = { id: string; content: string; status: string };

export type Step =
  | { do: "say"; text: string }
  | { do: "sum"; sum: Sum }
  | { do: "read"; path: string; lines?: Lines | undefined }
  /** Without a path the file gets a free name. A file that is there stays as it is, unless the words ask for its end. */
  | { do: "write"; path?: string; content: Content; isNew?: boolean; replaces?: boolean }
  | { do: "append"; path: string; content: Content; at: "start" | "end" }
  | { do: "replace"; path: string; oldText: string; newText: string; first?: boolean }
  | { do: "delete"; path: string }
  | { do: "lines"; path: string; which: LineChoice; change: LineChange }
  /** A value in a file of settings: shown, or set `to` another. */
  | { do: "value"; path: string; key: string; to?: string }
  | { do: "measure"; path: string; unit: "lines" | "words" | "characters" | "bytes" }
  /** Every file that matches. */
  | { do: "each"; act: "count" | "delete"; pattern: string; path?: string }
  /** One of the project's own scripts. */
  | { do: "script"; name: string }
  | { do: "list"; path?: string | undefined }
  /** `asks`: whether there is one; the answer begins with yes or no. */
  | { do: "find"; pattern: string; path?: string | undefined; asks?: boolean }
  | {
      do: "search";
      pattern: string;
      mode: "content" | "files_with_matches" | "count";
      path?: string;
      glob?: string;
      anyCase?: boolean;
      asks?: boolean;
    }
  /** `done`, `undone`: what is said when it worked, and when it ended with 1 and printed nothing. */
  | { do: "run"; command: string; directory?: string | undefined; done?: string; undone?: string }
  | { do: "fetch"; url: string }
  | { do: "todos"; todos: Todo[]; merge: boolean }
  | { do: "show todos" }
  | { do: "call"; tool: string; args: Record<string, unknown> };

/** What a clause may refer to beyond its own words. */
export type PromptContext = {
  masked: Masked;
  tools: readonly ToolSpec[];
  /** What was understood so far, in this prompt. */
  steps: Step[];
  /** The file or folder last spoken of: "it". */
  lastPath: string | undefined;
  /** The folder that was made last: "in it". */
  lastFolder?: string | undefined;
  /** Where commands run: "cd src, then …". */
  directory?: string;
  todos: Todo[];
  /** What the user said before, oldest first. */
  asked: string[];
  /** What this model answered before, oldest first. */
  answered: string[];
};

/** Undefined: not understood. An empty list: understood, and nothing to do. */
export type ParsedSteps = Step[] | undefined;

/** The one step of its kind. */
export type StepOf<Kind extends Step["do"]> = Extract<Step, { do: Kind }>;

export type Intent = (rest: string, scene: PromptContext, verb: string) => ParsedSteps;

export function isFileName(literal: Literal | undefined): boolean {
  return literal !== undefined && (literal.kind === "quote" || literal.kind === "code") && !/[\n\t]/.test(literal.text);
}
