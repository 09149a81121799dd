// Replacing: text in a file, as people ask for it to be changed or taken out.

import { isDescription } from "./grammar/rows.ts";
import { isSpent, splitAt, takeFile, termOf } from "./phrases.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

const OLD_LEAD = () =>
  /^(?:(?:only|just|any|all|each|every|the|a|of|(?:first|1st)(?= )|occurrences?|instances?|mentions?|appearances?|uses?|usages?|words?|texts?|strings?|phrase|typo|name|variable|function|term|value|number|letter|identifier|line(?=\s+[\uE000-\uF8FF])|spelling|misspelling)\s+)*/i;

const CHANGE_INSIDE = () =>
  /^\s*(?:,|:|-|and|to|by|so that|such that|so)*\s*(?:replac(?:e|ing)|chang(?:e|ing)|swap(?:ping)?|renam(?:e|ing)|substitut(?:e|ing)|turn(?:ing)?)\s+(.+)$/i;

export function replace(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const instead = /^(.+?)\s+instead of\s+(.+?)(\s+in\s+.+)?$/i.exec(rest);
  if (/^(?:use|put|write)$/.test(verb))
    return instead ? replaceIn(`${instead[2]} with ${instead[1]}${instead[3] ?? ""}`, scene, "replace") : undefined;

  // "edit a.txt: replace x with y", "update a.txt, changing x to y", "modify a.txt so that x becomes y"
  const inside = /^(?:edit|update|modify|change|fix|correct)$/.test(verb) ? takeFile(rest, scene) : undefined;
  if (inside) {
    const order = CHANGE_INSIDE().exec(inside.rest);
    if (order) return replaceIn(order[1]!, { ...scene, lastPath: inside.path }, "change");
    const becomes = /^\s*(?:,|:)?\s*(?:so that|such that|so)\s+(.+?)\s+becomes\s+(.+)$/i.exec(inside.rest);
    if (becomes) return replaceIn(`${becomes[1]} to ${becomes[2]}`, { ...scene, lastPath: inside.path }, "change");
    const from = /^\s*(?:from)\s+(.+?)\s+to\s+(.+)$/i.exec(inside.rest);
    if (from) return replaceIn(`${from[1]} to ${from[2]}`, { ...scene, lastPath: inside.path }, "change");
  }
  return replaceIn(rest, scene, verb);
}

const NO_PLAIN_TERM = () =>
  /^(?:line|lines|everything|anything|all|it|them|code|function|functions|contents?|files?|something|better|a|an|the|use|be)\b(?:\s|$)/i;
const NAME_OF_A_VALUE = () =>
  /^(?:version|title|name|port|colou?r|value|author|description|license|size|width|height|font|background|timeout|url|path|date|year|email|password|username|key|limit|level|mode|status|indentation|style|format|language|type|default|config|configuration)$/i;

function replaceIn(words: string, scene: PromptContext, verb: string): ParsedSteps {
  let body = words;
  let path: string | undefined;
  const front = /^(?:in|inside|within)\s+/i.exec(body);
  if (front) {
    const file = takeFile(body.slice(front[0].length), scene);
    if (!file) return undefined;
    path = file.path;
    body = file.rest.replace(/^\s*[,:]?\s*/, "");
  }
  if (path === undefined) {
    const split = splitAt(body, /\s*,?\s+(?:in|inside|within|of|from|throughout|across)\s+/, (right) => {
      const file = takeFile(right.replace(/^(?:the contents? of|all of)\s+/i, ""), scene, {});
      return file &&
        !file.folder &&
        isSpent(file.rest.replace(/^\s*(?:everywhere|throughout|wherever it (?:appears|occurs))/i, ""))
        ? file
        : undefined;
    });
    if (split) {
      path = split.right.path;
      body = split.left;
    }
  }
  if (path === undefined) {
    // "replace x in a.txt with y"
    const middle = splitAt(body, /\s+(?:in|inside|within|of)\s+/, (right) => {
      const file = takeFile(right, scene);
      return file && !file.folder && /^\s*(?:with|by|to|into|for)\s+\S/i.test(file.rest) ? file : undefined;
    });
    if (middle) {
      path = middle.right.path;
      body = `${middle.left} ${middle.right.rest.trim()}`;
    }
  }
  path ??= scene.lastPath;
  const to = /^(?:replace|swap|swap out|exchange|substitute)$/.test(verb)
    ? /\s+(?:with|by|for|to|into|->|=>)\s+|\s*(?:->|=>|→)\s*/
    : /\s+(?:to|into|with|by|->|=>)\s+|\s*(?:->|=>|→)\s*/;
  const match = to.exec(body);
  if (!match || path === undefined) return undefined;
  let [before, after] = [body.slice(0, match.index).trim(), body.slice(match.index + match[0].length).trim()];
  // "substitute new for old": the other way round.
  if (verb === "substitute" && /for/.test(match[0])) [before, after] = [after, before];
  const lead = OLD_LEAD().exec(before)![0];
  const first =
    /\b(?:first|1st)\s+$/i.test(lead) ||
    /\b(?:first|1st)\s+(?:occurrence|instance|mention|appearance)\b/i.test(before) ||
    /\b(?:once|only once|first time)\s*$/i.test(after);
  before = before.slice(lead.length).replace(/\s+everywhere$/i, "");
  after = after
    .replace(/\s+(?:everywhere|throughout|globally|in all places|once|only once|each time)\s*$/i, "")
    .replace(/^(?:the\s+)?(?:word|text|string|phrase|name|term|value|number)\s+(?=\S)/i, "");
  // "replace the loop in app.ts with recursion" speaks of code, not of a word.
  const isThing =
    /\bthe\s+$/i.test(lead) || (/\bthe (?:first|last)\s+$/i.test(lead) && !/^(?:replace|swap)/.test(verb));
  if (isThing && !/[\uE000-\uF8FF]/.test(before)) return undefined;
  if (isDescription(after) || isDescription(before)) return undefined;
  // "its synonym", "the current date": to be found out first.
  if (/^(?:its|their|his|her|the|a|an|my|your|our|some|another)\s+\w/i.test(after)) return undefined;
  const oldText = termOf(before, scene);
  const newText = /^(?:nothing|an empty string|empty string)$/i.test(after) ? "" : termOf(after, scene);
  // What is not quoted must be a plain term: "line 3", "everything" and whole sentences are wishes.
  const plain = (text: string): boolean =>
    /[\uE000-\uF8FF]/.test(text) || (/^\S+(?:\s+\S+){0,5}$/.test(text) && !NO_PLAIN_TERM().test(text));
  if (oldText === "" || !plain(before) || (newText !== "" && !plain(after))) return undefined;
  // "update version to 2 in package.json" speaks of a value, not of the word.
  if (
    /^(?:tabs?|spaces?|newlines?|line endings|whitespace|(?:single|double) quotes|semicolons|commas)$/i.test(before) ||
    (!/^(?:replace|swap|substitute|rename|exchange)/.test(verb) && NAME_OF_A_VALUE().test(before))
  )
    return undefined;
  if (/^(?:line|lines)\s+\d/i.test(`${lead}${before}`.replace(/^the\s+/i, ""))) return undefined;
  return [{ do: "replace", path, oldText, newText, ...(first && { first }) }];
}
