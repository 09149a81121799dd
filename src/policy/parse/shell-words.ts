// Converts parsed words: removes quotes, and lists what the shell still has to expand.
import type { CommandArgument, ParsedScript, SyntaxNode, Word, WordPart } from "unbash";
import { type CommandWords, literalWord, type ShellWord, type WordPiece } from "./shell-word.ts";

export function wordOf(word: Word): ShellWord {
  const found = { dynamic: false, glob: false };
  for (const part of word.parts ?? []) inspect(part, found);
  const plain = { text: word.text, value: word.value, ...found, tilde: word.text.startsWith("~") };
  return found.dynamic ? { ...plain, pieces: piecesOf(word.parts!, { quoted: false }) } : plain;
}

/** Expands the braces of a word, which depend on nothing but the text. */
export function expandedWords(word: Word): ShellWord[] {
  const parts = word.parts ?? [];
  if (!parts.some((part) => part.type === "BraceExpansion")) return [wordOf(word)];
  // Quotes, escapes and other expansions inside braces depend on the shell's order of expansion.
  const isPlain = parts.every((part) => /^(BraceExpansion|Literal|Glob)$/.test(part.type));
  const expanded = isPlain && !/[\\'"`$]/.test(word.text) ? braceWords(word.text) : undefined;
  if (!expanded) return [wordOf(word)];
  return expanded.map((value) => ({ ...literalWord(value), glob: /[*?[]/.test(value) }));
}

export function argumentsOf(argument: CommandArgument): ShellWord[] {
  if (argument.type === "Word") return expandedWords(argument);
  // `declare x=1` and `env x=1` have an argument that looks like an assignment.
  const value = argument.value.type === "Word" ? wordOf(argument.value) : undefined;
  const prefix = `${argument.name}${argument.append ? "+" : ""}=`;
  return [
    {
      text: argument.text,
      value: value && !argument.index ? prefix + value.value : argument.text,
      dynamic: value && !argument.index ? value.dynamic : true,
      glob: value?.glob ?? false,
      tilde: false,
      ...(value?.pieces && { pieces: [{ kind: "text", value: prefix }, ...value.pieces] }),
    },
  ];
}

/** Converts a word of an arithmetic expression, where the parser lists no parts for a plain `$x`. */
export function arithmeticWord(value: string, parts: readonly WordPart[] | undefined): ShellWord {
  const name = /^\$(\w+|[?#$!])$/.exec(value)?.[1];
  const variable: WordPiece = name === undefined ? { kind: "unknown" } : { kind: "variable", name, quoted: true };
  const pieces = parts ? piecesOf(parts, { quoted: true }) : [variable];
  return { ...literalWord(value), dynamic: parts !== undefined || /[$`]/.test(value), pieces };
}

/** Describes a command's output that is used in arithmetic. */
export function arithmeticOutput(text: string, script: ParsedScript | undefined): ShellWord {
  const commands = script && outputCommands(script);
  const piece: WordPiece = commands ? { kind: "output", commands, quoted: true } : { kind: "unknown" };
  return { ...literalWord(text), dynamic: true, pieces: [piece] };
}

function inspect(part: WordPart, found: { dynamic: boolean; glob: boolean }): void {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return;
    case "DoubleQuoted":
    case "LocaleString":
      for (const child of part.parts) inspect(child, found);
      return;
    case "Glob":
    case "ExtendedGlob":
      found.glob = true;
      for (const child of part.parts ?? []) inspect(child, found);
      return;
    default:
      found.dynamic = true;
  }
}

function piecesOf(parts: readonly WordPart[], context: { quoted: boolean }): WordPiece[] {
  return parts.flatMap((part) => pieceOf(part, context));
}

function pieceOf(part: WordPart, { quoted }: { quoted: boolean }): WordPiece[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return [{ kind: "text", value: part.value }];
    case "ExtendedGlob":
      return [{ kind: "text", value: part.text }];
    case "DoubleQuoted":
    case "LocaleString":
      return piecesOf(part.parts, { quoted: true });
    case "SimpleExpansion":
      return [{ kind: "variable", name: part.text.slice(1), quoted }];
    case "ParameterExpansion":
      return [parameterPiece(part, quoted)];
    case "ArithmeticExpansion":
      return [{ kind: "number" }];
    case "CommandExpansion": {
      const commands = part.script && outputCommands(part.script);
      if (commands) return [{ kind: "output", commands, quoted }];
      const body = quoted ? repeatedBody(part.script) : undefined;
      return [body === undefined ? { kind: "unknown" } : { kind: "output", commands: [], quoted, body }];
    }
    case "ProcessSubstitution":
      // The command inside is judged separately; the word expands to the name of a pipe.
      return [{ kind: "text", value: "/dev/fd/63" }];
    default:
      return [{ kind: "unknown" }];
  }
}

function parameterPiece(part: Extract<WordPart, { type: "ParameterExpansion" }>, quoted: boolean): WordPiece {
  const { operation, parameter: name } = part;
  if (part.prefix === "#") return { kind: "number" };
  if (part.prefix || part.index) return { kind: "unknown" };
  const variable: WordPiece = { kind: "variable", name, quoted };
  switch (operation?.type) {
    case undefined:
      return variable;
    case "Default": {
      const { operand } = operation;
      const other: WordPiece[] = operand.parts
        ? piecesOf(operand.parts, { quoted })
        : [{ kind: "text", value: operand.value }];
      // Outside quotes the word is split, and its own quotes apply.
      if (!quoted && /[\s'"\\*?[~]/.test(operand.text)) return { kind: "unknown" };
      if (operation.operator.endsWith("?")) return variable;
      return { kind: "choice", choices: [operation.operator.endsWith("+") ? [] : [variable], other] };
    }
    case "Remove":
    case "CaseModification":
      return { kind: "part", name };
    default:
      return { kind: "unknown" };
  }
}

/** Returns the commands of `$(a | b)`, or undefined if it is not a single pipeline of simple commands. */
function outputCommands(script: ParsedScript): CommandWords[] | undefined {
  if (script.commands.length !== 1) return undefined;
  const { command, background } = script.commands[0]!;
  if (background || command.type === "AndOr") return undefined;
  return pipelineOf(command.type === "Pipeline" ? command.commands : [command]);
}

/** Returns the text of `$(cat <<'END' … )`, which cat only repeats. */
function repeatedBody(script: ParsedScript | undefined): string | undefined {
  const [{ command, background } = {}, ...others] = script?.commands ?? [];
  if (command?.type !== "Command" || background || others.length > 0) return undefined;
  const { name, prefix, args, redirects } = command;
  const [first, ...more] = redirects;
  const isPlain = name?.text === "cat" && prefix.length + args.length + more.length === 0;
  if (!isPlain || first?.type !== "HereDoc") return undefined;
  if (!first.delimiter?.quoted && (first.body.parts || first.body.text.includes("\\"))) return undefined;
  return first.body.text.replace(/\n+$/, "");
}

/** Returns the commands of a pipeline; undefined if one is not a simple command or has redirected input. */
export function pipelineOf(members: readonly SyntaxNode[]): CommandWords[] | undefined {
  const found: CommandWords[] = [];
  for (const member of members) {
    if (member.type !== "Command" || !member.name || member.prefix.length > 0) return undefined;
    if (member.redirects.some((each) => each.type !== "Redirect" || each.operator.startsWith("<"))) return undefined;
    found.push({ name: wordOf(member.name), args: member.args.flatMap(argumentsOf) });
  }
  return found;
}

const maxWords = 256;

/** Expands the braces of an unquoted text. Returns undefined if there are too many words or bash may differ. */
function braceWords(text: string): string[] | undefined {
  // An empty word is dropped, unless it is next to other text.
  return expandBrace(text)?.filter((word) => word !== "");
}

function expandBrace(text: string): string[] | undefined {
  const group = firstGroup(text);
  if (group === "unsure") return undefined;
  if (!group) return [text];
  const rest = expandBrace(text.slice(group.end));
  if (!rest) return undefined;
  const found: string[] = [];
  for (const choice of group.choices) {
    const inner = expandBrace(choice);
    if (!inner || found.length + inner.length * rest.length > maxWords) return undefined;
    for (const middle of inner) for (const end of rest) found.push(text.slice(0, group.start) + middle + end);
  }
  return found;
}

type BraceGroup = { start: number; end: number; choices: Iterable<string> };

function firstGroup(text: string): BraceGroup | "unsure" | undefined {
  const start = text.indexOf("{");
  if (start === -1) return undefined;
  const edges = [start];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "," && depth === 1) edges.push(at);
    else if (text[at] === "}" && --depth === 0) {
      const choices = edges.length > 1 ? partsBetween(text, [...edges, at]) : expandRange(text.slice(start + 1, at));
      return choices ? { start, end: at + 1, choices } : "unsure";
    }
  }
  return "unsure";
}

function partsBetween(text: string, edges: readonly number[]): string[] {
  return edges.slice(1).map((edge, index) => text.slice(edges[index]! + 1, edge));
}

/** Expands only `1..5`. Bash keeps leading zeros, steps and letters are rare, and `{a}` is not a list: these stay unknown. */
function expandRange(text: string): Iterable<string> | undefined {
  const ends = /^(-?(?:0|[1-9]\d{0,8}))\.\.(-?(?:0|[1-9]\d{0,8}))$/.exec(text);
  return ends ? numberTexts(Number(ends[1]), Number(ends[2])) : undefined;
}

function* numberTexts(from: number, to: number): Generator<string> {
  const step = Math.sign(to - from) || 1;
  for (let number = from; number !== to + step; number += step) yield String(number);
}
