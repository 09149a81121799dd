// A second look at what the parser found: every substitution that the text holds must be one that was visited, and closed.
import type { SyntaxNode } from "unbash";

type SourceSpan = readonly [from: number, to: number];

/** What was seen in one source: where words and bodies stand, where substitutions begin, what is mere text. */
type VisitedSpans = { live: SourceSpan[]; inert: SourceSpan[]; starts: Set<number> };

export class ParseCheck {
  readonly #seen = new Map<string, VisitedSpans>();
  #problem: string | undefined;

  note(node: SyntaxNode, source: string): void {
    switch (node.type) {
      case "Word":
      case "Assignment":
      case "ArithmeticCommand":
      case "ArithmeticFor":
        this.#in(source).live.push([node.pos, node.end]);
        return;
      case "HereDoc": {
        const { live, inert } = this.#in(source);
        (node.delimiter?.quoted ? inert : live).push([node.body.pos, node.body.end]);
        return;
      }
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#in(source).inert.push([node.pos, node.end]);
        return;
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        this.#noteSubstitution(node, source);
        return;
      case "ArithmeticExpansion":
        if (!/^\$(\(\(.*\)\)|\[.*\])$/s.test(node.text)) this.#problem = "an arithmetic expansion is cut off";
        this.#in(source).starts.add(node.pos);
        return;
      default:
        return;
    }
  }

  #noteSubstitution(node: Extract<SyntaxNode, { text: string; script: unknown }>, source: string): void {
    const { text } = node;
    if (!/^([$<>]\(.*\)|`.*`)$/s.test(text)) this.#problem = "a substitution is cut off";
    const { starts, inert } = this.#in(source);
    // Backticks end as they begin.
    starts.add(node.pos).add(node.end - 1);
    // Inside of them the text is another one once its backslashes are gone; it has a source of its own then.
    if (node.script?.source !== undefined) inert.push([node.pos, node.end]);
  }

  #in(source: string): VisitedSpans {
    const known = this.#seen.get(source) ?? { live: [], inert: [], starts: new Set() };
    this.#seen.set(source, known);
    return known;
  }

  /** Why the parser's account cannot be true; undefined when nothing speaks against it. */
  problem(): string | undefined {
    if (this.#problem) return this.#problem;
    for (const [source, { live, inert, starts }] of this.#seen) {
      for (const { index } of source.matchAll(/[$<>]\(|`/g)) {
        if (starts.has(index) || isEscaped(source, index)) continue;
        if (isWithin(live, index) && !isWithin(inert, index)) return "a substitution was overlooked";
      }
    }
    return undefined;
  }
}

function isWithin(spans: readonly SourceSpan[], index: number): boolean {
  return spans.some(([from, to]) => index >= from && index < to);
}

function isEscaped(source: string, index: number): boolean {
  let backslashes = 0;
  while (source[index - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}
