// Patterns: a small grammar of whole instructions. One fits from the first word to the last, or not at all.
import { countOf, onlyPlainFile } from "./phrases.ts";
import { literalOf } from "./quotes.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

/**
 * How it is written: `remove|delete [the] line NUMBER of|from|in FILE`. Words apart by `|` mean the same, `[…]` may be
 * missing, `_` is a gap inside a word, capitals are slots.
 */
export type Pattern = [pattern: string, steps: (slots: Slots, scene: PromptContext) => ParsedSteps];

export type Slots = {
  /** A file, not a folder. */
  file: string;
  /** From 1. */
  number: number;
  /** Text that is meant as it stands: quoted, or one word that describes nothing. */
  text: string;
  quoted: string;
  /** The name of a value: `version`, `scripts.test`. */
  key: string;
  word: string;
  /** A kind of file: `.log`, `markdown`. */
  kind: string;
};

const mark = "[\\uE000-\\uF8FF]";

/** What may stand in a slot, and what is made of it; undefined: it does not fit after all. */
const slots: Record<string, { source: string; value(given: string, scene: PromptContext): unknown }> = {
  FILE: {
    source: `(?:(?:the|my|our)\\s+)?(?:file\\s+)?\\S+`,
    value: (given, scene) => onlyPlainFile(given, scene)?.path,
  },
  NUMBER: { source: "\\d{1,7}|[a-z]+", value: (given) => countOf(given) || undefined },
  TEXT: { source: `${mark}|\\S+`, value: (given, scene) => literalText(given, scene) },
  QUOTED: { source: mark, value: (given, scene) => literalOf(scene.masked, given)?.text },
  KEY: { source: `${mark}|[\\w$][\\w$.@/-]*`, value: (given, scene) => literalOf(scene.masked, given)?.text ?? given },
  KIND: { source: "\\.?[\\w+]+", value: (given) => given },
  WORD: { source: "[\\w-]+", value: (given) => given },
};

/** "uppercase" and "something shorter" say what the text should be like, not what it should be. */
const DESCRIPTION =
  /^(?:(?:upper|lower|title|camel|snake|kebab|pascal|sentence)[\s_-]?case[ds]?|capitals?|capitalized|bold|italics?|plural|singular|past|present|something|anything|nothing|better|shorter|longer|simpler|nicer|cleaner|correct|valid|proper|english|german|french|spanish|it|them|this|that|these|those|him|her|what|whatever|one|some|any)$/i;

export function isDescription(word: string): boolean {
  return DESCRIPTION.test(word);
}

function literalText(given: string, scene: PromptContext): string | undefined {
  const literal = literalOf(scene.masked, given);
  if (literal) return literal.text;
  return isDescription(given) || /[\uE000-\uF8FF]/.test(given) ? undefined : given;
}

/** The steps of the first pattern that fits. */
export function firstFitting(patterns: readonly Pattern[]): (words: string, scene: PromptContext) => ParsedSteps {
  const compiled = new Map<string, RegExp>();
  return (words, scene) => {
    // Every word of a pattern ends in a blank, the last one too.
    const given = `${words.trim().replace(/\s+/g, " ")} `;
    for (const [pattern, steps] of patterns) {
      if (!mayBegin(pattern, given)) continue;
      const test = compiled.get(pattern) ?? compile(pattern);
      compiled.set(pattern, test);
      const values = slotsIn(test.exec(given), scene);
      const found = values && steps(values, scene);
      if (found) return found;
    }
    return undefined;
  };
}

/** By the first words of both: a regular expression costs more than this look, and most patterns do not fit. */
function mayBegin(pattern: string, given: string): boolean {
  const [first = ""] = pattern.split(" ", 1);
  if (!/^[a-z'_|-]+$/.test(first)) return true;
  const text = given.toLowerCase();
  return first.split("|").some((words) => text.startsWith(`${words.replaceAll("_", " ")} `));
}

function compile(pattern: string): RegExp {
  const source = pattern.split(" ").map((item) => {
    const optional = item.startsWith("[");
    const words = (optional ? item.slice(1, -1) : item).replaceAll("_", " ");
    const slot = slots[words];
    const inner = slot ? `(?<${words.toLowerCase()}>${slot.source})` : `(?:${words.replaceAll("?", "\\?")})`;
    return optional ? `(?:${inner} )?` : `${inner} `;
  });
  return new RegExp(`^${source.join("")}$`, "i");
}

function slotsIn(match: RegExpExecArray | null, scene: PromptContext): Slots | undefined {
  if (!match) return undefined;
  const values: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(match.groups ?? {})) {
    if (given === undefined) continue;
    const value = slots[name.toUpperCase()]!.value(given, scene);
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return values as Slots;
}
