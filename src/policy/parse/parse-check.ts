// Verifies the parser's result: every substitution in the text must have been visited and closed.
import type { SyntaxNode } from "unbash";

type SourceSpan = readonly [from: number, to: number];

/** What was visited in one source: the spans of words and bodies, where substitutions begin, and spans of plain text. */
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
        this.#visitedSpansIn(source).live.push([node.pos, node.end]);
        return;
      case "HereDoc": {
        const { live, inert } = this.#visitedSpansIn(source);
        (node.delimiter?.quoted ? inert : live).push([node.body.pos, node.body.end]);
        return;
      }
      case "SingleQuoted":
      case "AnsiCQuoted":
        this.#visitedSpansIn(source).inert.push([node.pos, node.end]);
        return;
      case "CommandExpansion":
      case "ProcessSubstitution":
      case "ArithmeticCommandExpansion":
        this.#noteSubstitution(node, source);
        return;
      case "ArithmeticExpansion":
        if (!/^\$(\(\(.*\)\)|\[.*\])$/s.test(node.text)) this.#problem = "an arithmetic expansion is cut off";
        this.#visitedSpansIn(source).starts.add(node.pos);
        return;
      default:
        return;
    }
  }

  #noteSubstitution(node: Extract<SyntaxNode, { text: string; script: unknown }>, source: string): void {
    const { text } = node;
    if (!/^([$<>]\(.*\)|`.*`)$/s.test(text)) this.#problem = "a substitution is cut off";
    const { starts, inert } = this.#visitedSpansIn(source);
    // A backtick also ends the substitution that it began.
    starts.add(node.pos).add(node.end - 1);
    // Removing the backslashes inside backticks changes the text, which then is a source of its own.
    if (node.script?.source !== undefined) inert.push([node.pos, node.end]);
  }

  #visitedSpansIn(source: string): VisitedSpans {
    const existing = this.#seen.get(source) ?? { live: [], inert: [], starts: new Set() };
    this.#seen.set(source, existing);
    return existing;
  }

  /** Returns why the parser's result cannot be right, or undefined if it is consistent. */
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

/** Compiles a pattern in which `~` stands for a line continuation. */
function compileWithContinuations(pattern: string): RegExp {
  return new RegExp(pattern.replaceAll("~", "(?:\\\\\\n)+"));
}

/** Two characters that form an operator or begin an expansion, split by a continuation. */
const splitOperator = compileWithContinuations("[$]~|[|]~[|&]|&~[&>]|;~[;&]|<~[<>&(-]|>~[>&|(]|[\\w(=?*+@!]~[(]");
/** Matches the name of a variable, used or set, that a line continuation splits. */
const splitName = compileWithContinuations("[$]\\w+~\\w|[$][{]\\W?\\w*~|(?:^|[\\s;&|(])\\w+~\\w*[+]?(?:~)?=");
const word = /(?:[^\s\\]|\\[\s\S])+/g;
const keyword = /^(if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|coproc|time|\[\[|\]\])$/;

/**
 * Finds line continuations inside operators, keywords and names, and returns what is split. The shell joins lines before it looks for
 * these; the parser joins them only inside words. Such a line is written only to be misread.
 */
export function splitToken(source: string): string | undefined {
  if (!source.includes("\\\n")) return undefined;
  if (splitOperator.test(source)) return "an operator of it is split over two lines";
  if (splitName.test(source)) return "a name in it is split over two lines";
  const delimiters = new Set(Array.from(source.matchAll(/<<-?\s*(\S+)/g), ([, text]) => text!.replace(/["'\\]/g, "")));
  for (const [text] of source.matchAll(word)) {
    if (!text.includes("\\\n")) continue;
    const joined = text.replaceAll("\\\n", "");
    if (delimiters.has(joined) || keyword.test(joined.replace(/^[^a-z[\]]+|[^a-z[\]]+$/g, "")))
      return "a keyword of it is split over two lines";
  }
  return undefined;
}
