// Adds words that a command gets from elsewhere: what xargs reads, what find finds.

import type { ShellCommand } from "../parse/shell.ts";
import type { ShellWord, WordOrigin } from "../parse/shell-word.ts";
import { baseName, isInterpreter, isShell, own } from "../programs/command-names.ts";
import { namePatterns, startingPoints } from "../programs/find-arguments.ts";
import { isOption, parseOptions } from "../programs/read-options.ts";
import { wrappers } from "../programs/wrapper-table.ts";
import { expandWord, type VariableScope } from "./expand-words.ts";
import { predictOutput, spokenWords } from "./predicted-output.ts";

type XargsInput = {
  args: readonly ShellWord[];
  values: ReadonlyMap<string, ShellWord>;
  command: ShellCommand;
  scope: VariableScope;
};

/** Adds what xargs reads to its operands, or fills it in. `opaque` lists the cases where the input decides what runs. */
export function withInput(
  operands: ShellWord[],
  { args, values, command, scope }: XargsInput,
): { words: ShellWord[]; opaque: string[] } {
  const opaque: string[] = [];
  const undecided = undecidedProgram(operands);
  if (undecided) opaque.push(`what xargs reads decides what ${undecided} runs`);
  const upstream = command.upstream?.()?.map(({ name, args }) => ({
    name,
    args: args.map((arg) => expandWord(arg, scope)),
  }));
  const isElsewhere = command.redirects.some(({ direction }) => direction === "in" || direction === "text");
  const texts = command.redirects.flatMap(({ body }) =>
    body === undefined ? [] : spokenWords({ value: body, dynamic: false }),
  );
  const { gives, mentions } =
    upstream && !isElsewhere ? predictOutput(upstream) : ({ gives: "made", mentions: texts } as const);
  const origin = gives === "token" ? "names" : gives;
  const input: MarkReplacement = { origin, others: mentions };
  // `xargs sed -i`: options after the command are the command's own.
  const mark = replacedBy(values, args.slice(0, args.length - operands.length));
  if (mark === undefined) return { words: [...operands, { ...nothingYet, ...input }], opaque };
  return { words: operands.map((word) => (word.value.includes(mark) ? filledIn(word, mark, input) : word)), opaque };
}

/** The words that replace the mark of `-I`. */
type MarkReplacement = { origin: WordOrigin; others: readonly ShellWord[] };

const nothingYet: ShellWord = { text: "(input)", value: "", dynamic: true, glob: false, tilde: false };

/** Returns the wrapper or interpreter that would take its program from the input, or undefined if it is already given. */
function undecidedProgram([name, ...args]: readonly ShellWord[]): string | undefined {
  if (!name) return undefined;
  const inner = baseName(name.value).toLowerCase();
  if (inner === "eval") return inner;
  if (isShell(inner) || isInterpreter(inner))
    return args[0] && !isOption(args[0]) && !args[0].dynamic ? undefined : inner;
  const table = own(wrappers, inner);
  if (!table) return undefined;
  if (table.permutes || table.joins || table.assignments || table.mayHaveOperand) return inner;
  const { operands, isUnsure } = parseOptions(args, table);
  const rest = operands.slice(table.operands ?? 0);
  return isUnsure || rest.length === 0 ? inner : undecidedProgram(rest);
}

/** Returns the mark of the `-I` option, which is replaced by the input. */
function replacedBy(values: ReadonlyMap<string, ShellWord>, args: readonly ShellWord[]): string | undefined {
  const placeholder = args.find((arg) => /^-i|^--replace/.test(arg.value))?.value.replace(/^-i|^--replace=?/, "");
  return values.get("I")?.value ?? (placeholder === "" ? "{}" : placeholder);
}

/** Returns the words of `find -exec`, with possible matches in place of `{}`. */
export function withFound(words: readonly ShellWord[], findArgs: readonly ShellWord[]): ShellWord[] {
  const others = [...startingPoints(findArgs), ...namePatterns(findArgs).map((word) => ({ ...word, glob: true }))];
  return words.map((word) => (word.value.includes("{}") ? filledIn(word, "{}", { origin: "names", others }) : word));
}

/** Replaces the mark in a word: in `dir/{}`, the part before it is known. */
function filledIn(word: ShellWord, mark: string, { origin, others }: MarkReplacement): ShellWord {
  const lead = word.value.slice(0, word.value.indexOf(mark));
  return {
    ...word,
    dynamic: true,
    pieces: [
      { kind: "text", value: lead },
      { kind: "variable", name: mark, quoted: true },
    ],
    origin,
    others: others.map((each) => ({ ...each, value: word.value.replaceAll(mark, () => each.value) })),
  };
}
