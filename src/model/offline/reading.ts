// Reading: "show me the first five lines of a.txt", "what does notes.md say?"
import { countOf, folderNamed, isSpent, looksLikePath, takeFile, takeFiles, takeFolder, trimSlash } from "./phrases.ts";
import { literalOf } from "./quotes.ts";
import type { Lines, ParsedSteps, PromptContext, Step } from "./steps.ts";

const NUMBER = "(\\d+|[a-z]+(?:-[a-z]+)?|a couple of|a few)";

export function read(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const ranged = takeLines(rest, verb);
  const words = ranged.rest.replace(
    /^(?:(?:me|us|out loud|out|back|at|to me|for me|through|into|over|aloud)\s+)*(?:(?:only|just|all(?: of)?|everything|whatever|the|its|whole|full|entire|complete|raw|exact|actual|current)\s+)*(?:(?:what(?:'s| is| are)|what|that is|is|written|stored)\s+)*(?:(?:(?:file(?:'s)? )?contents?|text|body|source(?: code)?|code|inside|data|lines?|insides)\s+)?(?:(?:of|from|in|inside|for|at|within|that (?:is|are) in)\s+)?(?:(?:the )?contents? of\s+)?/i,
    (lead) => (/\bthe\s+$/i.test(lead) ? "the " : /\bits\b/i.test(lead) && !/\bof\s+$/i.test(lead) ? "its " : ""),
  );
  const found = takeFiles(words, scene) ?? takeFiles(rest, scene);
  if (!found) return itsContents(rest, scene, ranged.lines);
  const tail = takeLines(found.rest, "read");
  const lines = ranged.lines ?? tail.lines;
  const left = (tail.lines ? tail.rest : found.rest).replace(
    /^\s*(?:,?\s*(?:and|to)\s+(?:see|show|tell|print|display|give)\s+(?:me\s+)?(?:what(?:'s| is) (?:in it|inside)|its contents?|the contents?|what it says|the output|the text))/i,
    "",
  );
  if (!isSpent(left.replace(/^\s*(?:'s\s+)?(?:contents?|text|source|code)\b/i, ""))) return undefined;
  return found.files.map(
    (file): Step => (file.folder || isFolder(file.path) ? listOf(file.path) : { do: "read", path: file.path, lines }),
  );
}

const ITS_CONTENTS = () =>
  /^(?:me\s+|us\s+)?(?:(?:back|out|all|of)\s+)*(?:(?:the|its|their|that|this|new|whole|full|resulting|updated|final|entire|file's?)\s+)*(?:contents?|text|what(?:'s| is) (?:in it|inside|in there|in the file|there)|what (?:it|the file|that file) (?:says|contains|looks like)(?: now)?|it|back|file)(?:\s+(?:of (?:it|the file|that file|this file)|back|again|now|in it))*[\s.!?]*$/i;

/** "what it says", "its contents", "the contents": of the file last spoken of. */
function itsContents(rest: string, scene: PromptContext, lines: Lines | undefined): ParsedSteps {
  const last = scene.steps.at(-1)?.do;
  // What was fetched or printed is shown anyway.
  if (
    (last === "fetch" || last === "run" || last === "call") &&
    /^(?:me\s+|us\s+)?(?:it|that|its contents?|the (?:page|contents?|text|output|result|response))[\s.!?]*$/i.test(rest)
  )
    return [];
  if (scene.lastPath === undefined) return undefined;
  if (
    !ITS_CONTENTS().test(rest) &&
    !(lines && /^(?:of (?:it|the file|that file)|in it|from it)?[\s.!?]*$/i.test(rest.trim()))
  ) {
    if (!lines || !/(?:of|from|in) (?:it|the file|that file)[\s.!?]*$/i.test(rest)) return undefined;
  }
  return [{ do: "read", path: scene.lastPath, lines }];
}

function listOf(path: string): Step {
  return path === "." ? { do: "list" } : { do: "list", path: trimSlash(path) };
}

function isFolder(path: string): boolean {
  return /\/$/.test(path) || /^\.{1,2}$/.test(path);
}

function takeLines(words: string, verb: string): { lines?: Lines; rest: string } {
  if (!/\blines?\b|^-/i.test(words) && verb !== "head" && verb !== "tail") return { rest: words };
  const only = "(?:,?\\s*(?:only|just)\\s+)?(?:the\\s+)?";
  const of = "(?:\\s+(?:of|from|in))?\\s*";
  const nth = "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\\d+(?:st|nd|rd|th)";
  const patterns: [string, (first: number, second: number) => Lines][] = [
    [`${only}(?:first|top|initial|opening)\\s+${NUMBER}\\s+lines?${of}`, (first) => ({ first })],
    [`${only}(?:last|bottom|final)\\s+${NUMBER}\\s+lines?${of}`, (last) => ({ last })],
    [`${only}(?:first|top) line${of}`, () => ({ first: 1 })],
    [`${only}last line${of}`, () => ({ last: 1 })],
    [
      `${only}(?:(?:from|between)\\s+)?lines?\\s+${NUMBER}\\s*(?:-|–|to|through|until|till|and|up to)\\s*(?:line\\s+)?${NUMBER}(?![\\w])${of}`,
      (from, to) => ({ from, to }),
    ],
    [
      `(?:starting\\s+)?(?:from|at|after)\\s+line\\s+${NUMBER}(?:\\s+(?:on|onwards?|of|in|to the end))*\\s*`,
      (from) => ({ from }),
    ],
    [`${only}line\\s+(?:number\\s+)?(\\d+)${of}`, (from) => ({ from, to: from })],
    [`${only}(${nth})\\s+line${of}`, (from) => ({ from, to: from })],
    ["^(\\d+) lines (?:of|from)\\s*", (first) => ({ first })],
    ["^-n?\\s*(\\d+)\\s+", (count) => (verb === "tail" ? { last: count } : { first: count })],
  ];
  for (const [pattern, lines] of patterns) {
    const match = new RegExp(pattern, "i").exec(words);
    if (!match) continue;
    const first = match[1] === undefined ? 1 : (countOf(match[1]) ?? ordinal(match[1]));
    const second = match[2] === undefined ? 1 : countOf(match[2]);
    if (first === undefined || second === undefined || first < 1) continue;
    return {
      lines: lines(first, second),
      rest: `${words.slice(0, match.index)} ${words.slice(match.index + match[0].length)}`.trim(),
    };
  }
  if (verb === "head") return { lines: { first: 10 }, rest: words };
  if (verb === "tail") return { lines: { last: 10 }, rest: words };
  return { rest: words };
}

function ordinal(word: string): number | undefined {
  const index = "first second third fourth fifth sixth seventh eighth ninth tenth"
    .split(" ")
    .indexOf(word.toLowerCase());
  return index >= 0 ? index + 1 : /^\d+(?:st|nd|rd|th)$/i.test(word) ? Number.parseInt(word, 10) : undefined;
}

const WHAT_IS_IN = () =>
  /^(?:'s|s|\s+is|\s+are|\s+do we have|\s+do i have|\s+do you (?:see|find)|\s+can you (?:see|find)|\s+(?:can|could) (?:be|i) (?:found|seen|read|find|see|stored)|\s+all is)?\s*(?:there\s+|currently\s+|written\s+|stored\s+|saved\s+|inside\s+|contained\s+|all\s+)*(?:(?:the )?(?:contents?|text|source(?: code)?|code|body|data|inside)\s+)?(?:inside of|in|inside|within|of|on|from)\s+(.+)$/i;
const WHAT_DOES_IT_SAY = () =>
  /^\s+(?:(?:text|content|words?|data|lines?|stuff)\s+)?(?:does|do|did)\s+(.+?)\s+(?:contain|say|hold|have(?: in it| inside)?|look like|include|read|store)(?:\s+(?:inside|in it|now|exactly))?[\s.?!]*$/i;
const WHAT_IT_SAYS = () =>
  /^\s+(.+?)\s+(?:contains|says|holds|looks like|has in it|has inside|includes|reads)[\s.?!]*$/i;
const WHAT_TEXT_IS_IN = () =>
  /^\s+(?:text|content|data|lines?|stuff|words?)\s+(?:is|are|does)\s+(?:there\s+)?(?:in|inside|stored in|written in)\s+(.+)$/i;
const WHAT_LINE_OF = () =>
  /^(?:'s|s|\s+is|\s+are|\s+does)\s+(?:(?:on|at|in)\s+)?((?:the\s+)?(?:(?:first|last|top|bottom|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th))\s(?:.*?\s)?lines?|lines?\s+\S+.*?)\s+(?:of|in|from)\s+.+?)(?:\s+(?:say|contain|read|look like))?[\s.?!]*$/i;
const WHAT_IS_HERE = () =>
  /^(?:'s|s|\s+is|\s+are|\s+do (?:we|i|you) (?:have|see)|\s+have we got)\s+(?:there\s+|around\s+|all\s+)*(?:here|there|around here)[\s.?!]*$/i;

/** Questions about what is in a file or folder: the words after "what". */
export function readQuestion(words: string, scene: PromptContext): ParsedSteps {
  const inside = WHAT_IS_IN().exec(words);
  const does = WHAT_DOES_IT_SAY().exec(words);
  const says = WHAT_IT_SAYS().exec(words);
  const text = WHAT_TEXT_IS_IN().exec(words);
  const first = WHAT_LINE_OF().exec(words);
  if (first) return read(first[1]!, scene, "read");
  if (WHAT_IS_HERE().test(words)) return [{ do: "list" }];
  const object = (inside ?? does ?? text ?? says)?.[1];
  if (object === undefined) return undefined;
  const found =
    takeFile(object, scene) ??
    (/^(?:it|there|the file|that file)\b/i.test(object) ? undefined : folderNamed(object, scene));
  if (!found || !isSpent(found.rest)) {
    const here = takeFolder(`in ${object}`, scene);
    return here && here.folder === undefined && isSpent(here.rest) ? [{ do: "list" }] : undefined;
  }
  return [
    found.folder || isFolder(found.path) || !looksLikeFile(found.path, scene)
      ? { do: "list", path: trimSlash(found.path) }
      : { do: "read", path: found.path },
  ];
}

/** "src/app" may be either; a name without an ending is taken for a folder unless it is known as a file. */
function looksLikeFile(path: string, scene: PromptContext): boolean {
  const name = path.split("/").at(-1) ?? "";
  return (
    path === scene.lastPath ||
    /\.\w/.test(name) ||
    (!path.includes("/") && looksLikePath(name)) ||
    literalOf(scene.masked, path) !== undefined ||
    name.startsWith(".")
  );
}
