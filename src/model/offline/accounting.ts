// Accounting: nothing is changed unless every word of the order was used for it. The last look before a change.

import type { Clause } from "./clauses.ts";
import { isReadingCommand } from "./commands.ts";
import { kindOf } from "./finding.ts";
import { saysOnlyItself, wholly } from "./grammar/rows.ts";
import { politely, withoutTail } from "./politeness.ts";
import { literalOf, type Masked, restore } from "./quotes.ts";
import type { Step } from "./steps.ts";
import { isGerund, verbAt } from "./verbs.ts";
import { wordSet } from "./word-set.ts";

/** Words that orders are put together with, and that say nothing more than the order does. */
const isGrammar = wordSet(
  [
    "turn turning comment bullet tack onto a an the my our your this that these those it its it's them they both all every each any one whole entire full complete same another some",
    "of in into inside to from at on onto by with as for out up off over through throughout within under before after above below behind between",
    "and then also too please so which whose is be should must has have having",
    "file files document documents text textfile folder folders directory directories dir subfolder subdirectory path script module",
    "called named titled entitled name names call new brand-new empty blank plain simple short small single existing current own",
    "content contents body line lines word words string phrase message sentence paragraph item entry row record note heading header title text: value values field key setting property number letter letters term variable function identifier code json data",
    "containing contains contain saying says say reading reads read holding holds hold include including consisting following follows below: exactly only just verbatim",
    "end top bottom start beginning front head tail very first second third fourth fifth sixth seventh eighth ninth tenth last final",
    "occurrence occurrences instance instances mention mentions appearance appearances use uses usage everywhere globally spelling typo instead",
    "me us here there now everything changes change together permanently completely entirely project workspace",
    "use using via run running execute command commands shell bash terminal console tests test suite unit build lint linter called",
    "rename remove delete replace replacing change changing becomes swap write put add append insert create make set leave disk more are two three four five six seven eight nine ten",
    "result results output answer number sum total list listing",
  ].join(" "),
);

/** Conditions that the tools keep by themselves. */
const KEPT = () =>
  /\b(?:even )?if (?:it|they|the file) (?:already )?(?:exists?|(?:doesn't|does not|do not|don't) exist|is there)\b|\b\d+(?= (?:lines|files|words)\b)/gi;

/** "the port … from 3000 to 4000": what the value is called. */
const FROM_TO = () => /^the \w+(?= .*\bfrom .+ to )/i;

export function isChange(step: Step): boolean {
  switch (step.do) {
    case "write":
    case "append":
    case "replace":
    case "delete":
    case "lines":
    case "entry":
    case "script":
    case "call":
      return true;
    case "value":
      return step.to !== undefined;
    case "each":
      return step.act !== "count" && step.act !== "read";
    case "run":
      return !isReadingCommand(step.command);
    default:
      return false;
  }
}

/** The part of a clause that its steps do not account for; undefined: they may be done. */
export function unaccounted(
  { words: clause, joined }: Clause,
  steps: readonly Step[],
  masked: Masked,
): string | undefined {
  if (!steps.some(isChange)) return undefined;
  const { rest, last, doubt } = politely(clause);
  if (doubt) return restore(masked, clause);
  const verb = verbAt(rest);
  // "edit a.txt, changing x to y" goes on; "changing x to y" by itself only tells.
  if (joined !== "and" && isGerund(rest) && !/\b(?:mind|by|try|with)\s+$/i.test(last)) return restore(masked, clause);
  if (steps.every((step) => step.do === "call")) return undefined;
  const used = valuesOf(steps);
  for (const value of used) if (!isMeant(value, clause, masked)) return restore(masked, clause);
  if (wholly.has(steps)) return undefined;
  const text = used.join("\n").toLowerCase();
  const left = withoutTail(verb ? verb.rest : rest)
    .replace(KEPT(), " ")
    .replace(FROM_TO(), " ")
    .split(/\s+/)
    .filter((word) => !isUsed(word, text, masked));
  return left.length === 0 ? undefined : restore(masked, left.join(" "));
}

function isUsed(given: string, used: string, masked: Masked): boolean {
  const literal = literalOf(masked, given.replace(/[.,;:!?()]+/g, ""));
  if (literal)
    return (
      used.includes(literal.text.toLowerCase().trim()) ||
      used.includes(literal.text.replaceAll("\\n", "\n").toLowerCase())
    );
  const word = restore(masked, given).toLowerCase();
  if (used.includes(word)) return true;
  const bare = word.replace(/^[("']+|[.,;:!?)"']+$|['’]s$/g, "");
  return (
    bare === "" ||
    /^(?:->|=>|→|>>?|-|&&?|=|:|\$|!)$/.test(bare) ||
    isGrammar(bare) ||
    used.includes(bare) ||
    used.includes(bare.replace(/^@/, "")) ||
    kindOf(bare) !== undefined
  );
}

/** Everything that the steps will write, name or run. */
function valuesOf(steps: readonly Step[]): string[] {
  const values: string[] = [];
  const gather = (value: unknown): void => {
    if (typeof value === "string") values.push(value);
    else if (typeof value === "number") values.push(String(value));
    else if (typeof value === "object" && value !== null)
      for (const [name, inner] of Object.entries(value))
        if (!/^(?:do|type|at|act|unit|done|undone)$/.test(name)) gather(inner);
  };
  steps.forEach(gather);
  return values;
}

/** Quoted, introduced by a colon, one word, or several that say nothing but themselves. */
function isMeant(value: string, clause: string, masked: Masked): boolean {
  const words = value.trim();
  if (/[;|&$]/.test(words)) return true;
  if (words === "" || masked.literals.some((literal) => words.includes(literal.text.trim()))) return true;
  const at = clause.indexOf(words);
  if (at < 0 || /:\s*$/.test(clause.slice(0, at))) return true;
  return saysOnlyItself(words);
}

const POLITE_QUESTION = () =>
  /^(?:(?:hey|hi|hello|please|so|and|then|now|ok|okay|also|next|great|thanks|there|first|finally)[\s,!]+)*(?:(?:can|could|will|would|won't|can't|couldn't)\s+(?:you|u)\b|mind\s|what|which|where|who|how|is|are|do|does|did|why|when)|(?:please|pls|ok|okay|right|(?:can|could|will|would) you|thanks|thank you)\s*\?$/i;

/** A sentence with a question mark that asks nobody to do anything: "delete a.txt?" */
export function doubtfulSentence(masked: Masked): string | undefined {
  const found = masked.text
    .split(/(?<=[.!?;])\s+|\n/)
    .map((sentence) => sentence.trim())
    .find((sentence) => sentence.endsWith("?") && !POLITE_QUESTION().test(sentence));
  return found === undefined ? undefined : restore(masked, found);
}
