// Parses permission rules as configuration files spell them: Shell(git), Read(src/**), Mcp(server:tool), …
import { nearestName } from "../text/nearest.ts";
import { shortened } from "../text/one-line.ts";

/** What a rule is about: commands, reading, writing, the web, or MCP tools. */
export type RuleKind = "Shell" | "Read" | "Write" | "WebFetch" | "Mcp";

/**
 * `unconfined`: a command that is already allowed stays out of the sandbox, regardless of changes made in the chat. `scope`:
 * rules of the user's files may do what a project's may not. `source` is the file that holds the rule; `entry` its place in the
 * file, `permissions.allow[2]`. `fold`: compared case-insensitively, also when it allows. `withFolders`: also applies to commands
 * that take a folder with all its contents.
 */
export type Rule = {
  verdict: "allow" | "deny" | "unconfined";
  kind: RuleKind;
  pattern: string;
  scope: "user" | "project";
  source: string;
  entry?: string;
  text: string;
  fold?: true;
  withFolders?: true;
};

export type RuleOrigin = Pick<Rule, "verdict" | "scope" | "source" | "entry" | "fold">;

/** The kinds of permission rules, as they are written before the parenthesis. */
export const ruleKinds: readonly RuleKind[] = ["Shell", "Read", "Write", "WebFetch", "Mcp"];

const longestPattern = 2000;

/** Names that other tools have for the same kind of rule. */
const otherNames: Partial<Record<RuleKind, readonly string[]>> = {
  Shell: ["bash", "terminal", "command"],
  Write: ["edit", "multiedit", "delete"],
  Read: ["ls", "grep", "glob"],
  WebFetch: ["fetch", "web", "websearch"],
};

/** Returns the rule, or a sentence that says what is wrong with the text and suggests a correction. */
export function parseRule(text: string, origin: RuleOrigin): { rule: Rule } | { problem: string } {
  const trimmed = text.trim();
  const open = trimmed.indexOf("(");
  if (open === -1) return { problem: `${quote(text)} is not a rule${suggestionText(bareGuess(trimmed))}` };
  const word = trimmed.slice(0, open);
  const kind = ruleKinds.find((known) => known === word);
  if (!trimmed.endsWith(")")) {
    const guess = intendedKind(word);
    return {
      problem: `${quote(text)} has no closing parenthesis${suggestionText(guess && `${trimmed.replace(word, guess)})`)}`,
    };
  }
  const pattern = trimmed.slice(open + 1, -1).trim();
  if (!kind) {
    const guess = intendedKind(word);
    const problem = guess
      ? `${quote(text)} is not a rule${suggestionText(`${guess}(${pattern})`)}`
      : `${quote(text)} is not a rule: the kinds of rules are ${ruleKinds.join(", ")}`;
    return { problem };
  }
  const problem = patternProblem(kind, pattern);
  if (problem) return { problem: `${quote(text)} ${problem}` };
  return { rule: { ...origin, kind, pattern, text: trimmed } };
}

/** Returns what is wrong with a rule from outside, or undefined. No rule may be dropped silently. */
export function ruleFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be a list of rules";
  const parsed = parseRule(value, { verdict: "allow", scope: "user", source: "" });
  return "problem" in parsed ? `has a rule that cannot be read: ${parsed.problem}` : undefined;
}

function patternProblem(kind: RuleKind, pattern: string): string | undefined {
  if (pattern === "")
    return `names nothing; write ${kind}(**) for everything`
      .replace("Mcp(**)", "Mcp(*:*)")
      .replace("WebFetch(**)", "WebFetch(*)");
  if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`;
  if (/[\u0000-\u001f\u007f]/.test(pattern)) return "contains a control character";
  if (!isBalanced(pattern)) return "has parentheses that do not match";
  if (kind === "Mcp" && !pattern.includes(":") && !/^\*+$/.test(pattern))
    return `names no tool${suggestionText(`Mcp(${pattern}:*)`)}`;
  if (kind === "Mcp" && /^:|:$/.test(pattern)) return `lacks a server or a tool${suggestionText("Mcp(server:tool)")}`;
  if (kind === "WebFetch" && /[\s/]/.test(pattern))
    return `names no host${suggestionText(`WebFetch(${hostIn(pattern)})`)}`;
  if (kind === "Shell" && pattern.startsWith(":"))
    return `names no command${suggestionText(`Shell(${pattern.slice(1)})`)}`;
  return undefined;
}

/** `Shell(rm)(ls)` and `Shell(rm))` start and end like a rule, but are certainly mistakes. */
function isBalanced(pattern: string): boolean {
  let open = 0;
  for (const character of pattern.replace(/\\./gs, "")) {
    if (character === "(") open++;
    else if (character === ")" && --open < 0) return false;
  }
  return open === 0;
}

function hostIn(pattern: string): string {
  return pattern.replace(/^[a-z]+:\/\//i, "").replace(/[/\s].*$/s, "") || "example.com";
}

function intendedKind(word: string): RuleKind | undefined {
  return (
    ruleKinds.find((kind) => otherNames[kind]?.includes(word.toLowerCase())) ??
    (nearestName(word, ruleKinds) as RuleKind | undefined) ??
    ruleKinds.find((kind) => kind === word)
  );
}

/** Guesses the intended rule: `rm -rf` is a command, `Shell` a kind. */
function bareGuess(text: string): string | undefined {
  if (text === "" || text.includes(")")) return undefined;
  const kind = intendedKind(text);
  if (kind) return kind === "Mcp" ? "Mcp(*:*)" : kind === "WebFetch" ? "WebFetch(*)" : `${kind}(**)`;
  return /^[\w./-]+(\s+[\w./*-]+)*$/.test(text) ? `Shell(${text})` : undefined;
}

function suggestionText(guess: string | undefined): string {
  return guess ? `: did you mean ${guess}?` : "";
}

function quote(text: string): string {
  return JSON.stringify(shortened(text, 80));
}
