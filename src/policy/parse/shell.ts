// The bash grammar, reduced to what permission and the wire need: simple commands, words, redirects.

import type { Redirection, SyntaxNode, WordPart } from "unbash";
import { forEachChild, parse } from "unbash";
import type { CommandArgType, ExecutableCommand } from "../../protocol/tool-shapes.ts";
import { ParseCheck } from "./parse-check.ts";
import type { CommandWords, ShellWord } from "./shell-word.ts";
import { argumentsOf, pipelineOf, wordOf } from "./shell-words.ts";
import { noteEvaluation, noteVariables } from "./side-effects.ts";
import { splitToken } from "./split-tokens.ts";

export type { ShellWord } from "./shell-word.ts";

/**
 * Beyond these a line is not parsed: it counts as unreadable, and unreadable is never allowed. The parser needs
 * quadratic time for piles of substitutions, here-documents and braces, so those are counted before it starts.
 */
const longestLine = 128 * 1024;
const mostNested = 300;
const deepestNesting = 150;
/** Beyond these the rest is not visited: what was found until then still counts for deny rules. */
const mostNodes = 12_000;
const longestPipeline = 50;
const longestArithmetic = 4000;
const mostCommands = 500;
const mostWords = 3000;

export type ShellRedirect = {
  operator: string;
  /** `text`: here-documents and here-strings; `copy`: descriptor copies such as `2>&1`. */
  direction: "in" | "out" | "text" | "copy";
  descriptors: number[];
  target?: ShellWord;
  /** What a here-document or here-string feeds, when it is known without running anything. */
  body?: string;
};

export type ShellCommand = {
  /** Missing for a line of assignments or redirects only. */
  name?: ShellWord;
  args: ShellWord[];
  assignments: { name: string; value: ShellWord | undefined; text: string }[];
  redirects: ShellRedirect[];
  /** Reads what another command of the line writes. */
  piped: boolean;
  /** The commands before it in its pipeline; undefined where not all of them are simple ones. */
  upstream?(): readonly CommandWords[] | undefined;
  /** Stands inside `$( )`, backticks or a process substitution. */
  substituted: boolean;
  /** Its place among the commands of the line that run one after another: the number of its statement, and its own in that. */
  chain?: { statement: number; position: number };
  /** Name and arguments as written, without assignments and redirects. */
  text: string;
};

export type ShellLine = {
  commands: ShellCommand[];
  /** All redirects, those of groups and loops included. */
  redirects: ShellRedirect[];
  functions: string[];
  /** What the variables that the line sets may hold. `unknown`: set in a way that cannot be followed. */
  variables: Map<string, readonly ShellWord[] | "unknown">;
  /** Assignments inside of expansions: `${x:=y}`. */
  assigns: string[];
  /** Constructs that evaluate data once more: `(( ))`, `[[ -v … ]]`, `${x@P}`, `${!x}`. */
  evaluates: string[];
  /** Words that are evaluated as arithmetic, which looks up names and runs what their subscripts hold. */
  computed: ShellWord[];
  /** Where the command's own text stands in quotes or in a here-document. */
  quoted: (readonly [from: number, to: number])[];
  /** Holds a command or process substitution. */
  substitutes: boolean;
  /** Why the line could not be read; what cannot be read is not allowed. */
  errors: string[];
  /** The shell may well read and run it where nobody here did: too much of it, or open to two readings. */
  isMisread: boolean;
};

/** `source`: what positions count in; `whole`: the command itself. `pipeline`: the members that a command stands among. `isLine`: all of it. */
type NodeVisit = {
  node: SyntaxNode;
  source: string;
  whole: string;
  piped: boolean;
  substituted: boolean;
  pipeline?: readonly SyntaxNode[];
  chain?: ShellCommand["chain"];
  isLine?: true;
};

export function parseShell(command: string): ShellLine {
  const line: ShellLine = {
    commands: [],
    redirects: [],
    functions: [],
    variables: new Map(),
    assigns: [],
    evaluates: [],
    computed: [],
    quoted: [],
    substitutes: false,
    errors: [],
    isMisread: false,
  };
  if (command.includes("\0")) line.errors.push("it contains a NUL character");
  const excess = excessOf(command);
  if (excess) {
    giveUp(line, excess);
    return line;
  }
  try {
    visitAll(parse(command), command, line);
  } catch (error) {
    // The parser promises not to throw; a line that breaks the promise is not understood.
    giveUp(line, `it could not be parsed (${String(error)})`);
  }
  return line;
}

function giveUp(line: ShellLine, why: string): void {
  line.errors.push(why);
  line.isMisread = true;
}

function excessOf(command: string): string | undefined {
  if (command.length > longestLine) return `it is longer than ${longestLine} characters`;
  return nestingExcess(command) ?? floodExcess(command);
}

function nestingExcess(command: string): string | undefined {
  let nested = 0;
  let depth = 0;
  let braces = 0;
  for (const [mark] of command.matchAll(/[$<>]\(|<<|[`){\s]/g)) {
    if (mark === "{") braces++;
    else if (mark === ")") depth = Math.max(0, depth - 1);
    else if (/\s/.test(mark)) braces = 0;
    else nested++;
    if (mark.endsWith("(")) depth++;
    if (nested > mostNested) return `it contains more than ${mostNested} substitutions and here-documents`;
    if (depth > deepestNesting) return `its substitutions are nested more than ${deepestNesting} deep`;
    if (braces > mostNested) return `a word in it contains more than ${mostNested} braces`;
  }
  return undefined;
}

/** Too many words or commands, as far as that shows without a parser: outside quotes, and before any here-document. */
function floodExcess(command: string): string | undefined {
  let words = 0;
  let separators = 0;
  const marks = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|<<|[;|&\n]+|[ \t]+/g;
  for (let mark = marks.exec(command); mark; mark = marks.exec(command)) {
    const [text] = mark;
    if (text === "<<") return undefined;
    if (/^[ \t]/.test(text)) words++;
    else if (/^[;|&\n]/.test(text)) separators++;
    if (words > mostWords) return `it contains more than ${mostWords} words`;
    if (separators > mostCommands) return `it contains more than ${mostCommands} commands`;
  }
  return undefined;
}

/** A stack of our own: a chain of a hundred thousand operators must not overflow the engine's. */
function visitAll(root: SyntaxNode, whole: string, line: ShellLine): void {
  const stack: NodeVisit[] = [{ node: root, source: whole, whole, piped: false, substituted: false, isLine: true }];
  const children: SyntaxNode[] = [];
  const check = /[$<>]\(|`/.test(whole) ? new ParseCheck() : undefined;
  let nodes = 0;
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    const { node } = visit;
    if (++nodes > mostNodes || line.commands.length > mostCommands) {
      giveUp(line, "it is too long to be read to the end");
      return;
    }
    const { source, piped, substituted } = note(node, visit, line);
    check?.note(node, visit.source);
    const pipeline = node.type === "Pipeline" ? node.commands : undefined;
    const chainOf = chains(visit);
    children.length = 0;
    if (node.type.startsWith("Arithmetic") && node.end - node.pos > longestArithmetic) {
      giveUp(line, "an arithmetic expression of it is too long");
      continue;
    }
    forEachChild(node, (child) => void children.push(child));
    for (let index = children.length - 1; index >= 0; index--) {
      const child = children[index]!;
      const isFed = pipeline !== undefined && child !== pipeline[0];
      stack.push({
        node: child,
        source,
        whole: visit.whole,
        piped: piped || isFed,
        substituted,
        ...(pipeline && { pipeline }),
        ...chainOf(index),
      });
    }
  }
  const problem = check?.problem() ?? splitToken(whole);
  if (problem) giveUp(line, problem);
}

/** Statements of the line itself, and in them commands that are joined by && only: these run in order. */
function chains({ isLine, chain, node }: NodeVisit): (index: number) => Pick<NodeVisit, "chain"> {
  if (isLine) return (index) => ({ chain: { statement: index, position: 0 } });
  if (chain && node.type === "Statement" && !node.background) return () => ({ chain });
  if (chain && node.type === "AndOr" && node.operators.every((operator) => operator === "&&"))
    return (index) => ({ chain: { ...chain, position: index } });
  return () => ({});
}

function note(node: SyntaxNode, visit: NodeVisit, line: ShellLine): NodeVisit {
  switch (node.type) {
    case "Script":
      for (const error of node.errors ?? []) line.errors.push(error.message);
      return node.source === undefined ? visit : { ...visit, source: node.source };
    case "Command": {
      if (node.args.length > mostWords || node.redirects.length > mostWords)
        giveUp(line, `it contains more than ${mostWords} words`);
      const command = simpleCommand(node, visit);
      line.commands.push(command);
      line.redirects.push(...command.redirects);
      return visit;
    }
    case "Redirected":
      line.redirects.push(...node.redirects.map(redirectOf));
      return visit;
    case "Function":
      line.functions.push(node.name.value);
      return visit;
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      line.substitutes = true;
      // A substitution whose body was not parsed is a command nobody has read.
      if (node.script === undefined) giveUp(line, "a substitution could not be read");
      noteEvaluation(node, line);
      // What runs inside reads what the command around it would read; `>( )` reads what that one writes.
      return {
        ...visit,
        substituted: true,
        piped: visit.piped || (node.type === "ProcessSubstitution" && node.operator === ">"),
      };
    case "SingleQuoted":
    case "DoubleQuoted":
    case "AnsiCQuoted":
    case "LocaleString":
    case "HereDocBody":
      if (visit.source === visit.whole) line.quoted.push([node.pos, node.end]);
      return visit;
    default:
      noteVariables(node, line);
      noteEvaluation(node, line);
      return visit;
  }
}

function simpleCommand(node: Extract<SyntaxNode, { type: "Command" }>, visit: NodeVisit): ShellCommand {
  const args: ShellWord[] = [];
  for (const argument of node.args.slice(0, mostWords)) args.push(...argumentsOf(argument));
  const assignments: ShellCommand["assignments"] = [];
  for (const prefix of node.prefix) {
    if (prefix.type !== "Assignment") continue;
    const value = prefix.value.type === "Word" ? wordOf(prefix.value) : undefined;
    assignments.push({ name: prefix.name, value, text: prefix.text });
  }
  const { pipeline } = visit;
  return {
    ...(node.name ? { name: wordOf(node.name) } : {}),
    args,
    assignments,
    redirects: node.redirects.slice(0, mostWords).map(redirectOf),
    piped: visit.piped,
    ...(pipeline &&
      pipeline.length <= longestPipeline && { upstream: () => pipelineOf(pipeline.slice(0, pipeline.indexOf(node))) }),
    substituted: visit.substituted,
    ...(visit.chain && { chain: visit.chain }),
    text: textOf(node, visit.source),
  };
}

/** The source from the name to the last argument, unless a redirect stands between: then the words, joined. */
function textOf(node: Extract<SyntaxNode, { type: "Command" }>, source: string): string {
  if (!node.name) return "";
  const last = node.args.at(-1) ?? node.name;
  const interrupted = node.redirects.some((redirect) => redirect.pos > node.name!.pos && redirect.pos < last.end);
  if (!interrupted) return source.slice(node.name.pos, last.end);
  return [node.name, ...node.args].map((word) => word.text).join(" ");
}

function redirectOf(node: Redirection): ShellRedirect {
  const explicit = node.descriptor?.type === "FileDescriptor" ? [node.descriptor.value] : undefined;
  if (node.type === "HereDoc") {
    const body = node.delimiter?.quoted ? { body: node.body.text } : expandedBody(node.body);
    return { operator: node.operator, direction: "text", descriptors: explicit ?? [0], ...body };
  }
  const target = node.target ? wordOf(node.target) : undefined;
  if (node.type === "HereString") {
    const body = target && !target.dynamic ? { body: target.value } : {};
    return {
      operator: node.operator,
      direction: "text",
      descriptors: explicit ?? [0],
      ...(target && { target }),
      ...body,
    };
  }
  const both = node.operator === "&>" || node.operator === "&>>";
  const input = node.operator === "<" || node.operator === "<&";
  const copies = /^[<>]&$/.test(node.operator) && target !== undefined && /^(\d+-?|-)$/.test(target.value);
  return {
    operator: node.operator,
    direction: copies ? "copy" : input ? "in" : "out",
    descriptors: explicit ?? (both ? [1, 2] : node.operator.startsWith("<") ? [0] : [1]),
    ...(target && { target }),
  };
}

/** The text of a here-document without quotes: what a backslash protects is known, what is expanded is not. */
function expandedBody({ text, parts }: { text: string; parts?: readonly WordPart[] }): { body?: string } {
  return parts ? {} : { body: text.replace(/\\([$`\\\n])/g, (_, mark) => (mark === "\n" ? "" : mark)) };
}

/** The parser's account of a command, as the stream spells it. */
export type CommandDescription = {
  simpleCommands: string[];
  hasInputRedirect: boolean;
  hasOutputRedirect: boolean;
  parsingResult: {
    parsingFailed: boolean;
    executableCommands: ExecutableCommand[];
    hasRedirects: boolean;
    hasCommandSubstitution: boolean;
    allRedirectsAreDevNull?: boolean;
    redirects: { operator: string; destinationFds: number[]; targetNodeType: string; targetText?: string }[];
  };
};

export function describeCommand(command: string): CommandDescription {
  const line = parseShell(command);
  const failed = line.errors.length > 0;
  const named = failed ? [] : line.commands.filter((simple) => simple.name !== undefined);
  const redirects = failed ? [] : line.redirects;
  return {
    simpleCommands: named.map((simple) => simple.name!.text),
    hasInputRedirect: redirects.some((redirect) => redirect.operator.startsWith("<")),
    hasOutputRedirect: redirects.some((redirect) => redirect.operator.includes(">")),
    parsingResult: {
      parsingFailed: failed,
      executableCommands: named.map((simple) => ({
        name: simple.name!.text,
        args: simple.args.map((word) => ({ type: wireType(word), value: word.text })),
        fullText: simple.text,
      })),
      hasRedirects: redirects.length > 0,
      hasCommandSubstitution: !failed && line.substitutes,
      ...(redirects.length > 0 && { allRedirectsAreDevNull: redirects.every(goesNowhere) }),
      redirects: redirects.map(wireRedirect),
    },
  };
}

function goesNowhere(redirect: ShellRedirect): boolean {
  return redirect.direction === "copy" || redirect.target?.value === "/dev/null";
}

function wireRedirect(redirect: ShellRedirect): CommandDescription["parsingResult"]["redirects"][number] {
  if (redirect.direction === "text") {
    const targetNodeType = redirect.operator === "<<<" ? "herestring_redirect" : "heredoc_redirect";
    return { operator: "", destinationFds: [], targetNodeType };
  }
  const { operator, descriptors, target } = redirect;
  const targetNodeType = wireType(target!);
  const shown = target!.dynamic ? {} : { targetText: target!.text };
  return { operator, destinationFds: descriptors, targetNodeType, ...shown };
}

function wireType(word: ShellWord): CommandArgType {
  const { text } = word;
  if (/^-?\d+$/.test(text)) return "number";
  if (/^'[^']*'$/.test(text)) return "raw_string";
  if (/^\$'(?:[^'\\]|\\.)*'$/s.test(text)) return "ansi_c_string";
  if (/^"(?:[^"\\]|\\.)*"$/s.test(text)) return "string";
  if (/^\$\w+$/.test(text)) return "simple_expansion";
  if (/^\$\{[^{}]*\}$/.test(text)) return "expansion";
  if (/^\$\([^()]*\)$/.test(text) || /^`[^`]*`$/.test(text)) return "command_substitution";
  if (/^[<>]\([^()]*\)$/.test(text)) return "process_substitution";
  return word.dynamic || /["']/.test(text) ? "concatenation" : "word";
}
