// Step: one thing the offline model has understood and will carry out, and the scene it is understood in.
import type { ToolSpec } from "../provider.ts";
import type { Sum } from "./arithmetic.ts";
import type { Literal, Masked } from "./quotes.ts";

/** `previous`: what the step before it showed. */
export type Content = string | { previous: true };

export type Lines = { first?: number; last?: number; from?: number; to?: number };

/** `last`: so many at the end. `holding`: the only line with this text in it, or all of them. */
export type LineChoice =
  | { from: number; to: number }
  | { last: number }
  | { text: string }
  /** The first heading of a Markdown file. */
  | { heading: true }
  | { holding: string; all?: boolean };

export type LineChange = { type: "remove" } | { type: "set" | "before" | "after"; text: string };

export type Todo = { id: string; content: string; status: string };

export type Step =
  | { do: "say"; text: string }
  | { do: "sum"; sum: Sum }
  | { do: "read"; path: string; lines?: Lines | undefined }
  /** Without a path the file gets a free name. A file that is there stays as it is, unless the words ask for its end. */
  | { do: "write"; path?: string; content: Content; isNew?: boolean; isThere?: boolean; replaces?: boolean }
  /** `item`: in the manner of the list that the file ends with. */
  | { do: "append"; path: string; content: Content; at: "start" | "end"; item?: boolean }
  | { do: "replace"; path: string; oldText: string; newText: string; first?: boolean }
  | { do: "delete"; path: string }
  | { do: "lines"; path: string; which: LineChoice; change: LineChange }
  /** A value in a file of settings: shown, compared, or set `to` another, where it is what it was said to be. */
  | { do: "value"; path: string; key: string; to?: string; orText?: boolean; from?: string | RegExp; is?: RegExp }
  /** A name in a JSON file: taken out, or put in with its value. */
  | { do: "entry"; path: string; key: string; within?: string | undefined; value?: string }
  /** `asks`: whether there is anything at all. `text`: what is counted. */
  | {
      do: "measure";
      path: string;
      unit: "lines" | "words" | "characters" | "bytes" | "times";
      text?: string;
      asks?: boolean;
    }
  /** Every file that matches, but those that are to be kept. */
  | {
      do: "each";
      act: "count" | "read" | "delete" | "move" | "copy";
      pattern: string;
      path?: string;
      to?: string;
      /** `to` is not made. */
      isThere?: boolean;
      except?: string[];
    }
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
  /** `takes`, `gives`: the file that it moves or copies, and where it is then. `done`, `undone`: what is said when it worked, and when it ended with 1 and printed nothing. */
  | {
      do: "run";
      command: string;
      directory?: string | undefined;
      done?: string;
      undone?: string;
      takes?: string;
      gives?: string;
    }
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
