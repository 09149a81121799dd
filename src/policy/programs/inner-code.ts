// Programs inside of arguments: the harmless part of sed and awk is recognised, everything else counts as able to do more.

import type { ShellWord } from "../parse/shell-word.ts";
import type { DangerousArgument } from "./dangerous-options.ts";

const sedAddress = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)`;
const sedCommand = new RegExp(
  String.raw`^\s*(?:(?:${sedAddress}(?:,[+~]?${sedAddress})?\s*!?\s*)?\{?\s*){0,2}(?:[pdDnNgGhHxlPzF=]|[qQ]\s*\d*|[bt]\s*\w*|:\s*\w+|[aic]\\?[^\n]*|s([/|#,:@!_~%])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*|y/[^/\n]*/[^/\n]*/)?\s*[}\s]*$`,
  "s",
);
const sedFlags =
  /^-[nErsuz]*$|^--(quiet|silent|regexp-extended|posix|null-data|unbuffered|separate|debug|line-length=\d+)$/;

/** Editing in place is a write, and judged as one: see `writesOf`. */
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
    } else if (value.startsWith("-") && value.length > 1) {
      if (!sedFlags.test(value) && !sedInPlace.test(value)) found.push({ name: value, text: value, at });
    } else operands.push(at);
  }
  if (scripts.length === 0 && operands.length > 0) scripts.push({ word: args[operands[0]!]!, at: operands[0]! });
  for (const { word, at } of scripts) {
    const isHarmless = !word.dynamic && piecesOf(word.value).every((piece) => sedCommand.test(piece));
    if (!isHarmless) found.push({ name: word.value, text: word.value, at });
  }
  return found;
}

/** Which of the words are files: all operands, or all but the script. */
export function sedFiles(args: readonly ShellWord[]): ShellWord[] {
  const isExpression = (arg: ShellWord | undefined) => /^(-[nErsuz]*e|--expression)$/.test(arg?.value ?? "");
  const hasExpression = args.some((arg) => /^(-[nErsuz]*e|--expression|-[nErsuz]*f|--file)/.test(arg.value));
  const operands = args.filter((arg, index) => !/^-./.test(arg.value) && !isExpression(args[index - 1]));
  return hasExpression ? operands : operands.slice(1);
}

/** Files that a script names after r, R, w and W: of commands, and of substitutions. More may be found than there are. */
export function sedFileNames({ value }: ShellWord): ShellWord[] {
  if (/^-[nErsuzi]*$/.test(value)) return [];
  return [...value.matchAll(/(?<![A-Za-z0-9_.-])(?:[gpiImMe0-9]*)([rRwW])[ \t]*([^\s;}]+)/g)].map((match) =>
    literal(match[2]!),
  );
}

/** The strings of an awk program: files and commands are named by them. */
export function awkLiterals({ value }: ShellWord): ShellWord[] {
  return [...value.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map((match) => literal(match[1]!));
}

function literal(value: string): ShellWord {
  return { text: value, value, dynamic: false, glob: false, tilde: false };
}

/** Semicolons inside a substitution make pieces that match nothing: asked about, never allowed by mistake. */
function piecesOf(script: string): string[] {
  if (sedCommand.test(script)) return [script];
  // Text after a, i and c reaches to the end of its line, semicolons and all.
  return /^[^;\n]*[aic]\\?\s/.test(script) ? script.split("\n") : script.split(/[;\n]/);
}

const awkFlag =
  /^(-[FvbcnOPrsStk].*|--(posix|re-interval|traditional|csv|sandbox|lint.*|version|field-separator=.*|assign=.*))$/s;

export function dangerousAwk(args: readonly ShellWord[]): DangerousArgument[] {
  const found: DangerousArgument[] = [];
  for (let at = 0; at < args.length; at++) {
    const { value } = args[at]!;
    if (/^(-[Fv]|--field-separator|--assign)$/.test(value)) at++;
    else if (value.startsWith("-") && value !== "-" && value !== "--") {
      if (!awkFlag.test(value)) found.push({ name: value, text: value, at });
    } else if (value !== "--") {
      if (args[at]!.dynamic || !isHarmlessAwk(value)) found.push({ name: value, text: value, at });
      break;
    }
  }
  return found;
}

/** No program is run, nothing is loaded, read from or written elsewhere. */
export function isHarmlessAwk(program: string): boolean {
  const tokens = awkTokens(program);
  if (!tokens) return false;
  let printing = false;
  let depth = 0;
  for (const token of tokens) {
    if (/^(system|getline|close|@.*|\||\|&)$/.test(token)) return false;
    if (token === "print" || token === "printf") [printing, depth] = [true, 0];
    else if (/^[;}\n]$/.test(token)) printing = false;
    else if (token === "(") depth++;
    else if (token === ")") depth--;
    // Outside of parentheses a `>` after print is a file.
    else if (printing && depth <= 0 && (token === ">" || token === ">>")) return false;
  }
  return true;
}

/** Words and marks, with strings, patterns and comments reduced to one mark each; undefined where one has no end. */
function awkTokens(program: string): string[] | undefined {
  const tokens: string[] = [];
  const next =
    /[ \t\r]+|\\\n|#[^\n]*|"(?:[^"\\\n]|\\[\s\S])*"|[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|@\w*|\|\||\|&|&&|>>|>=|<=|==|!=|!~|\+\+|--|[-+*%^/]=|[\s\S]/y;
  while (next.lastIndex < program.length) {
    const from = next.lastIndex;
    const [token] = next.exec(program)!;
    if (/^([ \t\r]+|\\\n|#)/.test(token)) continue;
    if (token.startsWith('"')) {
      if (token === '"') return undefined;
      tokens.push('""');
    } else if ((token === "/" || token === "/=") && isPatternPlace(tokens.at(-1))) {
      next.lastIndex = from;
      const end = patternEnd(program, from);
      if (end === undefined) return undefined;
      next.lastIndex = end;
      tokens.push("//");
    } else tokens.push(token);
  }
  return tokens;
}

/** A slash after a value divides; anywhere else it begins a pattern. */
function isPatternPlace(before: string | undefined): boolean {
  if (before === undefined) return true;
  if (/^(print|printf|return|in|case|getline|do|else|exit)$/.test(before)) return true;
  return !/^(\w+|""|\/\/|\)|\]|\$|\+\+|--)$/.test(before);
}

function patternEnd(program: string, from: number): number | undefined {
  let inBrackets = false;
  for (let at = from + 1; at < program.length; at++) {
    const character = program[at];
    if (character === "\n") return undefined;
    if (character === "\\") at++;
    else if (character === "[" && !inBrackets) {
      inBrackets = true;
      // A closing bracket that comes first is a member.
      if (program[at + 1] === "^") at++;
      if (program[at + 1] === "]") at++;
    } else if (character === "]") inBrackets = false;
    else if (character === "/") {
      // Awks differ on a slash inside of brackets: neither reading is taken.
      return inBrackets ? undefined : at + 1;
    }
  }
  return undefined;
}
