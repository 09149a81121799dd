// Expands words as far as the line defines them: loop variables, assignments, defaults, and commands with known output.

import type { ShellCommand, ShellLine } from "../parse/shell.ts";
import type { ShellWord, WordOrigin, WordPiece } from "../parse/shell-word.ts";
import { words } from "../programs/command-names.ts";
import { isOption } from "../programs/read-options.ts";
import { predictOutput } from "./predicted-output.ts";

/** The possible values of the line's variables. `unknown` means that they cannot be determined. */
type VariableValues = Map<string, readonly ShellWord[] | "unknown">;

/** With `isNested`, the line itself sets `$1`. With `isOpen`, any variable may have been set. */
export type VariableScope = {
  variables: Readonly<VariableValues>;
  isNested: boolean;
  isOpen: boolean;
  /** Limits lookups, because variables that contain each other multiply. */
  budget: { left: number };
  /** The variables that are being looked up, to detect loops. */
  open: Set<string>;
};

const maxTexts = 64;
const strictness: Record<WordOrigin, number> = { names: 0, environment: 1, derived: 2, made: 3 };

/** Variables that are numeric or empty, unless the line sets them. */
const numbers =
  /^([?$!#]|RANDOM|SECONDS|EPOCHSECONDS|LINENO|UID|EUID|PPID|BASHPID|SHLVL|COLUMNS|LINES|OPTIND|HISTCMD|PIPESTATUS|COPROC(_PID)?)$/;
/** Variables that are always set and not empty. */
const alwaysSet = new Map([
  ["PWD", ["."]],
  ["HOME", []],
]);
/** Matches variables that contain parts of the line itself. */
const ownWords = /^(_|BASH_.*|REPLY|MAPFILE|OPTARG|DIRSTACK|OLDPWD|FUNCNAME|IFS)$/;

/** The known texts that a piece may be, and an origin if there are unknown ones. */
type ExpandedText = { texts: readonly string[]; glob?: boolean; origin?: WordOrigin };

/** Returns a word that is not dynamic if the line defines it; otherwise sets its origin and possible values in `others`. */
export function expandWord(word: ShellWord, scope: VariableScope): ShellWord {
  if (!word.dynamic) return word;
  const pieces = word.pieces ?? unknown;
  const { texts, glob = false, origin } = combinePieces(pieces, scope);
  const all = texts.flatMap((text) => splitWords(text, word, glob));
  const words = all.filter((each) => each.value !== "");
  // An option that appears only on expansion counts as generated.
  const hides =
    !beginsUnset(pieces, scope) && leadingText(word) === "" && words.some((each) => each.value.startsWith("-"));
  const bare = ownText(pieces);
  if (bare !== undefined && !texts.includes(bare)) words.push(...splitWords(bare, word, glob));
  if (origin || hides) return { ...word, origin: hides ? "made" : origin!, others: words };
  const [first, ...others] = words;
  if (!first) return { ...word, value: "", dynamic: false };
  return others.length > 0 ? { ...first, others } : first;
}

const unknown: readonly WordPiece[] = [{ kind: "unknown" }];

/** `$VERSION-beta` is an option only if the variable is unset; `unsetReading` handles that. */
function beginsUnset([first]: readonly WordPiece[], { variables }: VariableScope): boolean {
  return (first?.kind === "variable" || first?.kind === "part") && !variables.has(first.name);
}

/** Returns whether the shell may expand it to an option or to several words. */
export function mayBeOption(word: ShellWord): boolean {
  if (!word.dynamic || (word.origin !== "made" && word.origin !== "derived")) return false;
  const lead = leadingText(word);
  const isFixed = lead !== "" && (!lead.startsWith("-") || lead.includes("="));
  return !isFixed || !(word.pieces ?? []).every((piece) => piece.kind === "text" || isQuoted(piece));
}

/** Returns whether a word evaluated as arithmetic can only be a number. Names are resolved, and their values evaluated again. */
export function isNumeric(word: ShellWord, scope: VariableScope): boolean {
  const pieces: readonly WordPiece[] = word.dynamic ? (word.pieces ?? unknown) : [{ kind: "text", value: word.value }];
  return pieces.every((piece) => {
    if (piece.kind === "text") return isPlainArithmetic(piece.value, scope);
    if (piece.kind === "variable") return isNumber(piece.name, scope);
    if (piece.kind === "output") return predictOutput(resolveOutput(piece.commands, scope)).gives === "token";
    return piece.kind === "number";
  });
}

/** Accepts numbers, operators and names whose values are numbers. */
function isPlainArithmetic(text: string, scope: VariableScope): boolean {
  if (!/^[\w\s+\-*/%()<>=!&|^~?:,.#@[\]]*$/.test(text)) return false;
  return [...text.matchAll(/[A-Za-z_]\w*/g)].every(([name]) => isNumber(name, scope));
}

function isNumber(name: string, scope: VariableScope): boolean {
  const values = scope.variables.get(name);
  if (values !== undefined) return values !== "unknown" && values.every((value) => /^-?\d*$/.test(value.value));
  return numbers.test(name) || !(scope.isOpen || ownWords.test(name) || (scope.isNested && isPositional(name)));
}

function isPositional(name: string): boolean {
  return /^([@*]|\d+)$/.test(name);
}

function combinePieces(pieces: readonly WordPiece[], scope: VariableScope): ExpandedText {
  let texts = [""];
  let glob = false;
  let origin: WordOrigin | undefined;
  for (const piece of pieces) {
    const value = pieceValue(piece, scope);
    texts = texts.flatMap((start) => value.texts.map((end) => start + end));
    glob ||= value.glob === true;
    if (value.origin) origin = worseOrigin(origin, value.origin);
    if (texts.length > maxTexts) return computed;
  }
  return { texts, glob, ...(origin && { origin }) };
}

const digits: ExpandedText = { texts: ["0"] };
/** For a command that prints nothing if it fails, or a variable that only some shells have. */
const digitsIfAny: ExpandedText = { texts: ["0", ""] };
const computed: ExpandedText = { texts: [], origin: "made" };

function pieceValue(piece: WordPiece, scope: VariableScope): ExpandedText {
  switch (piece.kind) {
    case "text":
      return { texts: [piece.value] };
    case "number":
      return digits;
    case "variable":
      return variableValue(piece, scope);
    case "part":
      return partValue(piece.name, scope);
    case "choice":
      return uniteValues(piece.choices.map((pieces) => combinePieces(pieces, scope)));
    case "output": {
      // In a function or a sourced file, cat could be another.
      if (piece.body !== undefined && !scope.isNested && !scope.isOpen) return { texts: [piece.body] };
      const { gives, mentions, isAlways } = predictOutput(resolveOutput(piece.commands, scope));
      if (gives === "token") return digitsIfAny;
      const texts = mentions.map((each) => each.value);
      return { texts: isAlways ? texts : [...texts, ""], glob: true, origin: gives };
    }
    case "unknown":
      return computed;
  }
}

/** `$(basename "$f")`: expands the arguments of the commands as well. */
function resolveOutput(commands: Extract<WordPiece, { kind: "output" }>["commands"], scope: VariableScope) {
  return commands.map(({ name, args }) => ({ name, args: args.map((arg) => expandWord(arg, scope)) }));
}

function variableValue({ name, quoted }: { name: string; quoted: boolean }, scope: VariableScope): ExpandedText {
  const words = scope.variables.get(name);
  // The value of IFS decides where words are split.
  if (words === "unknown" || ownWords.test(name) || (!quoted && scope.variables.has("IFS"))) return computed;
  if (words) return variableTexts(name, words, quoted, scope);
  if (numbers.test(name)) return digitsIfAny;
  const isOurs = scope.isOpen || (scope.isNested && isPositional(name));
  // An unset variable is empty, so `.e${x}nv` is an ordinary name.
  return { texts: alwaysSet.get(name) ?? [""], origin: isOurs ? "made" : "environment" };
}

function variableTexts(name: string, words: readonly ShellWord[], quoted: boolean, scope: VariableScope): ExpandedText {
  scope.budget.left -= words.length;
  // For `x=$x.y` the value differs in each iteration.
  if (scope.budget.left < 0 || scope.open.has(name)) return computed;
  scope.open.add(name);
  const values = words.map((word) => {
    const expanded = expandWord(word, scope);
    const others = expanded.others ?? [];
    const all = expanded.dynamic ? others : [expanded, ...others];
    const texts = all.map((each) => each.value);
    // A tilde was expanded on assignment; a glob is expanded on unquoted use.
    const origin = all.some((each) => each.tilde) ? "made" : expanded.origin;
    const glob = all.some((each) => each.glob) || (!quoted && texts.some((text) => /[*?[]/.test(text)));
    return { texts, glob, ...(origin && { origin }) };
  });
  scope.open.delete(name);
  return uniteValues(values);
}

function partValue(name: string, scope: VariableScope): ExpandedText {
  const words = scope.variables.get(name);
  const { origin, ...whole } = variableValue({ name, quoted: true }, scope);
  // A part of an existing name or of a user's variable; of a value that the line sets, it could be any part.
  const isOutside = origin === undefined ? words !== "unknown" && words?.every((word) => word.glob) : origin !== "made";
  return isOutside ? { ...whole, origin: "derived" } : computed;
}

function uniteValues(values: readonly ExpandedText[]): ExpandedText {
  const texts = values.flatMap((value) => value.texts);
  const origins = values.flatMap((value) => value.origin ?? []);
  const origin = origins.length > 0 ? origins.reduce(worseOrigin) : undefined;
  return { texts, glob: values.some((value) => value.glob), ...(origin && { origin }) };
}

/** Splits the value of an unquoted variable or substitution at blanks. */
function splitWords(text: string, word: ShellWord, glob: boolean): ShellWord[] {
  const isSplit = (word.pieces ?? []).some((piece) => "quoted" in piece && !piece.quoted);
  const parts = isSplit ? text.split(/\s+/).filter(Boolean) : [text];
  return parts.map((value) => ({ text: word.text, value, dynamic: false, glob: glob || word.glob, tilde: word.tilde }));
}

/** Returns what is left of `$x.txt` if x is unset, unless that begins with `-` or `/`, or ends with `/`. */
function ownText(pieces: readonly WordPiece[]): string | undefined {
  let text = "";
  for (const piece of pieces) {
    if (piece.kind === "number") return undefined;
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

function isQuoted(piece: WordPiece): boolean {
  return piece.kind === "number" || ((piece.kind === "variable" || piece.kind === "output") && piece.quoted);
}

function worseOrigin(one: WordOrigin | undefined, other: WordOrigin): WordOrigin {
  return one !== undefined && strictness[one] > strictness[other] ? one : other;
}

/** Returns the arguments with variables unset, if that makes options of them: `find . $x-delete`. Undefined if there are none. */
export function unsetReading(args: readonly ShellWord[]): ShellWord[] | undefined {
  if (!args.some((arg) => arg.dynamic && arg.others?.some(isOption))) return undefined;
  return args.map((arg) => (arg.dynamic && arg.others?.find(isOption)) || arg);
}

/** Returns the arguments with each of the values that the line gives them, and with all of them; undefined if there are too many. */
export function readingsOf(words: readonly ShellWord[], args: readonly ShellWord[]): ShellWord[][] | undefined {
  const values = args.map(({ others = [], ...word }) =>
    word.dynamic ? [word] : [word, ...others].map((each) => ({ ...each, text: each.value })),
  );
  const most = Math.max(1, ...values.map(({ length }) => length));
  const sources = new Set(
    words.flatMap(({ text, pieces = [] }) =>
      pieces.flatMap((piece) => (piece.kind === "text" ? [] : "name" in piece ? piece.name : text)),
    ),
  );
  let readings: ShellWord[][] = [[]];
  // Words that take their values from one variable have them at the same time.
  if (sources.size === 1)
    readings = Array.from({ length: most }, (_, at) => values.map((each) => each[at] ?? each[0]!));
  else
    for (const each of values) {
      readings = readings.flatMap((start) => each.map((word) => [...start, word]));
      if (readings.length > maxTexts) return undefined;
    }
  return most === 1 ? [] : [...readings.slice(1), values.flat()];
}

/** Built-ins that store what they read or compute in the variables they are given. */
const setters = words("read mapfile readarray getopts printf unset declare typeset local readonly export");
/** Built-ins that keep the value of a variable when they only name it. */
const keepers = words("declare typeset local readonly export");
/** After these, any variable that the line does not set may hold anything. */
const openers = words("eval source . trap enable");
/** Options that alias a variable or change the case of its value. */
const changesValues = /^-\w*[nlu]/;

const maxLookUps = 2000;

/** Builds the scope of a line from its own variables and those of the enclosing line. */
export function scopeOf(line: ShellLine, outer: VariableScope | undefined): VariableScope {
  const variables: VariableValues = new Map(outer?.variables);
  for (const [name, values] of line.variables) {
    const before = variables.get(name) ?? [];
    variables.set(name, values === "unknown" || before === "unknown" ? "unknown" : [...before, ...values]);
  }
  let isOpen = outer?.isOpen === true;
  let isNested = outer !== undefined || line.functions.length > 0;
  for (const command of line.commands) {
    const { base, args } = builtinOf(command);
    if (openers.has(base)) isOpen = true;
    if (base === "set") isNested = true;
    if (base === "eval" || base === "trap") for (const arg of args) setByCode(arg, variables);
    const isFollowed = !args.some((arg) => changesValues.test(arg.value));
    const isOnlyNamed = (arg: ShellWord) => isFollowed && keepers.has(base) && /^\w+$/.test(arg.value);
    if (setters.has(base)) for (const arg of args) if (!isOnlyNamed(arg)) noteVariableSetBy(arg, variables, isFollowed);
  }
  return { variables, isNested, isOpen, budget: outer?.budget ?? { left: maxLookUps }, open: new Set() };
}

/** Reads `builtin -- read x` as `read x`; an unknown name may be `eval`. */
function builtinOf({ name, args }: ShellCommand): { base: string; args: readonly ShellWord[] } {
  if (name?.dynamic) return { base: "eval", args };
  if (name?.value !== "command" && name?.value !== "builtin") return { base: name?.value ?? "", args };
  const at = args.findIndex((arg) => !isOption(arg));
  return { base: args[at]?.value ?? "", args: args.slice(at + 1) };
}

function noteVariableSetBy(word: ShellWord, variables: VariableValues, isFollowed: boolean): void {
  const name = /^[A-Za-z_]\w*/.exec(word.value)?.[0];
  // `export x=1` was recorded as an assignment; words that only look like one are not followed.
  const isNoted = name !== undefined && variables.has(name) && word.text.startsWith(`${name}=`);
  if (name && !(isNoted && isFollowed)) variables.set(name, "unknown");
}

/** Marks every name that a script mentions without reading it as unknown. */
function setByCode({ value }: ShellWord, variables: VariableValues): void {
  for (const [name] of value.matchAll(/(?<![\w$])(?<!\$\{)[A-Za-z_]\w*/g)) variables.set(name, "unknown");
}
