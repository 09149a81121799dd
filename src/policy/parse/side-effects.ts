// Records what a line does besides running commands: variables it sets, and data it evaluates as code.
import type { SyntaxNode } from "unbash";
import type { ShellLine } from "./shell.ts";
import type { ShellWord } from "./shell-word.ts";
import { arithmeticOutput, arithmeticWord, expandedWords, wordOf } from "./shell-words.ts";

/** Records variables set by assignments, loops and expansions that assign. */
export function noteVariables(node: SyntaxNode, line: ShellLine): void {
  switch (node.type) {
    case "Assignment": {
      const { value } = node;
      const isPlain = !node.append && !node.index;
      const words = value.type === "Word" ? [wordOf(value)] : value.elements.flatMap(expandedWords);
      setVariable(line, node.name, isPlain ? words : "unknown");
      return;
    }
    case "For":
    case "Select":
      setVariable(line, node.name.value, node.wordlist?.flatMap(expandedWords) ?? "unknown");
      return;
    case "Coproc":
      if (node.name) setVariable(line, node.name.value, "unknown");
      return;
    case "FileDescriptorVariable":
      setVariable(line, node.name, "unknown");
      return;
    case "ParameterExpansion":
      if (node.operation?.type !== "Default" || !node.operation.operator.endsWith("=")) return;
      line.assigns.push(node.text);
      setVariable(line, node.parameter, "unknown");
      return;
    default:
      return;
  }
}

function setVariable(line: ShellLine, name: string, words: readonly ShellWord[] | "unknown"): void {
  const before = line.variables.get(name) ?? [];
  line.variables.set(name, words === "unknown" || before === "unknown" ? "unknown" : [...before, ...words]);
}

/** Records constructs of the shell that run data as code. */
export function noteEvaluation(node: SyntaxNode, line: ShellLine): void {
  switch (node.type) {
    case "ArithmeticCommand":
      line.evaluates.push("(( ))");
      return;
    case "ArithmeticExpansion":
      if (node.expression === undefined && !/^\$(\(\(\s*\)\)|\[\s*\])$/.test(node.text)) line.evaluates.push(node.text);
      return;
    case "ArithmeticCommandExpansion":
      line.computed.push(arithmeticOutput(node.text, node.script));
      return;
    case "ArithmeticWord":
      line.computed.push(arithmeticWord(node.value, node.parts));
      return;
    case "TestUnary":
      if (node.operator === "-v" || node.operator === "-R") line.evaluates.push(`[[ ${node.operator} ]]`);
      return;
    case "TestBinary":
      if (/^-(eq|ne|lt|le|gt|ge)$/.test(node.operator)) line.computed.push(wordOf(node.left), wordOf(node.right));
      return;
    case "Transform":
      line.evaluates.push(`\${…@${node.operand.value}}`);
      return;
    case "Slice":
      line.computed.push(wordOf(node.offset), ...(node.length ? [wordOf(node.length)] : []));
      return;
    case "ParameterExpansion":
      if (node.prefix === "!") line.evaluates.push(node.text);
      if (node.index && !/^[@*]$/.test(node.index.text)) line.computed.push(wordOf(node.index));
      return;
    default:
      return;
  }
}
