// Describes the position of each simple command in a line, such as after `&&`, in a pipe, in a loop or inside `$( )`, for `explain.ts`.
import type { SyntaxNode } from "unbash";
import { forEachChild, parse } from "unbash";

/** `within` is the index of the command whose words contain it. */
export type CommandPosition = { where: string[]; within?: number };

type PositionVisit = { node: SyntaxNode; where: string[]; within?: number };

/** Returns a position for each simple command, in the order in which `shell.ts` lists them. */
export function commandPositions(source: string): CommandPosition[] {
  const found: CommandPosition[] = [];
  const stack: PositionVisit[] = [{ node: parse(source), where: [] }];
  for (let visit = stack.pop(); visit; visit = stack.pop()) {
    const { node } = visit;
    let { within } = visit;
    let { where } = visit;
    if (node.type === "Command") {
      within = found.push({ where, ...(within !== undefined && { within }) }) - 1;
      where = [];
    }
    const children: PositionVisit[] = [];
    const label = labelOf(node);
    const inside = label === undefined ? where : [...where, label];
    forEachChild(node, (child) => {
      const behind = operatorBefore(node, child);
      const position = behind === undefined ? inside : [...inside, behind];
      children.push({ node: child, where: position, ...(within !== undefined && { within }) });
    });
    stack.push(...children.reverse());
  }
  return found;
}

/** Returns the label that applies to everything inside a node. */
function labelOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case "Statement":
      return node.background ? "in the background" : undefined;
    case "If":
      return "in an if";
    case "For":
    case "ArithmeticFor":
    case "While":
    case "Select":
      return "in a loop";
    case "Case":
      return "in a case";
    case "Function":
      return `in the function ${node.name.value}`;
    case "Subshell":
      return "in a subshell";
    case "BraceGroup":
      return "in a group";
    case "Coproc":
      return "in a coprocess";
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
      return node.text.startsWith("`") ? "inside backticks" : "inside $( )";
    case "ProcessSubstitution":
      return `inside ${node.operator}( )`;
    case "HereDoc":
      return "in a here-document";
    default:
      return undefined;
  }
}

function operatorBefore(node: SyntaxNode, child: SyntaxNode): string | undefined {
  if (node.type !== "AndOr" && node.type !== "Pipeline") return undefined;
  const index = (node.commands as readonly SyntaxNode[]).indexOf(child);
  return index > 0 ? `after ${node.operators[index - 1]}` : undefined;
}
