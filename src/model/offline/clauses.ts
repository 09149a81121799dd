// Clauses: one prompt -> the instructions in it, each without its politeness.
import { readSum } from "./arithmetic.ts";
import { isCommandText } from "./commands.ts";
import { isRemark } from "./grammar/remarks.ts";
import { isGreeting } from "./grammar/talk.ts";
import { withoutPoliteness } from "./politeness.ts";
import { type Masked, protect, restore } from "./quotes.ts";
import { reworded } from "./rewording.ts";
import { isStory } from "./stories.ts";
import { verbAt } from "./verbs.ts";

/** `words` are still masked. `joined`: how it hangs on the clause before it. */
export type Clause = { words: string; joined: "start" | "then" | "and" };

export function clausesOf(prompt: Masked): { masked: Masked; clauses: Clause[] } {
  const masked = protectContent({ ...prompt, text: reworded(prompt.text) });
  const clauses: Clause[] = [];
  for (const item of itemsOf(masked.text)) {
    for (const clause of splitItem(item)) {
      clauses.push(clauses.length > 0 && clause.joined === "start" ? { ...clause, joined: "then" } : clause);
    }
  }
  return { masked, clauses };
}

const VERBATIM = () => /\b(?:exactly|verbatim|word for word)(?:\s+(?:this|the following))?\s*:\s*(?=\S)/i;
const INTRODUCES_TEXT = () =>
  /\b(?:with|containing|contains?|contents?|text|lines?|say(?:s|ing)?|following|this|body|to|into|in)\b[^\n]*$/i;

/** "create a.txt with:" and lines below it: the lines are content, not instructions. */
function protectContent(masked: Masked): Masked {
  if (!masked.text.includes(":")) return masked;
  const literally = VERBATIM().exec(masked.text);
  if (
    literally &&
    /\b(?:reply|respond|answer|say|output|print|return|echo)\b/i.test(masked.text.slice(0, literally.index))
  ) {
    return protect(masked, literally.index + literally[0].length, masked.text.trimEnd().length);
  }
  const opening = /:[ \t]*\n+(?=\s*\S)/.exec(masked.text);
  if (!opening) return masked;
  const head = masked.text.slice(0, opening.index);
  const start = opening.index + opening[0].length;
  const isWriting =
    /\b(?:create|write|make|save|put|store|append|add|insert|overwrite|fill|generate|set)\b/i.test(head) &&
    INTRODUCES_TEXT().test(head) &&
    /[\w-]\.\w{1,10}\b|[\uE000-\uF8FF]|\bfile\b/.test(head) &&
    !isTodoHead(head) &&
    !/\b(?:steps|tasks|instructions)\b/i.test(head);
  if (!isWriting || /^\s*[\uE000-\uF8FF]\s*$/.test(masked.text.slice(start))) return masked;
  return protect(masked, start, masked.text.length);
}

/** Lines, list items and "1. … 2. …" in one line; a heading over a list says nothing by itself. */
function itemsOf(text: string): string[] {
  const marker = /^\s*(?:(?:step\s*)?\d{1,2}\s*[.):]|[-*•]|\(\d{1,2}\)|step\s+\d+\s*[-–]?)\s+/i;
  if (/^[a-z]+ [^\n]*$/i.test(text) && !text.includes("1")) return [text.trim()];
  const items: string[] = [];
  for (const line of inlineNumbers(text).split("\n")) {
    if (line.trim() === "") continue;
    const last = items.at(-1);
    const bare = line.replace(marker, "");
    const marked = bare !== line;
    if (last !== undefined && isTodoHead(last) && (marked || /:\s*$/.test(last))) {
      items[items.length - 1] = last.replace(/:\s*$/, ": ").replace(/([^:\s])\s*$/, "$1, ") + bare.trim();
    } else if (last === undefined || marked || startsInstruction(bare) || isRemark(bare)) items.push(bare.trim());
    else items[items.length - 1] = `${last}\n${bare}`;
  }
  if (items.length < 2) return items;
  return items.filter((item) => !isHeading(item) && withoutPoliteness(`${item}, x`) !== "x");
}

function inlineNumbers(text: string): string {
  if (!text.includes("1") || !/(?:^|[:\n]\s*)\(?1[.)]\s+\S|\(1\)\s+\S/.test(text) || !/\s\(?2[.)]\s+\S/.test(text))
    return text;
  let expected = 1;
  return text
    .replace(/(^|\s)\(?(\d{1,2})[.)]\s+(?=\S)/g, (whole, _gap, number) => {
      if (Number(number) !== expected) return whole;
      expected += 1;
      return `\n${number}. `;
    })
    .replace(/(?:[,;]|,?\s+(?:and|then|and then))\s*(?=\n\d)/g, "");
}

const HEADING = () =>
  /^(?:[\w\s',]*\b(?:following|steps?|tasks?|things|instructions|to-?do|this|these|in (?:this )?order)\b[\w\s',]*):$/i;

function isHeading(item: string): boolean {
  return HEADING().test(item) && !/[\uE000-\uF8FF]/.test(item);
}

const TODO_HEAD = () =>
  /\b(?:to-?dos?|to do|tasks?)(?:[- ]?lists?)?(?:\s+(?:items?|entries))?\b[^:\n]*(?::|\b(?:with|for|containing|of|from)\b)/i;

export function isTodoHead(text: string): boolean {
  return TODO_HEAD().test(text);
}

/** Words and signs that may stand between two clauses. */
const MAY_JOIN = () => /[.!?;,&]\s|\s(?:and|then|after|next|last|final|follow|once|when|but|as|at)/i;

function splitItem(source: string): Clause[] {
  const told = /^([^:]{8,200}):\s+(?=\S)/.exec(source);
  const order = told && isStory(told[1]!) ? source.slice(told[0].length) : "";
  // What stands behind a colon is looked at, not done: "The note says: …".
  if (order !== "" && /^(?:what|which|where|how|show|list|read|print|find|search)/i.test(withoutPoliteness(order)))
    return [{ words: told![1]!, joined: "start" }, ...splitItem(order)];
  if (!MAY_JOIN().test(source)) return [{ words: source.trim(), joined: "start" }];
  const item = /\b(?:replace|change|swap)\b/i.test(source) ? foundAndReplaced(source) : source;
  const joiner =
    /\s*[.!?;,]*\s*(?:,\s*|\s)(?:and\s+)?(?:then|after\s+(?:that|this|which)|afterwards?|next|finally|lastly|at\s+last|followed\s+by|once\s+(?:that|this|it)(?:'s|\s+is)\s+done|when\s+(?:that|this|it)(?:'s|\s+is)\s+done|when\s+(?:you're|you\s+are)\s+done)\b[,:]?\s+|\s*[.!?]+\s+|\s*;\s*|\s*,\s+(?:(?:and|but)\s+)?(?:also\s+)?|\s+(?:and|&&?|but|as\s+well\s+as)\s+(?:also\s+)?/gi;
  const clauses: Clause[] = [];
  let start = 0;
  let joined: Clause["joined"] = "start";
  for (let match = joiner.exec(item); match; match = joiner.exec(item)) {
    const left = item.slice(start, match.index);
    const right = item.slice(match.index + match[0].length);
    const hard = /then|after|next|finally|last|followed|done|[.!?]\s/i.test(match[0]);
    if (!left.trim() || !right.trim() || !parts({ left, right, hard, mark: match[0] })) {
      // A joiner that does not part may hide another right behind its first word: ", and then".
      joiner.lastIndex = match.index + Math.max(1, match[0].trimEnd().length);
      continue;
    }
    clauses.push({ words: left, joined });
    joined = hard ? "then" : "and";
    start = match.index + match[0].length;
  }
  clauses.push({ words: item.slice(start), joined });
  return clauses
    .map((clause) => ({ ...clause, words: clause.words.trim() }))
    .filter((clause) => /[^\s.,;:!?]/.test(clause.words));
}

/** "find x in a.txt and replace it with y" is one order. */
function foundAndReplaced(source: string): string {
  const found = source.replace(
    /\b(?:search|scan|look in|look through)\s+(?:the\s+)?(?:file\s+)?([\w./~-]+\.\w+|[\uE000-\uF8FF])\s+for\s+((?:[^,;.]|\.(?=\w))+?)\s+and\s+(?=(?:replace|change|swap)\s+(?:(?:it|them|that|all of them)\s+)?(?:with|by|to)\b)/gi,
    "find $2 in $1 and ",
  );
  return found.replace(
    /\b(?:find|search for|look for|locate)\s+((?:[^,;.]|\.(?=\w))+?)(?:,?\s+and|,)\s+(?:then\s+)?(?:replace|change|swap)\s+(?:(?:it|them|that|this|all(?: of (?:it|them))?|each(?: one)?|every one)\s+)?(with|by|to|for)\b/gi,
    "replace $1 $2",
  );
}

const FILE_WITH_TEXT = () =>
  /^(?:(?:a|an|another|the)\s+(?:file\s+)?(?:called\s+|named\s+)?)?(?:[\uE000-\uF8FF]|[\w./~-]+\.\w{1,10})\s+(?:with|containing|saying|that says)\s/i;

/** Is what stands right of a joiner an instruction of its own? */
function parts(place: { left: string; right: string; hard: boolean; mark: string }): boolean {
  const left = withoutPoliteness(place.left);
  const right = withoutPoliteness(place.right);
  // "in a.txt, replace …" and "using the shell, run …" are one clause.
  if (
    /^(?:in|inside|within|from|under|at|to|using|with|via|after|before|if|for|everywhere|where|wherever|below|above|right after)\b/i.test(
      left,
    ) &&
    /,/.test(place.mark) &&
    !/\b(?:and|then)\b/.test(place.mark)
  ) {
    return false;
  }
  if (!place.hard && isTodoHead(left) && (verbAt(left) || /^(?:my\s+)?to-?do/i.test(left)))
    return /[;]/.test(place.mark) && startsInstruction(right);
  // "copy a.txt and call it b.txt" is one order.
  if (/^(?:copy|duplicate|clone|cp)\b/i.test(left) && /^(?:name|call) (?:it|the copy)\b/i.test(right)) return false;
  if (withoutPoliteness(`${place.left}, x`) === "x") return false;
  // "find and replace x with y": two verbs, one order.
  if (!place.hard && verbAt(left)?.rest === "" && !/^(?:ls|dir|help|ping)$/i.test(left)) return false;
  if (!place.hard && /^(?:go|come)$/i.test(left)) return false;
  // "run a && b" is one command; "create a.txt && read it" two instructions.
  if (/&&/.test(place.mark) && !isOrder(left)) return false;
  // "run for i in 1 2; do echo $i; done"
  if (
    /^(?:run|execute)\b.*\b(?:for|while|until|if)\b/i.test(left) &&
    /;/.test(place.mark) &&
    /^(?:do|then|done|fi|else)\b/.test(place.right)
  )
    return false;
  if (isRemark(place.right)) return true;
  if (isGreeting(place.left) || contentSentence(place.right, { short: place.hard || /;/.test(place.mark) }))
    return true;
  if (place.hard) return startsInstruction(right) || inherits(left, right) || (isStory(left) && isStory(right));
  // "create a.txt with 'a' and b.txt with 'b'": the verb carries over.
  if (
    verbAt(left) &&
    /[\uE000-\uF8FF]\s+(?:to|into|in)\s/.test(left) &&
    /^[\uE000-\uF8FF]\s+(?:to|into|in)\s+(?:[\uE000-\uF8FF]|[\w./~-]+\.\w{1,10})/i.test(right)
  )
    return true;
  if (
    verbAt(left) &&
    /\b(?:with|containing|saying|says|text|in it)\b|\b(?:folder|directory)\b|[\uE000-\uF8FF]/i.test(left) &&
    FILE_WITH_TEXT().test(right)
  )
    return true;
  if (!startsInstruction(right)) return false;
  // "search for read and write": a verb with nothing after it is a word like any other.
  return right.trim().split(/\s+/).length > 1 || readSum(right) !== undefined || /^(?:ls|pwd|help)\W*$/i.test(right);
}

const SHELL_VERB = () =>
  /^(?:run|execute|exec|launch|issue|perform|use|do|try|echo|cat|ls|cd|rm|mv|cp|touch|grep|rg|head|tail|curl|test)$/;

/** Words of English, not of a shell. */
function isOrder(words: string): boolean {
  const verb = verbAt(words)?.verb;
  return verb !== undefined && !SHELL_VERB().test(verb) && !isCommandText(words);
}

/** "read a.txt, then b.txt": the verb carries over. */
function inherits(left: string, right: string): boolean {
  if (!verbAt(left)) return false;
  return (
    /^(?:the (?:file )?)?(?:[\uE000-\uF8FF]|[\w./~-]+\.\w{1,10}|[\w.-]+\/)(?=[\s.,;!?]|$)/i.test(right) ||
    isCommandText(right)
  );
}

const QUESTION_WORD = () =>
  /^(?:what|what's|whats|which|where|where's|who|how|is|are|does|do|did|remind|repeat|why|when|should|explain)$/;
const PLACE_THEN_VERB = () =>
  /^(?:in|inside|within|using|with|at|to)\s.*[,\s](?:replace|add|append|change|run|search|find|create|write|insert)\b/i;

export function startsInstruction(text: string): boolean {
  const bare = withoutPoliteness(text);
  const first = /^[a-z']+/i.exec(bare)?.[0].toLowerCase() ?? "";
  if (verbAt(bare)) return true;
  if (QUESTION_WORD().test(first)) return true;
  if (PLACE_THEN_VERB().test(bare)) return true;
  return isCommandText(bare) || readSum(bare) !== undefined;
}

const SHORT_CONTENT = () =>
  /^(?:with\s+)?(?:(?:its|the|the file's)\s+)?(?:contents?|text|body)\s*(?::|\s(?:is|are|reads?|says?))\s*(\S.*)$/is;
const CONTENT = () =>
  /^(?:and\s+)?(?:it|the file|that file|(?:its|the|the file's)\s+(?:contents?|text|body)(?:\s+of (?:it|the file))?)\s+(?:should|must|shall|needs to|has to|will|is to|ought to)\s+(?:be(?!\s+(?:called|named|titled))|contain|say|read|have|hold|include)\s*(?:the\s+(?:following\s+)?(?:text|contents?|words?|lines?)\s*)?:?\s+(.+)$/is;

/** "It should contain 'x'": what the file just created is to hold. `short`: "Content: x" will do. */
export function contentSentence(text: string, options: { short: boolean } = { short: true }): string | undefined {
  if (!/^(?:and|it|its|the|that|with|contents?|text|body)\b/i.test(text.trim())) return undefined;
  const short = options.short ? SHORT_CONTENT().exec(text.trim()) : null;
  const match = short ?? CONTENT().exec(text.trim());
  // "It should be short" is not text.
  const wish =
    /^(?:and\s+)?(?:it|the file|that file)\s+[\w\s]+?\sbe\s/i.test(text.trim()) && !/[\uE000-\uF8FF]/.test(text);
  return wish ? undefined : match?.[1];
}

const BARE_ANSWER = () =>
  /\b(?:only|just|nothing but)\s+(?:with\s+)?(?:the|a|its|that)\s+(?:final\s+|resulting\s+|raw\s+|plain\s+|single\s+|bare\s+|numeric\s+|numerical\s+)*(?:number|result|answer|digits?|value|output|contents?|text)\b|\bthe (?:final |resulting |raw |plain |bare )?(?:number|result|answer|value|output) (?:only|alone|and nothing (?:else|more))\b/i;

export function wantsBareAnswer(text: string): boolean {
  if (!/only|just|nothing|alone/i.test(text)) return false;
  return BARE_ANSWER().test(text);
}

export function asTyped(masked: Masked, words: string): string {
  return restore(masked, words).trim();
}
