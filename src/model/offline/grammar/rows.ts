// Rows: whole orders as they are said, and the steps they mean. One fits from the first word to the last, or not at all.
import { contentOf } from "../content.ts";
import { countOf, folderNamed, isElsewhere, onlyFile, onlyPlainFile } from "../phrases.ts";
import { literalOf } from "../quotes.ts";
import type { Content, LineChoice, ParsedSteps, PromptContext, Step } from "../steps.ts";
import { wordSet } from "../word-set.ts";
import { words as shared } from "./words.ts";

/**
 * Ways to say it, one a line, and what they mean: `remove|delete [the] line NUMBER <of> FILE`. Words apart by `|` mean
 * the same, `[…]` may be missing, `[…]*` may also be there several times, `_` is a gap inside a word, `<…>` are words of
 * words.ts, capitals are slots.
 */
export type Row = [ways: string, steps: (slots: Slots, scene: PromptContext, words: string) => ParsedSteps];

export type Slots = {
  /** A file, not a folder. */
  file: string;
  /** A second file. */
  target: string;
  folder: string;
  lines: LineChoice;
  /** Text that is meant as it stands: quoted, or one word that describes nothing. */
  text: string;
  /** A second text. */
  anchor: string;
  quoted: string;
  /** What is to be written. */
  content: Content;
  /** Words that are not quoted. */
  plain: string;
  /** Text to the end of the order. */
  sentence: string;
  /** "Ann's". */
  owner: string;
  /** The name of a value: `version`, `scripts.test`. */
  key: string;
  word: string;
  /** `port=80` */
  assign: string;
  /** `*.log` */
  glob: string;
  /** A kind of file: `.log`, `markdown`. */
  kind: string;
  side: "before" | "after";
  /** What a switch is set to: `true` or `false`. */
  onoff: string;
  take: "move" | "copy";
  /** Something that was said: `question`. */
  thing: string;
  /** Of a folder that is to be made. */
  newname: string;
  /** "lib, src and docs" */
  names: string[];
  /** Whatever follows. */
  rest: string;
};

const mark = "[\\uE000-\\uF8FF]";

const ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth";

/** "line 2", "the second line", "lines 2-4", "the last two lines". */
function linesOf(given: string): LineChoice | undefined {
  const words = given.toLowerCase().replace(/^the |^very | (?:line|row)s?$|(?<=line )(?:number|no\.) /g, "");
  const range = /^lines (\d+) ?(-|–|to|through|and) ?(\d+)$/.exec(words);
  if (range) {
    const [from, to] = [Number(range[1]), Number(range[3])];
    return from > 0 && (range[2] === "and" ? to === from + 1 : to >= from) ? { from, to } : undefined;
  }
  const edge = /^(first|top|last|final|bottom)(?: (\w+))?$/.exec(words);
  if (edge) {
    const count = edge[2] === undefined ? 1 : countOf(edge[2]);
    if (!count) return undefined;
    return /first|top/.test(edge[1]!) ? { from: 1, to: count } : { last: count };
  }
  const name = words.replace(/^line /, "");
  const number = ORDINALS.split("|").indexOf(name) + 1 || countOf(name.replace(/(?<=\d)(?:st|nd|rd|th)$/, ""));
  return number ? { from: number, to: number } : undefined;
}

function nameOfFolder(given: string, scene: PromptContext): string | undefined {
  const found = folderNamed(given, scene);
  return found && found.rest.trim() === "" && !isDescription(found.path) ? found.path : undefined;
}

/** What may stand in a slot, and what is made of it; undefined: it does not fit after all. */
const slots: Record<string, { source: string; value(given: string, scene: PromptContext): unknown }> = {
  FILE: {
    source: `(?:(?:the|my|our)\\s+)?(?:file\\s+)?\\S+`,
    value: (given, scene) => onlyPlainFile(given, scene)?.path,
  },
  TARGET: { source: `(?:the file )?\\S+`, value: (given, scene) => onlyPlainFile(given, scene)?.path },
  FOLDER: {
    source: `(?:(?:the|my|our) )?(?:new )?(?:(?:folder|directory) (?:(?:called|named) )?)?(?:${mark}|[\\w.@/-]+)(?: (?:folder|directory|dir))?`,
    value: (given, scene) => nameOfFolder(given, scene),
  },
  LINES: {
    source: `(?:the )?(?:(?:very )?(?:${ORDINALS}|\\d+(?:st|nd|rd|th)|last|final|top|bottom) (?:line|row)|line (?:number |no\\. )?(?:\\d+|[a-z]+)|lines \\d+ ?(?:-|–|to|through|and) ?\\d+|(?:first|top|last|final) (?:\\d+|[a-z]+) lines)`,
    value: linesOf,
  },
  ANCHOR: { source: `${mark}|\\S+`, value: (given, scene) => literalText(given, scene) },
  SENTENCE: { source: `${mark}|\\S+(?: \\S+){0,11}`, value: (given, scene) => literalText(given, scene) },
  TEXT: { source: `${mark}|\\S+`, value: (given, scene) => literalText(given, scene) },
  CONTENT: { source: ".+", value: (given, scene) => contentOf(given, scene) },
  QUOTED: { source: mark, value: (given, scene) => literalOf(scene.masked, given)?.text },
  OWNER: { source: "\\w+['’]s", value: (given) => given },
  KEY: {
    source: `(?:${mark}|[\\w$][\\w$.@/-]*):?`,
    value: (given, scene) => {
      const quoted = literalOf(scene.masked, given.replace(/:$/, ""));
      return quoted ? quoted.text + (given.endsWith(":") ? ":" : "") : given;
    },
  },
  PLAIN: {
    source: "[^\\s\\uE000-\\uF8FF]+(?: [^\\s\\uE000-\\uF8FF]+){0,6}",
    value: (given, scene) =>
      /^(?:lines?|everything|all|the|any|every|duplicates?|words?|text|string|phrase|occurrences?|instances?|mentions?|letters?|characters?|trailing)\b/i.test(
        given,
      )
        ? undefined
        : literalText(given, scene),
  },
  KIND: { source: "\\.?[\\w+]+", value: (given) => given },
  ASSIGN: { source: "[\\w.-]+=[^\\s=]+", value: (given) => given },
  GLOB: { source: "\\*\\.\\w+", value: (given) => given },
  SIDE: {
    source: "before|above|right after|after|below|under",
    value: (given) => (/before|above/i.test(given) ? "before" : "after"),
  },
  ONOFF: { source: "on|off|enable|disable", value: (given) => String(/on|enable/i.test(given)) },
  TAKE: { source: "move|mv|relocate|shift|copy|cp", value: (given) => (/^c/i.test(given) ? "copy" : "move") },
  THING: {
    source:
      "questions?|prompts?|messages?|requests?|instructions?|commands?|inputs?|query|queries|words?|tasks?|thing i (?:asked|said|wrote|typed)",
    value: (given) => given,
  },
  NEWNAME: { source: `${mark}|[\\w.@/-]+`, value: (given, scene) => onlyFile(`folder ${given}`, scene)?.path },
  NAMES: {
    source: "[\\w./-]+(?:(?:,? and|,) [\\w./-]+)+",
    value: (given) => (isElsewhere(given) ? undefined : given.split(/(?:,? and|,) /)),
  },
  REST: { source: ".+", value: (given) => given },
  WORD: { source: "[\\w-]+", value: (given) => given },
};

/** "uppercase" and "something shorter" say what the text should be like, not what it should be. */
const DESCRIPTION = () =>
  /^(?:(?:upper|lower|title|camel|snake|kebab|pascal|sentence)[\s_-]?case[ds]?|capitals?|capitalized|bold|italics?|plural|singular|past|present|something|anything|nothing|better|shorter|longer|simpler|nicer|cleaner|correct|valid|proper|english|german|french|spanish|it|them|this|that|these|those|him|her|what|whatever|one|some|any)$/i;

export function isDescription(word: string): boolean {
  return DESCRIPTION().test(word);
}

/** Words that make of unquoted text more than the text itself: a condition, a manner, a place, a number of times. */
const isNoText = wordSet(
  "if unless when whenever while until till before after once twice thrice times but or nor not no never without except only maybe perhaps because since instead again later soon tomorrow today tonight yesterday now every each per in on at by from to into of with about for as like using than then and is are was were be you your my our me i it its that this these those the a an something anything nothing some any random please",
);

/** Whether unquoted words are a text and nothing else; code among them is. */
export function saysOnlyItself(words: string): boolean {
  return words
    .split(/\s+/)
    .every((word) => /[(){}<>=;|&$]/.test(word) || !isNoText(word.toLowerCase().replace(/[.,!?]+$/, "")));
}

function literalText(given: string, scene: PromptContext): string | undefined {
  const literal = literalOf(scene.masked, given);
  if (literal) return literal.text;
  const text = given.replace(/,$/, "");
  return isDescription(text) || /[\uE000-\uF8FF]/.test(text) || !saysOnlyItself(text) ? undefined : text;
}

/** Steps whose order was used from its first word to its last. */
export const wholly = new WeakSet<readonly Step[]>();

/** `needs`: words that it cannot do without, those apart that mean the same. */
type Way = { pattern: string; needs?: string[][]; test?: RegExp };

/** The steps of the first row that fits. */
export function firstFitting(rows: readonly Row[]): (words: string, scene: PromptContext) => ParsedSteps {
  const known: Way[][] = [];
  return (words, scene) => {
    // Every word of a pattern ends in a blank, the last one too.
    const given = `${withoutEmphasis(words).trim().replace(/\s+/g, " ")} `;
    const text = given.toLowerCase();
    for (const [index, [said, steps]] of rows.entries()) {
      known[index] ??= said.split("\n").map((line) => ({ pattern: line.trim() }));
      for (const way of known[index]) {
        if (!mayBegin(way.pattern, text) || !mayFit(way, text)) continue;
        way.test ??= compile(way.pattern);
        const values = slotsIn(way.test.exec(given), scene);
        const found = values && steps(values, scene, given);
        if (!found) continue;
        wholly.add(found);
        return found;
      }
    }
    return undefined;
  };
}

/** Commas and adverbs that change nothing. */
function withoutEmphasis(words: string): string {
  const bare = words.includes(",") ? words.replace(/,(?= (?:including|also|even|in) )/g, "") : words;
  return bare.includes("ly ") || bare.includes("LY ")
    ? bare.replace(/^((?:is|are|how|what|which|does) .*)\b(?:really|currently|actually) /i, "$1")
    : bare;
}

/** Whether words are said in one of these ways. */
export function fits(ways: string): (words: string) => boolean {
  const fitting = firstFitting([[ways, () => []]]);
  return (words) => fitting(words, undefined as never) !== undefined;
}

function spelledOut(pattern: string): string[] {
  const plain = pattern.includes("<") ? pattern.replace(/<([\w-]+)>/g, (_, name: string) => shared[name]!) : pattern;
  return plain.split(" ");
}

function isOpen(item: string): boolean {
  const first = item.charCodeAt(0);
  return first === 91 || (first >= 65 && first <= 90);
}

/** What a pattern may begin with, by its first item; undefined: with anything. */
const beginnings = new Map<string, string[] | undefined>();

/** Plain looks first: a regular expression costs more, and most patterns begin with another word. */
function mayBegin(pattern: string, text: string): boolean {
  const end = pattern.indexOf(" ");
  const first = end < 0 ? pattern : pattern.slice(0, end);
  if (isOpen(first)) return true;
  if (!beginnings.has(first)) {
    const [item = ""] = spelledOut(first);
    beginnings.set(first, isOpen(item) ? undefined : wordsIn(item));
  }
  return beginnings.get(first)?.some((word) => text.startsWith(word)) ?? true;
}

function mayFit(way: Way, text: string): boolean {
  way.needs ??= spelledOut(way.pattern)
    .filter((item) => !isOpen(item))
    .map(wordsIn);
  return way.needs.every((words) => words.some((word) => text.includes(word)));
}

function wordsIn(item: string): string[] {
  return item.replaceAll("_", " ").split("|");
}

function compile(pattern: string): RegExp {
  const source = spelledOut(pattern).map((item) => {
    const optional = /^\[(.*)\](\*?)$/.exec(item);
    const words = (optional ? optional[1]! : item).replaceAll("_", " ");
    const slot = slots[words];
    const inner = slot ? `(?<${words.toLowerCase()}>${slot.source})` : `(?:${words.replaceAll("?", "\\?")})`;
    // A comma may stand behind each.
    return optional ? `(?:${inner}[,:]? )${optional[2] || "?"}` : `${inner}[,:]? `;
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
