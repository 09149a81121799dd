// Rewording: sentences that say how things should be -> the orders they mean.
import { withoutPoliteness } from "./politeness.ts";
import { verbAt } from "./verbs.ts";

const DONE: Record<string, string> = {
  gone: "delete",
  run: "run",
  put: "put",
  read: "read",
  written: "write",
  overwritten: "overwrite",
  shown: "show",
  copied: "copy",
  made: "create",
};

const PAST =
  "gone|created|made|deleted|removed|erased|replaced|changed|renamed|moved|copied|appended|added|inserted|prepended|written|saved|stored|overwritten|put|run|executed|fetched|downloaded|read|shown|displayed|printed|listed";

const PLAIN_WORDS: Record<string, string> = {
  gimme: "give me",
  lemme: "let me",
  wanna: "want to",
  gotta: "need to",
  cannot: "can not",
  dont: "don't",
};
const INFORMAL = () => /\b(?:gimme|lemme|wanna|gotta|dont)\b/gi;

const OFTEN_MISSPELT = ["create", "delete", "remove", "rename", "replace", "append", "change", "copy", "move"];

/** Two letters swapped, one left out, or one doubled: "delte", "renaem", "coppy". */
function misspelt(word: string): string | undefined {
  return OFTEN_MISSPELT.find((verb) => {
    for (let at = 0; at < verb.length; at += 1) {
      const [before, one = "", other = "", after] = [verb.slice(0, at), verb[at], verb[at + 1], verb.slice(at + 2)];
      if (word === before + one + one + other + after) return true;
      if (word === before + other + after || word === before + other + one + after) return true;
    }
    return false;
  });
}

/** A subject: up to the end of its sentence, past the dots inside names. */
const SUBJECT = "((?:(?![.;!?]\\s|\\n|,?\\s(?:and\\s+)?then\\s).)+?)";

/** "a.txt should be deleted" -> "delete a.txt". The words are masked: what is quoted stays as it is. */
export function reworded(text: string): string {
  let words = text.replace(INFORMAL(), (word) => PLAIN_WORDS[word.toLowerCase()] ?? word);
  words = words.replace(
    /^(\W*(?:(?:please|pls|hey|hi|now|then|so|can you|could you)\W+)*)([a-z]{4,7})(?= )/i,
    (whole, before: string, word: string) => {
      const meant = verbAt(word) ? undefined : misspelt(word.toLowerCase());
      return meant === undefined ? whole : before + meant;
    },
  );
  // Plain looks first: a pattern that is never tried costs a start nothing.
  const has = (part: string): boolean => words.includes(part);
  if (has(" be ")) words = fromPassive(words);
  if (/^\W*(?:please\s+)?(?:i|we)\b/i.test(words)) words = fromWish(words);
  if (/^\s*(?:everywhere|wherever)\b/i.test(words))
    words = words.replace(
      /^\s*(?:everywhere|wherever) (?:it says|you see|you find|there is|it reads) (.+?),?\s+(?:change|replace|turn|make) (?:it|that) (to|with|by|into)\s/i,
      "replace $1 $2 ",
    );
  if (has(" request "))
    words = words.replace(
      /\b(?:make|send|do|issue|perform|execute) (?:an? )?(?:https? )?(?:get )?request (?:to|for|against|on)\s+(?=(?:the )?(?:url )?[\uE000-\uF8FF])/i,
      "fetch ",
    );
  if (/\b(?:arg|param|input)/i.test(words))
    words = words.replace(/[.;,]\s+(?=(?:arguments?|args|param(?:eter)?s?|inputs?)\s*[:=])/i, " with ");
  if (has(" and ") && has(" in ") && /\b(?:replace|change)\b/i.test(words)) words = fromPairs(words);
  if (/\s[-–—]\s/.test(words))
    words = words.replace(/^(\s*[\w./~-]+\.\w+)\s+[-–—]\s+(?=(?:what|show|read|print|display)\b)/i, "$1, ");
  if (/^\s*(?:do |apply |use )?s\//i.test(words))
    words = words.replace(
      /^\s*(?:do |apply |use )?s\/([\w .-]+)\/([\w .-]*)\/g?(\s+)(?:in|on|to)(?=\s)/i,
      "replace $1 with $2$3in",
    );
  return words;
}

/** "a.txt should be deleted". */
function fromPassive(words: string): string {
  return words.replace(
    new RegExp(
      `(^\\s*|[.;!?]\\s+|\\n\\s*|\\bthen\\s+)${SUBJECT},?\\s+(?:should|must|shall|needs? to|has to|have to|ought to|is to|are to)\\s+(?:now\\s+)?be\\s+(${PAST})(?![\\w-])`,
      "gi",
    ),
    (whole, start: string, subject: string, past: string) =>
      isThing(subject) ? `${start}${orderOf(past)} ${subject}` : whole,
  );
}

/** "I want a.txt deleted", "I'd like a.txt to be deleted". */
function fromWish(words: string): string {
  return words.replace(
    new RegExp(
      `^(\\W*(?:please\\s+)?)(?:i|we)(?:'d like| would like| want| need)\\s+(?!(?:you|to)\\b)${SUBJECT}\\s+(to be\\s+)?(${PAST})(?![\\w-])`,
      "i",
    ),
    (whole, start: string, subject: string, passive: string | undefined, past: string) =>
      // "I want a.txt with text read" is about a text.
      isThing(subject) &&
      (passive || !/^(?:read|run|put) |\b(?:with|containing|saying|says)\b|:/i.test(`${past} ${subject}`))
        ? `${start}${orderOf(past)} ${subject}`
        : whole,
  );
}

/** "replace 'a' with 'b' and 'c' with 'd' in x.txt". */
function fromPairs(words: string): string {
  const pair = "([\\uE000-\\uF8FF]|[\\w-]+)\\s+(?:with|by|to)\\s+([\\uE000-\\uF8FF]|[\\w-]+)";
  return words.replace(
    new RegExp(
      `\\b(?:replace|change)\\s+${pair},?\\s+and\\s+${pair}\\s+in\\s+([\\uE000-\\uF8FF]|\\S+\\w)(?=[\\s.!?]*$)`,
      "i",
    ),
    "replace $1 with $2 in $5 and replace $3 with $4 in $5",
  );
}

/** What something is done to: neither a person nor a question, nor an order itself. */
function isThing(subject: string): boolean {
  return (
    !/^(?:i|you|we|they|what|which|why|how|if|when|where|who|that|there)\b/i.test(subject) &&
    verbAt(withoutPoliteness(subject)) === undefined
  );
}

function orderOf(past: string): string {
  const word = past.toLowerCase();
  if (Object.hasOwn(DONE, word)) return DONE[word]!;
  const stem = word.slice(0, -2);
  // "appended" -> "append", "deleted" -> "delete".
  return /^(?:append|add|insert|prepend|fetch|download|display|print|list)$/.test(stem) ? stem : word.slice(0, -1);
}
