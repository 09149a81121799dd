// Adds the words that xargs and `find -exec` pass to the command they run, as far as they can be predicted.

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

/**
 * Returns the operands of xargs with the words it reads from standard input, appended or in place of the `-I` placeholder.
 * `opaque` lists the reasons why the input decides what runs.
 */
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
  const input: Replacement = { origin, others: mentions };
  // `xargs sed -i`: options after the command are the command's own.
  const placeholder = placeholderOf(values, args.slice(0, args.length - operands.length));
  if (placeholder === undefined) return { words: [...operands, { ...unknownInput, ...input }], opaque };
  return {
    words: operands.map((word) => (word.value.includes(placeholder) ? fillIn(word, placeholder, input) : word)),
    opaque,
  };
}

/** The words that replace the placeholder of `-I`. */
type Replacement = { origin: WordOrigin; others: readonly ShellWord[] };

const unknownInput: ShellWord = { text: "(input)", value: "", dynamic: true, glob: false, tilde: false };

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

/** Returns the placeholder that the input replaces, as named by the option `-I`, `-i` or `--replace`. */
function placeholderOf(values: ReadonlyMap<string, ShellWord>, args: readonly ShellWord[]): string | undefined {
  const short = args.find((arg) => /^-i|^--replace/.test(arg.value))?.value.replace(/^-i|^--replace=?/, "");
  return values.get("I")?.value ?? (short === "" ? "{}" : short);
}

/** Returns the words of `find -exec`, with possible matches in place of `{}`. */
export function withFound(words: readonly ShellWord[], findArgs: readonly ShellWord[]): ShellWord[] {
  const others = [...startingPoints(findArgs), ...namePatterns(findArgs).map((word) => ({ ...word, glob: true }))];
  return words.map((word) => (word.value.includes("{}") ? fillIn(word, "{}", { origin: "names", others }) : word));
}

/** Replaces the placeholder in a word: in `dir/{}`, the part before it is known. */
function fillIn(word: ShellWord, placeholder: string, { origin, others }: Replacement): ShellWord {
  const lead = word.value.slice(0, word.value.indexOf(placeholder));
  return {
    ...word,
    dynamic: true,
    pieces: [
      { kind: "text", value: lead },
      { kind: "variable", name: placeholder, quoted: true },
    ],
    origin,
    others: others.map((each) => ({ ...each, value: word.value.replaceAll(placeholder, () => each.value) })),
  };
}
