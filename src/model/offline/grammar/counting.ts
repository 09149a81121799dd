// How much and how many: lines of a file, files of a kind, marks in the code; and where a text is.
import { kindOf } from "../finding.ts";
import { isKnownFolder, thereAs } from "../moving.ts";
import { trimSlash } from "../phrases.ts";
import type { ParsedSteps, StepOf } from "../steps.ts";
import { isDescription, type Row } from "./rows.ts";

const units: Record<string, StepOf<"measure">["unit"]> = {
  line: "lines",
  word: "words",
  character: "characters",
  char: "characters",
  letter: "characters",
  byte: "bytes",
};

function measured(file: string, word: string): ParsedSteps {
  const unit = word.toLowerCase().replace(/s$/, "");
  return Object.hasOwn(units, unit) ? [{ do: "measure", path: file, unit: units[unit]! }] : undefined;
}

/** `asks`: the answer begins with yes or no. */
function looked(text: string, path?: string, asks = false): ParsedSteps {
  const pattern = text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return [{ do: "search", pattern, mode: "content", ...(path && { path }), ...(asks && { asks }) }];
}

function matches(text: string, path?: string): ParsedSteps {
  return [{ ...(looked(text, path)![0] as StepOf<"search">), mode: "count" }];
}

/** "TODOs", "todo" -> "TODO" */
function markOf(word: string): string | undefined {
  return /^(TODO|FIXME|HACK|XXX)s?$/.exec(word.replace(/^todos?$/, "TODO").replace(/^fixmes?$/, "FIXME"))?.[1];
}

function marks(word: string, path?: string): ParsedSteps {
  const mark = markOf(word);
  return mark === undefined ? undefined : matches(mark, path);
}

function anyMarks(word: string, path?: string): ParsedSteps {
  const mark = markOf(word);
  return mark === undefined ? undefined : looked(mark, path, true);
}

export const lookRows: Row[] = [
  [
    `show|show_me|print|list|find|display|get|give_me [all] [the] lines|line in|of|from FILE that|which contain|contains|mention|mentions|have|has|include [the_word|the_text] TEXT`,
    ({ file, text }) => looked(text, file),
  ],
];

export const measureRows: Row[] = [
  [
    `<many> WORD [of_text|of_code] does|do FILE have|contain|hold
    <many> WORD [of_text|of_code] [are] [there] in|of|inside FILE
    <many> WORD FILE has|contains
    <many> WORD has|have FILE [got]
    what|what's|what_is|tell_me|give_me [is] the number|count of WORD in|of FILE
    [the] number|count of WORD in|of FILE
    [the] WORD count of|for|in FILE
    tally_up|tally|count_up [the] WORD of|in FILE
    how much WORD has|does FILE [have|got]
    how long|big|large is FILE in WORD
    how many WORD is|are FILE
    FILE how_many WORD [does_it_have|are_there|are_in_it]`,
    ({ file, word }) => measured(file, word),
  ],
  [
    `<often> [does|do|is|are] [<the-word>] TEXT <appear> in|inside|across|within FILE
    <many> [the] [number_of] <occurrences> of|for [<the-word>] TEXT [are|is|there_are] [there] in|inside|across|within FILE`,
    ({ file, text }) => [{ do: "measure", path: file, unit: "times", text }],
  ],
  [
    `<often> [does|do|is|are] [<the-word>] TEXT <appear> in|inside|across|within FOLDER
    <often> [does|do|is|are] [<the-word>] TEXT <appear> [<here>]
    <many> [the] [number_of] <occurrences> of|for [<the-word>] TEXT [are|is|there_are] [there] in|inside|across|within FOLDER
    <many> [the] [number_of] <occurrences> of|for [<the-word>] TEXT [are_there|there_are] [<here>]
    <many> [the] [number_of] lines with|containing|that_contain|that_mention|matching [<the-word>] TEXT [are|is|there_are] [there] in|inside TARGET`,
    ({ text, folder, target }) => matches(text, target ?? folder),
  ],
  [
    `how big|large is FILE
    what|what's|what_is [is] the size of FILE
    [the] [file] size of FILE
    wc -c FILE`,
    ({ file }) => measured(file, "bytes"),
  ],
  [
    `how long is FILE
    wc -l FILE`,
    ({ file }) => measured(file, "lines"),
  ],
  ["wc -w FILE", ({ file }) => measured(file, "words")],
  ["wc -m FILE", ({ file }) => measured(file, "characters")],
  ["is FILE empty", ({ file }) => [{ do: "measure", path: file, unit: "bytes", asks: true }]],
  [
    `are|is there any|a|an WORD <mark> [<here>]
    any WORD [left|comments] [<here>]
    is there a|any|an WORD in the_code|src|the_source|the_project|here`,
    ({ word }) => anyMarks(word),
  ],
  ["are|is there any|a|an WORD [comments|comment|left] in FOLDER", ({ word, folder }) => anyMarks(word, folder)],
  [
    `in|on which|what line of|in FILE is|does ANCHOR [mentioned|appear|occur|used|stand]
    in|on which|what line is ANCHOR [mentioned|used] in FILE
    [what_is|tell_me|show_me] [the] line number of ANCHOR in FILE`,
    ({ file, anchor }) => looked(anchor, file),
  ],
  [
    `show|show_me|list|find|print [all] [the] WORD [comments] [<here>]
    where are|do_we_have|do_i_have [all|any|our] [the] WORD [comments|left] [<here>]`,
    ({ word }) => (/^[A-Z]/.test(word) && markOf(word) ? looked(markOf(word)!) : undefined),
  ],
  ["<many> WORD are [there] [<here>]", ({ word }) => marks(word)],
  ["<many> WORD [are] [there] in|inside FOLDER", ({ word, folder }) => marks(word, folder)],
  [
    `what|which keys|fields|settings|entries|options are [there] in FILE
    list|show|show_me the keys|fields|settings|entries|options in|of FILE`,
    ({ file }) => [{ do: "read", path: file }],
  ],
  [
    "does|is [there] a file called|named FILE exist|here|there [here|there]",
    ({ file }) => [{ do: "find", pattern: thereAs(file), asks: true }],
  ],
  [
    `<check> [for_me] <whether> [a|the] [file] [<called>] FILE <is_there>
    <check> [for_me] <whether> there_is|there's|there_exists [a|the] [file] [<called>] FILE [<here>]`,
    ({ file }) => [{ do: "find", pattern: thereAs(file) }],
  ],
  [
    "<check> [for_me] <whether> FOLDER <is_there>",
    ({ folder }, _, words) =>
      /\b(?:folder|directory)\b|\//i.test(words) ? [{ do: "find", pattern: thereAs(folder) }] : undefined,
  ],
  [
    `what have|do we|you|i got|have in|here [here]
    what|which files|documents live|are|lie|sit|exist in|inside this|the_current directory|folder|place
    what|which folders|subfolders|directories exist|are|do_we_have [there] [here]`,
    () => [{ do: "list" }],
  ],
  ["FOLDER - what's|what_is there|inside|in_it", ({ folder }) => [{ do: "list", path: folder }]],
  [
    `where does|do it|we|they say|mention ANCHOR
    does|do anything|anyone|something mention|contain|use|say ANCHOR
    who|what uses|mentions|calls ANCHOR`,
    ({ anchor }) => looked(anchor.replace(/\(\)$/, "")),
  ],
  [
    `is ANCHOR in|inside FILE
    check if|whether FILE mentions|contains|has ANCHOR`,
    ({ file, anchor }) => looked(anchor, file, true),
  ],
  ["does ANCHOR occur|appear|exist anywhere|somewhere", ({ anchor }) => looked(anchor, undefined, true)],
];

/** "to safety" names no folder; "to old/", "to src" and "to the safety folder" do. */
const saysFolder = (words: string): boolean =>
  /\b(?:folder|directory)\b|\/|\b(?:to|into) (?:src|docs?|logs|data|tests?|lib|tmp|archive|backup|old) *$/i.test(words);

function counted(pattern: string | undefined, path?: string): ParsedSteps {
  return pattern === undefined
    ? undefined
    : [{ do: "each", act: "count", pattern: `**/${pattern}`, ...(path && { path }) }];
}

/** By their ending only: what "all config files" are is a guess. */
function each(
  act: "read" | "delete" | "move" | "copy",
  pattern: string | undefined,
  { flat, ...more }: { path?: string; to?: string; isThere?: boolean; flat?: boolean } = {},
): ParsedSteps {
  return pattern !== undefined && /^\*\.\w+$/.test(pattern)
    ? [{ do: "each", act, pattern: flat ? pattern : `**/${pattern}`, ...more }]
    : undefined;
}

export const kindRows: Row[] = [
  [
    `how many KIND <files> are|do_we_have|exist|do_i_have [there] [<here>]
    what|what's|what_is|know|tell_me [is] the number of KIND <files> [<here>]
    [the] number of KIND <files> [<here>]
    count|count_all [the] KIND <files> [<here>]`,
    ({ kind }) => counted(kindOf(kind)),
  ],
  [
    "how many KIND <files> are|exist [there] in|inside|under FOLDER",
    ({ kind, folder }) => counted(kindOf(kind), folder),
  ],
  ["how many <files> are|exist|do_we_have [there] [<here>]", () => counted("*")],
  [
    `how many <files> are|exist [there] in|inside|under FOLDER
    count|count_all [the] <files> in|inside|under FOLDER
    how many <files> does FOLDER have|contain|hold
    [the] file count in|of FOLDER`,
    ({ folder }) => counted("*", folder),
  ],
  [
    "read|cat|print_the_contents_of|show_the_contents_of|show_me_the_contents_of|display_the_contents_of <all> [the] KIND files [<here>]",
    ({ kind }) => each("read", kindOf(kind)),
  ],
  [
    "read|cat|print|show|show_me|display the contents|content of [all] [the] KIND files in FOLDER",
    ({ kind, folder }) => each("read", kindOf(kind), { path: folder }),
  ],
  ["<remove> <all> [the] KIND file|files [<here>]", ({ kind }) => each("delete", kindOf(kind))],
  [
    "<remove> <all>|the [the] KIND file|files in|inside|from|under FOLDER",
    ({ kind, folder }) => each("delete", kindOf(kind), { path: folder }),
  ],
  [
    "<remove> all|every|all_the|everything [file|files] in|inside|from FOLDER",
    ({ folder }) => [{ do: "each", act: "delete", pattern: "*", path: folder }],
  ],
  ["<remove> GLOB from|in|inside FOLDER", ({ glob, folder }) => each("delete", glob, { path: folder, flat: true })],
  [
    "TAKE everything|all_files|all_the_files|the_files|all from|in|inside FOLDER to|into [a|the] [new] [<folder>] [<called>] KEY [<folder>]",
    ({ take: act, folder, key }, _, words) =>
      isDescription(key) || !saysFolder(words)
        ? undefined
        : [{ do: "each", act, pattern: "*", path: folder, to: trimSlash(key), isThere: isKnownFolder(words) }],
  ],
  [
    "TAKE <all> [the] KIND file|files to|into [a|an] FOLDER",
    ({ take: act, kind, folder }, _, words) =>
      saysFolder(words) ? each(act, kindOf(kind), { to: folder, isThere: isKnownFolder(words) }) : undefined,
  ],
];
