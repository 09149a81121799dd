// What words become, as far as the line says it: loop variables, assignments, defaults, and commands whose output is known.

import type { Origin, Piece, ShellWord } from "../parse/shell-word.ts";
import { outputOf } from "./producers.ts";

/** What the variables of a line may hold. `unknown`: set in a way that cannot be followed. */
export type Variables = ReadonlyMap<string, readonly ShellWord[] | "unknown">;

/** `isNested`: where `$1` is what the line says. `isOpen`: something may have set any variable. */
export type Scope = {
  variables: Variables;
  isNested: boolean;
  isOpen: boolean;
  /** How much may still be looked up: variables that hold each other multiply. */
  budget: { left: number };
};

const mostTexts = 64;
const deepest = 8;
const strictness: Record<Origin, number> = { names: 0, environment: 1, derived: 2, made: 3 };

/** Variables that hold digits, whoever sets them. */
const numbers = /^([?$!#]|RANDOM|SECONDS|EPOCHSECONDS|LINENO|UID|EUID|PPID|BASHPID|SHLVL|COLUMNS|LINES)$/;
/** Variables that every shell has. */
const alwaysSet = /^(HOME|PWD)$/;
/** Variables that hold pieces of the line itself. */
const ownWords = /^(_|BASH_.*|REPLY|MAPFILE|OPTARG|OPTIND|DIRSTACK|FUNCNAME|PIPESTATUS|COPROC.*|HISTCMD|IFS|PS4)$/;

/** What a piece may be: texts that are known, and an origin for what is not. */
type Value = { texts: string[]; glob: boolean; origin?: Origin };

/** No longer dynamic where the line says what it becomes; otherwise it says where it comes from, and `others` may be it. */
export function meaningOf(word: ShellWord, scope: Scope, depth = 0): ShellWord {
  if (!word.dynamic) return word;
  const isTooMuch = depth > deepest || --scope.budget.left < 0;
  const pieces = isTooMuch ? unknown : (word.pieces ?? unknown);
  const { texts, glob, origin } = combined(pieces, scope, depth);
  const all = texts.flatMap((text) => splitWords(text, word, glob));
  const words = all.filter((each) => each.value !== "");
  // An option that only shows when the line runs is not what it looks like.
  const hides = leadingText(word) === "" && words.some((each) => each.value.startsWith("-"));
  const bare = ownText(pieces);
  if (bare !== undefined && !texts.includes(bare)) words.push(...splitWords(bare, word, glob));
  if (origin || hides) return { ...word, origin: hides ? "made" : origin!, ...(words.length > 0 && { others: words }) };
  const [first, ...others] = words;
  if (!first) return { ...word, value: "", dynamic: false };
  return others.length > 0 ? { ...first, others } : first;
}

const unknown: readonly Piece[] = [{ kind: "unknown" }];

/** May it become an option, or several words, when the shell expands it? */
export function mayBeOption(word: ShellWord): boolean {
  if (!word.dynamic || (word.origin !== "made" && word.origin !== "derived")) return false;
  const lead = leadingText(word);
  const isFixed = lead !== "" && (!lead.startsWith("-") || lead.includes("="));
  return !isFixed || !(word.pieces ?? []).every((piece) => piece.kind === "text" || isQuoted(piece));
}

/** Evaluated as arithmetic, can it be anything but a number? Names are looked up, and what they hold is evaluated again. */
export function isNumeric(word: ShellWord, scope: Scope): boolean {
  const pieces: readonly Piece[] = word.dynamic ? (word.pieces ?? unknown) : [{ kind: "text", value: word.value }];
  return pieces.every((piece) => {
    if (piece.kind === "text") return isPlainArithmetic(piece.value, scope);
    if (piece.kind === "variable") return isNumber(piece.name, scope);
    if (piece.kind === "output") return outputOf(resolved(piece.commands, scope, 0)).gives === "token";
    return piece.kind === "number";
  });
}

/** Numbers, operators and names; a name stands for what it holds. */
function isPlainArithmetic(text: string, scope: Scope): boolean {
  if (!/^[\w\s+\-*/%()<>=!&|^~?:,.#@[\]]*$/.test(text)) return false;
  return [...text.matchAll(/[A-Za-z_]\w*/g)].every(([name]) => isNumber(name, scope));
}

function isNumber(name: string, scope: Scope): boolean {
  if (numbers.test(name)) return true;
  const values = scope.variables.get(name);
  if (values === undefined) return !scope.isOpen && !ownWords.test(name) && !(scope.isNested && isPositional(name));
  return values !== "unknown" && values.every((value) => !value.dynamic && /^-?\d*$/.test(value.value));
}

function isPositional(name: string): boolean {
  return /^([@*]|\d+)$/.test(name);
}

function combined(pieces: readonly Piece[], scope: Scope, depth: number): Value {
  let texts = [""];
  let glob = false;
  let origin: Origin | undefined;
  for (const piece of pieces) {
    const value = pieceValue(piece, { scope, depth, isAlone: pieces.length === 1 });
    texts = texts.flatMap((start) => value.texts.map((end) => start + end));
    glob ||= value.glob;
    if (value.origin) origin = worse(origin, value.origin);
    if (texts.length > mostTexts) return { texts: [], glob, origin: "made" };
  }
  return { texts, glob, ...(origin && { origin }) };
}

type Context = { scope: Scope; depth: number; isAlone: boolean };

const digits: Value = { texts: ["0"], glob: false };
/** Of a command that may fail: then it prints nothing. */
const digitsIfAny: Value = { texts: ["0", ""], glob: false };
const made: Value = { texts: [], glob: false, origin: "made" };

function pieceValue(piece: Piece, context: Context): Value {
  const { scope, depth } = context;
  switch (piece.kind) {
    case "text":
      return { texts: [piece.value], glob: false };
    case "number":
      return digits;
    case "variable":
      return variableValue(piece, context);
    case "part":
      return partValue(piece.name, context);
    case "choice":
      return united(piece.choices.map((pieces) => combined(pieces, scope, depth + 1)));
    case "output": {
      const { gives, mentions, isAlways } = outputOf(resolved(piece.commands, scope, depth + 1));
      if (gives === "token") return digitsIfAny;
      const nothing = isAlways ? [] : [""];
      return { texts: context.isAlone ? mentions.map((each) => each.value) : nothing, glob: true, origin: gives };
    }
    case "unknown":
      return made;
  }
}

/** `$(basename "$f")`: what the commands are given is looked up as well. */
function resolved(commands: Extract<Piece, { kind: "output" }>["commands"], scope: Scope, depth: number) {
  return commands.map(({ name, args }) => ({ name, args: args.map((arg) => meaningOf(arg, scope, depth + 1)) }));
}

function variableValue({ name, quoted }: { name: string; quoted: boolean }, context: Context): Value {
  const { scope, depth, isAlone } = context;
  if (numbers.test(name)) return digits;
  const words = scope.variables.get(name);
  scope.budget.left -= words?.length ?? 0;
  if (scope.budget.left < 0) return made;
  // Where words end is itself a variable.
  if (words === "unknown" || ownWords.test(name) || (!quoted && scope.variables.has("IFS"))) return made;
  const isOurs = scope.isOpen || (scope.isNested && isPositional(name));
  // What nobody has set is empty: `.e${x}nv` is then a name like any other.
  if (!words) return { texts: alwaysSet.test(name) ? [] : [""], glob: false, origin: isOurs ? "made" : "environment" };
  return united(
    words.map((word) => {
      const meaning = meaningOf(word, scope, depth + 1);
      const all = meaning.dynamic ? (meaning.others ?? []) : [meaning, ...(meaning.others ?? [])];
      const texts = all.map((each) => each.value);
      // A tilde that was expanded when it was assigned; blanks and patterns that count once more.
      const isOther =
        all.some((each) => each.tilde) || (!quoted && !isAlone && texts.some((text) => /[\s*?[]/.test(text)));
      const origin = isOther ? "made" : meaning.origin;
      return { texts, glob: !quoted && all.some((each) => each.glob), ...(origin && { origin }) };
    }),
  );
}

function partValue(name: string, context: Context): Value {
  const words = context.scope.variables.get(name);
  const whole = variableValue({ name, quoted: true }, context);
  const isFromOutside =
    whole.origin !== "made" &&
    (words === undefined || (words !== "unknown" && (whole.origin !== undefined || words.every((word) => word.glob))));
  return isFromOutside ? { texts: words ? [] : whole.texts, glob: false, origin: "derived" } : made;
}

function united(values: readonly Value[]): Value {
  const texts = values.flatMap((value) => value.texts);
  const origins = values.flatMap((value) => value.origin ?? []);
  const origin = origins.length > 0 ? origins.reduce(worse) : undefined;
  return { texts, glob: values.some((value) => value.glob), ...(origin && { origin }) };
}

/** Unquoted, what a variable holds falls apart at blanks. */
function splitWords(text: string, word: ShellWord, glob: boolean): ShellWord[] {
  const isSplit = /\s/.test(text) && (word.pieces ?? []).some((piece) => piece.kind === "variable" && !piece.quoted);
  const parts = isSplit ? text.split(/\s+/).filter(Boolean) : [text];
  return parts.map((value) => ({ text: word.text, value, dynamic: false, glob: glob || word.glob, tilde: word.tilde }));
}

/** What is left of `$x.txt` where the line has not set x yet, or does not at all. Its beginning and its end must be its own. */
function ownText(pieces: readonly Piece[]): string | undefined {
  let text = "";
  for (const piece of pieces) {
    if (piece.kind === "choice" || piece.kind === "number") return undefined;
    if (piece.kind === "text") text += piece.value;
  }
  return /^[^-/](.*[^/])?$/s.test(text) ? text : undefined;
}

function leadingText(word: ShellWord): string {
  let lead = "";
  for (const piece of word.pieces ?? []) {
    if (piece.kind !== "text") break;
    lead += piece.value;
  }
  return lead;
}

function isQuoted(piece: Piece): boolean {
  return piece.kind === "number" || ((piece.kind === "variable" || piece.kind === "output") && piece.quoted);
}

function worse(one: Origin | undefined, other: Origin): Origin {
  return one !== undefined && strictness[one] > strictness[other] ? one : other;
}
