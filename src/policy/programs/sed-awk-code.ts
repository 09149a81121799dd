// Recognises harmless sed and awk scripts in arguments; everything else counts as able to do more.

import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import type { DangerousArgument } from "./dangerous-options.ts";
import { isOption } from "./read-options.ts";

/** Matches a pattern up to its delimiter. Versions of sed differ on a delimiter inside brackets, so that is not matched. */
const sedPattern = (delimiter: string) =>
  String.raw`(?:(?!${delimiter})[^\\\n[]|\\.|\[(?:\^|(?!\^))(?:\]|(?!\]))(?:\[:\w+:\]|\[(?![:.=])|\\[^\][\n]|(?!${delimiter})[^\][\\\n])*\])*`;
const sedAddress = String.raw`(?:\d+(?:~\d+)?|\$|/${sedPattern("/")}/I?)`;
const sedCommand = new RegExp(
  String.raw`^\s*(?:(?:${sedAddress}(?:,[+~]?${sedAddress})?\s*!?\s*)?\{?\s*){0,2}(?:[pdDnNgGhHxlPzF=]|[qQ]\s*\d*|[bt]\s*\w*|:\s*\w+|[aic]\\?[^\n]*|s([/|#,:@!_~%])${sedPattern(String.raw`\1`)}\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiImM0-9]*|y/[^/\n]*/[^/\n]*/)?\s*[}\s]*$`,
  "s",
);
const sedFlags =
  /^-[nErsuz]*$|^--(quiet|silent|regexp-extended|posix|null-data|unbuffered|separate|debug|line-length=\d+)$/;

/** Matches sed's option to edit in place, which is judged as a write: see `writesOf`. */
export const sedInPlace = /^(-[nErsuz]*i|--in-place)/;

export function dangerousSed(args: readonly ShellWord[]): DangerousArgument[] {
  const found: DangerousArgument[] = [];
  const scripts: { word: ShellWord; at: number }[] = [];
  const operands: number[] = [];
  for (let at = 0; at < args.length; at++) {
    const { value } = args[at]!;
    const expression = /^(-[nErsuz]*e|--expression=?)(.*)$/s.exec(value);
    if (expression) {
      if (expression[2] !== "") scripts.push({ word: { ...args[at]!, value: expression[2]! }, at });
      else if (args[++at]) scripts.push({ word: args[at]!, at });
    } else if (isOption(args[at]!)) {
      if (!sedFlags.test(value) && !sedInPlace.test(value)) found.push({ name: value, text: value, at });
    } else operands.push(at);
  }
  if (scripts.length === 0 && operands.length > 0) scripts.push({ word: args[operands[0]!]!, at: operands[0]! });
  for (const { word, at } of scripts) {
    const isHarmless = !word.dynamic && isHarmlessSed(word.value);
    if (!isHarmless) found.push({ name: word.value, text: word.value, at });
  }
  return found;
}

/** Returns whether a script runs, reads and writes nothing. Without the letters of such commands it cannot, however it is parsed. */
function isHarmlessSed(script: string): boolean {
  return !/[erRwW]/.test(script) || piecesOf(script).every((piece) => sedCommand.test(piece));
}

/** Returns the words that are files: all operands, or all except the script. */
export function sedFiles(args: readonly ShellWord[]): ShellWord[] {
  const isExpression = (arg: ShellWord | undefined) => /^(-[nErsuz]*e|--expression)$/.test(arg?.value ?? "");
  const hasExpression = args.some((arg) => /^(-[nErsuz]*e|--expression|-[nErsuz]*f|--file)/.test(arg.value));
  const operands = args.filter((arg, index) => !/^-./.test(arg.value) && !isExpression(args[index - 1]));
  return hasExpression ? operands : operands.slice(1);
}

/** Returns the files after r, R, w and W, in commands and in substitutions. It may find more than there are. */
export function sedFileNames({ value }: ShellWord): ShellWord[] {
  const names = value.matchAll(/(?<![A-Za-z0-9_.-])(?:[gpiImMe0-9]*)[rRwW][ \t]*([^\s;}]+)/g);
  return Array.from(names, ([, name]) => named(name!));
}

/** Returns the strings of an awk program, which may name files and commands. */
export function awkLiterals({ value }: ShellWord): ShellWord[] {
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map((match) => named(match[1]!));
}

/** The name of a file in a script, where a tilde is not expanded. */
const named = (value: string): ShellWord => ({ ...literalWord(value), tilde: false });

/** Splits a script. A semicolon inside a substitution yields pieces that match nothing: asked about, never allowed. */
function piecesOf(script: string): string[] {
  if (sedCommand.test(script)) return [script];
  // The text after a, i and c extends to the end of its line, including semicolons.
  return /^[^;\n]*[aic]\\?\s/.test(script) ? script.split("\n") : script.split(/[;\n]/);
}

/** Letters of gawk without a value may precede one that takes a value. */
const awkFlag =
  /^(-[bcMnNOPrsStk]*([Fv].*)?|--(posix|re-interval|traditional|csv|sandbox|lint.*|version|field-separator=.*|assign=.*))$/s;
const awkValued = /^(-[bcMnNOPrsStk]*[Fv]|--field-separator|--assign)$/;

export function dangerousAwk(args: readonly ShellWord[]): DangerousArgument[] {
  const found: DangerousArgument[] = [];
  for (let at = 0; at < args.length; at++) {
    const { value, dynamic } = args[at]!;
    if (awkValued.test(value)) at++;
    else if (value !== "--" && isOption(args[at]!)) {
      if (!awkFlag.test(value)) found.push({ name: value, text: value, at });
    } else if (value !== "--") {
      if (dynamic || !isHarmlessAwk(value)) found.push({ name: value, text: value, at });
      break;
    }
  }
  return found;
}

/** Returns whether the program runs nothing, loads nothing, and neither reads nor writes other files. */
export function isHarmlessAwk(program: string): boolean {
  const tokens = awkTokens(program);
  if (!tokens) return !/system|getline|close|[@|>]/.test(program);
  let printing = false;
  let depth = 0;
  for (const token of tokens) {
    if (/^(system|getline|close|@.*|\||\|&)$/.test(token)) return false;
    if (token === "print" || token === "printf") [printing, depth] = [true, 0];
    else if (/^[;}\n]$/.test(token)) printing = false;
    else if (token === "(") depth++;
    else if (token === ")") depth--;
    // Outside parentheses, a `>` after print writes to a file.
    else if (printing && depth <= 0 && (token === ">" || token === ">>")) return false;
  }
  return true;
}

/** Matches awk keywords whose parentheses are followed by a statement. */
const awkHead = /^(if|while|for|switch)$/;
/** A slash after a value is a division; elsewhere it starts a regular expression. */
const awkValue = /^(\w+\.?|""|\/\/|\)|\])$/;
/** After these, a slash divides in one awk and begins a pattern in another. */
const awkUnsure =
  /^(print|printf|return|exit|in|case|do|else|length|next|nextfile|break|continue|delete|\+\+|--|head\))$/;

/** Returns tokens, each string, pattern and comment as one. Undefined if one is unterminated or versions of awk may differ. */
function awkTokens(program: string): string[] | undefined {
  const tokens: string[] = [];
  const heads: boolean[] = [];
  const next =
    /[ \t\r]+|\\\n|#[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"|[A-Za-z_]\w*|\d+\.?|@\w*|\|\||\|&|&&|>>|>=|<=|==|!=|!~|\+\+|--|[-+*%^/]=|[\s\S]/y;
  while (next.lastIndex < program.length) {
    const from = next.lastIndex;
    const [token] = next.exec(program)!;
    const before = tokens.at(-1) ?? "";
    if (/^([ \t\r]+|\\\n|#)/.test(token)) continue;
    if (token === '"') return undefined;
    if (token.startsWith('"')) tokens.push('""');
    else if (token === "/" || token === "/=") {
      if (awkUnsure.test(before)) return undefined;
      const end = awkValue.test(before) ? next.lastIndex : patternEnd(program, from);
      if (end === undefined) return undefined;
      next.lastIndex = end;
      tokens.push(awkValue.test(before) ? token : "//");
    } else {
      if (token === "(") heads.push(awkHead.test(before));
      tokens.push(token === ")" && heads.pop() ? "head)" : token);
    }
  }
  return tokens;
}

function patternEnd(program: string, from: number): number | undefined {
  let inBrackets = false;
  for (let at = from + 1; at < program.length; at++) {
    const character = program[at];
    if (character === "\n") return undefined;
    if (character === "\\") at++;
    else if (inBrackets && /^\[[:.=]/.test(program.slice(at, at + 2))) {
      // `[[:space:]]` is a class, whose bracket does not close the outer one.
      const end = program.indexOf(`${program[at + 1]}]`, at + 2);
      if (end === -1) return undefined;
      at = end + 1;
    } else if (character === "[" && !inBrackets) {
      inBrackets = true;
      // A closing bracket at the first place belongs to the set.
      if (program[at + 1] === "^") at++;
      if (program[at + 1] === "]") at++;
    } else if (character === "]") inBrackets = false;
    else if (character === "/") {
      // Versions of awk differ on a slash inside brackets, so neither reading is chosen.
      return inBrackets ? undefined : at + 1;
    }
  }
  return undefined;
}
