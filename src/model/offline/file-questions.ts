// File questions: "which files mention x?", "where is a.txt?", "are there any .md files?"
import { find, list } from "./finding.ts";
import { thereAs } from "./moving.ts";
import { onlyFile } from "./phrases.ts";
import { matched } from "./quotes.ts";
import { HAS, isAboutNames, search } from "./searching.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

const IN_WHICH_FILES = () =>
  /^in\s+(?:which|what)\s+(.*?)\s*(?:files?|documents?|places)\s+(?:does|do|is|are|can|did)\s+(?:you find\s+|we find\s+|i find\s+)?(?:the\s+(?:word|text|string|phrase|term)\s+)?(.+?)(?:\s+(?:appear|occur|mentioned|used|found|show up|be found|contained|referenced|present|come up|defined|exist)s?)?$/i;
const WHICH_LINES = () =>
  /^(?:which|what)\s+lines?\s+(?:in|of|from)\s+(.+?)\s+(?:contains?|mentions?|ha(?:ve|s)|includes?|match(?:es)?)\s+(.+)$/i;
const WHICH_FOLDER = () =>
  /^(?:which|what)\s+(?:folder|directory)\s+(?:is|contains|has|holds)\s+(.+?)(?:\s+(?:in|located in|inside))?$/i;
const WHICH_FILES = () =>
  /^(?:which|what)\s+(?:of the\s+)?(?:other\s+)?(?:(.+?)\s+)??(files?|folders?|directories|documents?|scripts?|modules?)(?:\s+(.*))?$/i;
const ABOUT_NAMES = () =>
  /^(?:that\s+|are\s+|is\s+|have\s+|has\s+)*(?:end|start|begin|called|named|match|whose|with|(?:have|has|the)\s+(?:the\s+|an?\s+)?(?:file\s+)?(?:ext|name|suffix))/i;
const WHERE_USED = () =>
  /^where\s+(.+?)\s+(?:is|are|gets?)\s+(?:being\s+)?(?:used|defined|mentioned|called|referenced|declared|imported|set|implemented)(?:\s+(?:in|inside|across)\s+(.+))?$/i;
const SOMETHING_USED = () =>
  /^(?:(?:we|i|you|they|it|the \w+|any(?:one|body)|this \w+)\s+)??(?:find\s+)?(.+?)\s+(?:used|defined|mentioned|called|referenced|declared|imported|located in the code|appear|occur|set|implemented)(?:\s+(?:in|inside|across)\s+(.+))?$/i;
const WE_USE = () =>
  /^(?:we|i|you|they)\s+(?:use|mention|define|call|reference|import|declare|set)\s+(.+?)(?:\s+(?:in|inside|across)\s+(.+))?$/i;
const WORD_IN_PLACE = () =>
  /^(?:the\s+)?(?:(?:word|text|string|phrase|term)\s+)([\uE000-\uF8FF]|\S+)(?:\s+(?:anywhere|somewhere))?\s+(?:in|inside)\s+(.+)$/i;
const MENTIONED = () =>
  /^(.+?)\s+(?:used|mentioned|defined|referenced|found|present|contained)(?:\s+(?:anywhere|somewhere|in|inside)\s*(.*))?$/i;

/** Questions about files, folders and text: "which files mention x?", "where is a.txt?". */
export function fileQuestion(words: string, scene: PromptContext): ParsedSteps {
  const text = words
    .trim()
    .replace(/[\s?.!]+$/, "")
    .replace(/(?<=\S)\s+(?:somewhere|anywhere)$/i, "");
  const inWhich = IN_WHICH_FILES().exec(text);
  if (inWhich) return search(`${inWhich[1]} files containing ${inWhich[2]}`.trim(), scene, "search");
  const lines = WHICH_LINES().exec(text);
  if (lines) return search(`${lines[2]} in ${lines[1]}`, scene, "search for");
  const placed =
    /^where\s+(?:the\s+)?(.+?)\s+(?:is|are)(?:\s+(?:located|stored|kept))?$/i.exec(text) ?? WHICH_FOLDER().exec(text);
  const byPlace = placed && find(placed[1]!, scene, "find");
  if (byPlace) return byPlace;
  const some = WHICH_FILES().exec(text);
  if (some) {
    const [, kind = "", noun = "", behind = ""] = some;
    const rest = behind.replace(/^(?:in|inside|under|of)\s+.+?\s+(?=contain|mention|have|includ|use|referenc)/i, "");
    const has = new RegExp(
      `^(?:.*\\s)?(?:do\\s+|does\\s+|that\\s+|actually\\s+|currently\\s+|here\\s+|all\\s+)*${HAS}\\s+`,
      "i",
    ).exec(behind);
    const name = find(`${kind} files ${rest}`.trim(), scene, "find");
    if (name && !/^(?:are|is|exist|do|can)?\s*$/i.test(rest) && ABOUT_NAMES().test(rest)) return name;
    if (has) {
      const found = search(`${kind} files ${behind}`.trim(), scene, "search");
      if (found) return found;
    }
    const place = behind
      .replace(
        /^(?:(?:do|does|did|can)\s+(?:we|i|you|this \w+|the \w+)\s+(?:have|see|find|contain|include)|are(?:\s+(?:there|available|present|located|stored))*|is(?:\s+there)?|exists?|live|can be found|there are|got|we got)(?=\s|$)/i,
        "",
      )
      .trim();
    if (kind.trim() !== "" && !/^(?:all|the|of|all the|my|our)$/i.test(kind.trim()))
      return find(`${kind} ${noun} ${place}`.trim(), scene, "find") ?? undefined;
    return list(`${noun} ${place}`.trim(), scene);
  }
  const whereUsed = WHERE_USED().exec(text);
  if (whereUsed) return searchFor(whereUsed, scene);
  const where = /^where(?:'s|s|\s+(?:is|are|do|does|did|can))\s+(.+)$/i.exec(text);
  if (where) {
    const used = SOMETHING_USED().exec(where[1]!) ?? WE_USE().exec(where[1]!);
    if (used) return searchFor(used, scene);
    return find(where[1]!.replace(/^(?:we|i|you) find\s+/i, ""), scene, "find");
  }
  const any = /^(?:is|are|do|does)\s+(?:there\s+)?(?:(?:we|i|you)\s+have\s+)?(.+)$/i.exec(text);
  if (any) {
    const object = any[1]!;
    const holds = matched(
      `(?:any|some|a|an|every)\\s+(.*?)\\s*files?\\s+(?:that\\s+|which\\s+|here\\s+)?(?:${HAS})\\s+(.+)`,
      object,
    );
    if (holds && !isAboutNames(holds[2]!, object) && !/^(?:called|named)\b/i.test(holds[2]!))
      return search(`files containing ${holds[2]}`, scene, "search");
    // "have a lint script" speaks of a thing, not of a text.
    const inFile = /^(.+?)\s+(?:contain|mention|include|(?:have|use|reference)(?! an? | any ))\s+(.+)$/i.exec(object);
    if (inFile && onlyFile(inFile[1]!, scene)) return search(`${inFile[2]} in ${inFile[1]}`, scene, "search for");
    const inText =
      WORD_IN_PLACE().exec(object) ??
      /^([\uE000-\uF8FF]|[^\s.]+)\s+(?:anywhere|somewhere)\s+(?:in|inside)\s+(.+)$/i.exec(object);
    if (inText) return searchFor(inText, scene);
    const mentioned = MENTIONED().exec(object);
    if (mentioned) return searchFor([mentioned[0], mentioned[1]!, mentioned[2]?.replace(/^in\s+/i, "")], scene);
    const exists = object.replace(
      /\s+(?:exist|there|(?:in\s+)?here|present|in (?:this|the) (?:folder|directory|project|repo))$/i,
      "",
    );
    const place =
      /^(?:the |an? )?(?:folder|directory) (?:called |named )?([\w./-]+)$|^(?:the |an? )?([\w./-]+) (?:folder|directory)$|^([\w.-]+\/[\w/-]+)$/i.exec(
        exists,
      );
    const name = place?.[1] ?? place?.[2] ?? place?.[3];
    if (name !== undefined) return [{ do: "find", pattern: thereAs(name) }];
    return find(exists, scene, "find");
  }
  return undefined;
}

/** A term, and the place to look for it in. */
function searchFor([, term, place]: readonly (string | undefined)[], scene: PromptContext): ParsedSteps {
  return search(place?.trim() ? `${term} in ${place}` : `${term}`, scene, "search for");
}
