// Parses bash and reduces it to what permissions and the stream need: simple commands, words, redirects.

import type { Redirection, SyntaxNode, WordPart } from "unbash";
import { forEachChild, parse } from "unbash";
import type { CommandArgType, ExecutableCommand } from "../../protocol/tool-shapes.ts";
import { ParseCheck, splitToken } from "./parse-check.ts";
import type { CommandWords, ShellWord } from "./shell-word.ts";
import { argumentsOf, pipelineOf, wordOf } from "./shell-words.ts";
import { noteEvaluation, noteVariables } from "./side-effects.ts";

export type { ShellWord } from "./shell-word.ts";

/**
 * A line beyond these limits is not parsed; it counts as unreadable and is never allowed. The parser takes quadratic time for many
 * substitutions, here-documents and braces, so these are counted first.
 */
const longestLine = 128 * 1024;
const maxNested = 300;
const deepestNesting = 150;
/** Limits for visiting a line. What was found before one was reached still counts for deny rules. */
const maxNodes = 12_000;
const longestPipeline = 50;
const longestArithmetic = 4000;
const maxCommands = 500;
const maxWords = 3000;

export type ShellRedirect = {
  operator: string;
  /** `text` is a here-document or here-string; `copy` is a descriptor copy such as `2>&1`. */
  direction: "in" | "out" | "text" | "copy";
  descriptors: number[];
  target?: ShellWord;
  /** The text of a here-document or here-string, if it is known without running anything. */
  body?: string;
};

/** A command in a shell line. */
export type ShellCommand = {
  /** The program's name; undefined if there are only assignments or redirects. */
  name?: ShellWord;
  args: ShellWord[];
  assignments: { name: string; value: ShellWord | undefined; text: string }[];
  redirects: ShellRedirect[];
  /** Whether the command reads the output of another command in the line. */
  piped: boolean;
  /** Returns the commands before it in its pipeline, or undefined if not all of them are simple commands. */
  upstream?(): readonly CommandWords[] | undefined;
  /** Whether the command is inside `$( )`, backticks or a process substitution. */
  substituted: boolean;
  /** Its place among commands that run one after another: the index of its statement, and its index in that. */
  chain?: { statement: number; position: number };
  /** The name and arguments as written, without assignments and redirects. */
  text: string;
};

/** A parsed shell line. */
export type ShellLine = {
  commands: ShellCommand[];
  /** All redirects of the line, including those of groups and loops. */
  redirects: ShellRedirect[];
  functions: string[];
  /** The possible values of variables that the line sets. `unknown` means that they cannot be determined. */
  variables: Map<string, readonly ShellWord[] | "unknown">;
  /** Assignments that are part of expansions: `${x:=y}`. */
  assigns: string[];
  /** Constructs that evaluate data again: `(( ))`, `[[ -v … ]]`, `${x@P}`, `${!x}`. */
  evaluates: string[];
  /** Words evaluated as arithmetic, which resolves names and runs commands in their subscripts. */
  computed: ShellWord[];
  /** The spans of the command's text that are in quotes or a here-document. */
  quoted: (readonly [from: number, to: number])[];
  /** Whether the line contains a command or process substitution. */
  substitutes: boolean;
  /** Why the line could not be parsed; such a line is not allowed. */
  errors: string[];
  /** Set if the shell may run parts that were not parsed: the line is too long, or can be read in two ways. */
  isMisread: boolean;
};

/** `source`: the text that positions refer to. `whole`: the command itself. `pipeline`: a command's siblings. `isLine`: the whole line. */
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

/** Parses a shell line. */
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
    // If the parser throws, which it should never do, the line counts as unreadable.
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
  for (const [mark] of command.matchAll(/[$<>]\(|\$\[|<<|[`){\s]/g)) {
    if (mark === "{") braces++;
    else if (mark === ")") depth = Math.max(0, depth - 1);
    else if (/\s/.test(mark)) braces = 0;
    else nested++;
    if (mark.endsWith("(")) depth++;
    if (nested > maxNested) return `it contains more than ${maxNested} substitutions and here-documents`;
    if (depth > deepestNesting) return `its substitutions are nested more than ${deepestNesting} deep`;
    if (braces > maxNested) return `a word in it contains more than ${maxNested} braces`;
  }
  return undefined;
}

/** Counts words and commands without a parser, outside quotes and before any here-document, and reports too many. */
function floodExcess(command: string): string | undefined {
  let words = 0;
  let separators = 0;
  const marks = /'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|<<|[;|&\n]+|[ \t]+/g;
  for (let mark = marks.exec(command); mark; mark = marks.exec(command)) {
    const [text] = mark;
    if (text === "<<") return undefined;
    if (/^[ \t]/.test(text)) words++;
    else if (/^[;|&\n]/.test(text)) separators++;
    if (words > maxWords) return `it contains more than ${maxWords} words`;
    if (separators > maxCommands) return `it contains more than ${maxCommands} commands`;
  }
  return undefined;
}

/** Uses an explicit stack: a chain of a hundred thousand operators must not overflow the call stack. */
function visitAll(root: SyntaxNode, whole: string, line: ShellLine): void {
  const stack: NodeVisit[] = [{ node: root, source: whole, whole, piped: false, substituted: false, isLine: true }];
  const children: SyntaxNode[] = [];
  const check = /[$<>]\(|`/.test(whole) ? new ParseCheck() : undefined;
  let nodes = 0;
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    const { node } = visit;
    if (++nodes > maxNodes || line.commands.length > maxCommands) {
      giveUp(line, "it is too long to be read to the end");
      return;
    }
    const { source, piped, substituted } = recordNode(node, visit, line);
    check?.note(node, visit.source);
    const pipeline = node.type === "Pipeline" ? node.commands : undefined;
    const chainOf = chainNumberer(visit);
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

/** Numbers the line's own statements, and the commands in them that are joined only by &&: these run in order. */
function chainNumberer({ isLine, chain, node }: NodeVisit): (index: number) => Pick<NodeVisit, "chain"> {
  if (isLine) return (index) => ({ chain: { statement: index, position: 0 } });
  if (chain && node.type === "Statement" && !node.background) return () => ({ chain });
  if (chain && node.type === "AndOr" && node.operators.every((operator) => operator === "&&"))
    return (index) => ({ chain: { ...chain, position: index } });
  return () => ({});
}

function recordNode(node: SyntaxNode, visit: NodeVisit, line: ShellLine): NodeVisit {
  switch (node.type) {
    case "Script":
      for (const error of node.errors ?? []) line.errors.push(error.message);
      return node.source === undefined ? visit : { ...visit, source: node.source };
    case "Command": {
      if (node.args.length > maxWords || node.redirects.length > maxWords)
        giveUp(line, `it contains more than ${maxWords} words`);
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
      // If the body of a substitution was not parsed, its command is unknown.
      if (node.script === undefined) giveUp(line, "a substitution could not be read");
      noteEvaluation(node, line);
      // A command inside inherits the input of the command around it; `>( )` reads that command's output.
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
  for (const argument of node.args.slice(0, maxWords)) args.push(...argumentsOf(argument));
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
    redirects: node.redirects.slice(0, maxWords).map(redirectOf),
    piped: visit.piped,
    ...(pipeline &&
      pipeline.length <= longestPipeline && { upstream: () => pipelineOf(pipeline.slice(0, pipeline.indexOf(node))) }),
    substituted: visit.substituted,
    ...(visit.chain && { chain: visit.chain }),
    text: commandSource(node, visit.source),
  };
}

/** Returns the source from the name to the last argument, or the joined words if a redirect is in between. */
function commandSource(node: Extract<SyntaxNode, { type: "Command" }>, source: string): string {
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

/** Returns the text of an unquoted here-document: backslash escapes are resolved; with expansions it is unknown. */
function expandedBody({ text, parts }: { text: string; parts?: readonly WordPart[] }): { body?: string } {
  return parts ? {} : { body: text.replace(/\\([$`\\\n])/g, (_, mark) => (mark === "\n" ? "" : mark)) };
}

/** A parsed command, with the fields that the stream has for it. */
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

/** Describes a shell line for the stream (`shellToolCall`). */
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
      ...(redirects.length > 0 && { allRedirectsAreDevNull: redirects.every(discardsOutput) }),
      redirects: redirects.map(wireRedirect),
    },
  };
}

function discardsOutput(redirect: ShellRedirect): boolean {
  return redirect.direction === "copy" || redirect.target?.value === "/dev/null";
}

function wireRedirect(redirect: ShellRedirect): CommandDescription["parsingResult"]["redirects"][number] {
  if (redirect.direction === "text") {
    const targetNodeType = redirect.operator === "<<<" ? "herestring_redirect" : "heredoc_redirect";
    return { operator: "", destinationFds: [], targetNodeType };
  }
  const { operator, descriptors, target } = redirect;
  const targetNodeType = wireType(target!);
  const targetField = target!.dynamic ? {} : { targetText: target!.text };
  return { operator, destinationFds: descriptors, targetNodeType, ...targetField };
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
