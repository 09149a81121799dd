// How much and how many: lines of a file, files of a kind, marks in the code; and where a text is.
import { kindOf } from "../finding.ts";
import { isKnownFolder } from "../moving.ts";
import { isDescription, type Pattern } from "../patterns.ts";
import { trimSlash } from "../phrases.ts";
import type { ParsedSteps, Step, StepOf } from "../steps.ts";
import { HERE, HOW_MANY, REMOVE } from "./words.ts";

export const lookRows: Pattern[] = [
  [
    `show|show_me|print|list|find|display|get|give_me [all] [the] lines|line in|of|from FILE that|which contain|contains|mention|mentions|have|has|include [the_word|the_text] TEXT`,
    ({ file, text }) => [
      { do: "search", pattern: text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), mode: "content", path: file },
    ],
  ],
];

const units: Record<string, StepOf<"measure">["unit"]> = {
  line: "lines",
  lines: "lines",
  word: "words",
  words: "words",
  character: "characters",
  characters: "characters",
  chars: "characters",
  letters: "characters",
  byte: "bytes",
  bytes: "bytes",
};

function measured(file: string, word: string): ParsedSteps {
  const unit = word.toLowerCase();
  return Object.hasOwn(units, unit) ? [{ do: "measure", path: file, unit: units[unit]! }] : undefined;
}

export const measureRows: Pattern[] = [
  [`${HOW_MANY} WORD [of_text|of_code] does|do FILE have|contain|hold`, ({ file, word }) => measured(file, word)],
  [`${HOW_MANY} WORD [of_text|of_code] [are] [there] in|of|inside FILE`, ({ file, word }) => measured(file, word)],
  [`${HOW_MANY} WORD FILE has|contains`, ({ file, word }) => measured(file, word)],
  [`${HOW_MANY} WORD has|have FILE [got]`, ({ file, word }) => measured(file, word)],
  [
    "[the] line|word|byte|character count of|for|in FILE",
    ({ file }, _scene, words) => measured(file, /\b(line|word|byte|character)\b/i.exec(words)![1]!),
  ],
  [
    `what|what's|what_is|tell_me|give_me [is] the number|count of WORD in|of FILE`,
    ({ file, word }) => measured(file, word),
  ],
  [`[the] number|count of WORD in|of FILE`, ({ file, word }) => measured(file, word)],
  [`tally_up|tally|count_up [the] WORD of|in FILE`, ({ file, word }) => measured(file, word)],
  [`how much WORD has|does FILE [have|got]`, ({ file, word }) => measured(file, word)],
  ["[the] [file] size of FILE", ({ file }) => measured(file, "bytes")],
  ["how long|big|large is FILE in WORD", ({ file, word }) => measured(file, word)],
  ["how long is FILE", ({ file }) => measured(file, "lines")],
  ["how big|large is FILE", ({ file }) => measured(file, "bytes")],
  ["what|what's|what_is [is] the size of FILE", ({ file }) => measured(file, "bytes")],
  ["wc -l FILE", ({ file }) => measured(file, "lines")],
  ["wc -w FILE", ({ file }) => measured(file, "words")],
  ["wc -m FILE", ({ file }) => measured(file, "characters")],
  ["wc -c FILE", ({ file }) => measured(file, "bytes")],
  [
    `are|is there any|a|an WORD comments|comment|left|notes [${HERE}]`,
    ({ word }) => marks(word)?.map((step) => ({ ...step, asks: true, mode: "content" }) as Step),
  ],
  [
    `are|is there any|a|an WORD [comments|comment|left] in FOLDER`,
    ({ word, folder }) => marks(word, folder)?.map((step) => ({ ...step, asks: true, mode: "content" }) as Step),
  ],
  [
    "in|on which|what line of|in FILE is|does ANCHOR [mentioned|appear|occur|used|stand]",
    ({ file, anchor }) => [
      { do: "search", pattern: anchor.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), mode: "content", path: file },
    ],
  ],
  [
    "in|on which|what line is ANCHOR [mentioned|used] in FILE",
    ({ file, anchor }) => [
      { do: "search", pattern: anchor.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), mode: "content", path: file },
    ],
  ],
  [
    `show|show_me|list|find|print [all] [the] WORD [comments] [${HERE}]`,
    ({ word }) =>
      /^[A-Z]/.test(word) ? marks(word)?.map((step) => ({ ...step, mode: "content" }) as Step) : undefined,
  ],
  [
    `any WORD [left|comments] [${HERE}]`,
    ({ word }) => marks(word)?.map((step) => ({ ...step, asks: true, mode: "content" }) as Step),
  ],
  [`${HOW_MANY} WORD are [there] [${HERE}]`, ({ word }) => marks(word)],
  [`${HOW_MANY} WORD [are] [there] in|inside FOLDER`, ({ word, folder }) => marks(word, folder)],
  ["what|which keys|fields|settings|entries|options are [there] in FILE", ({ file }) => [{ do: "read", path: file }]],
  ["list|show|show_me the keys|fields|settings|entries|options in|of FILE", ({ file }) => [{ do: "read", path: file }]],
  [
    "does|is [there] a file called|named FILE exist|here|there [here|there]",
    ({ file }) => [{ do: "find", pattern: file.includes("/") ? file : `**/${file}`, asks: true }],
  ],
  ["what have|do we|you|i got|have in|here [here]", () => [{ do: "list" }]],
  [
    "what|which files|documents live|are|lie|sit|exist in|inside this|the_current directory|folder|place",
    () => [{ do: "list" }],
  ],
  ["what|which folders|subfolders|directories exist|are|do_we_have [there] [here]", () => [{ do: "list" }]],
  ["FOLDER - what's|what_is there|inside|in_it", ({ folder }) => [{ do: "list", path: folder }]],
  ["how many WORD is|are FILE", ({ file, word }) => measured(file, word)],
  ["where does|do it|we|they say|mention ANCHOR", ({ anchor }) => looked(anchor)],
  ["does|do anything|anyone|something mention|contain|use|say ANCHOR", ({ anchor }) => looked(anchor)],
  ["who|what uses|mentions|calls ANCHOR", ({ anchor }) => looked(anchor.replace(/\(\)$/, ""))],
  [
    "is there a|any|an WORD in the_code|src|the_source|the_project|here",
    ({ word }) => marks(word)?.map((step) => ({ ...step, asks: true, mode: "content" }) as Step),
  ],
  [
    "is ANCHOR in|inside FILE",
    ({ file, anchor }) => looked(anchor, file)?.map((step) => ({ ...step, asks: true }) as Step),
  ],
  ["FILE how_many WORD [does_it_have|are_there|are_in_it]", ({ file, word }) => measured(file, word)],
  ["[what_is|tell_me|show_me] [the] line number of ANCHOR in FILE", ({ file, anchor }) => looked(anchor, file)],
  [
    "check if|whether FILE mentions|contains|has ANCHOR",
    ({ file, anchor }) => looked(anchor, file)?.map((step) => ({ ...step, asks: true }) as Step),
  ],
  [
    "does ANCHOR occur|appear|exist anywhere|somewhere",
    ({ anchor }) => looked(anchor)?.map((step) => ({ ...step, asks: true }) as Step),
  ],
  ["[the] file count in|of FOLDER", ({ folder }) => counted("*", folder)],
  ["is FILE empty", ({ file }) => [{ do: "measure", path: file, unit: "bytes", asks: true }]],
];

function looked(text: string, path?: string): ParsedSteps {
  return [
    { do: "search", pattern: text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), mode: "content", ...(path && { path }) },
  ];
}

/** "how many TODOs are there in src?" */
function marks(word: string, path?: string): ParsedSteps {
  const mark = /^(TODO|FIXME|HACK|XXX)s?$/.exec(word.replace(/^todos?$/, "TODO").replace(/^fixmes?$/, "FIXME"))?.[1];
  return mark === undefined ? undefined : [{ do: "search", pattern: mark, mode: "count", ...(path && { path }) }];
}

const FILES = "file|files|scripts|documents";

const ALL = "all|every|all_of|all_my|each|all_of_the|all_the|both";

/** "to safety" names no folder; "to old/", "to src" and "to the safety folder" do. */
const saysFolder = (words: string): boolean =>
  /\b(?:folder|directory)\b|\/|\b(?:to|into) (?:src|docs?|logs|data|tests?|lib|tmp|archive|backup|old) *$/i.test(words);

export const kindRows: Pattern[] = [
  [`how many KIND ${FILES} are|do_we_have|exist|do_i_have [there] [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [
    `how many KIND ${FILES} are|exist [there] in|inside|under FOLDER`,
    ({ kind, folder }) => counted(kindOf(kind), folder),
  ],
  [`what|what's|what_is|know|tell_me [is] the number of KIND ${FILES} [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [`[the] number of KIND ${FILES} [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [`count|count_all [the] KIND ${FILES} [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [`how many ${FILES} are|exist|do_we_have [there] [${HERE}]`, () => counted("*")],
  [`how many ${FILES} are|exist [there] in|inside|under FOLDER`, ({ folder }) => counted("*", folder)],
  [`count|count_all [the] ${FILES} in|inside|under FOLDER`, ({ folder }) => counted("*", folder)],
  [`how many ${FILES} does FOLDER have|contain|hold`, ({ folder }) => counted("*", folder)],
  [
    `read|cat|print_the_contents_of|show_the_contents_of|show_me_the_contents_of|display_the_contents_of ${ALL} [the] KIND files [${HERE}]`,
    ({ kind }) => each("read", kindOf(kind)),
  ],
  [
    `read|cat|print|show|show_me|display the contents|content of [all] [the] KIND files in FOLDER`,
    ({ kind, folder }) => each("read", kindOf(kind), { path: folder }),
  ],
  [`${REMOVE} ${ALL} [the] KIND file|files [${HERE}]`, ({ kind }) => each("delete", kindOf(kind))],
  [
    `${REMOVE} ${ALL}|the [the] KIND file|files in|inside|from|under FOLDER`,
    ({ kind, folder }) => each("delete", kindOf(kind), { path: folder }),
  ],
  [
    `${REMOVE} all|every|all_the|everything [file|files] in|inside|from FOLDER`,
    ({ folder }) => [{ do: "each", act: "delete", pattern: "*", path: folder }],
  ],
  [`${REMOVE} GLOB from|in|inside FOLDER`, ({ glob, folder }) => each("delete", glob, { path: folder, flat: true })],
  ...(["move", "copy"] as const).flatMap((act): Pattern[] => [
    [
      `${act} everything|all_files|all_the_files|the_files|all from|in|inside FOLDER to|into [a|the] [new] [folder|directory] [called|named] KEY [folder|directory]`,
      ({ folder, key }, _, words) =>
        isDescription(key) || !saysFolder(words)
          ? undefined
          : [{ do: "each", act, pattern: "*", path: folder, to: trimSlash(key), isThere: isKnownFolder(words) }],
    ],
    [
      `${act} ${ALL} [the] KIND file|files to|into [a|an] FOLDER`,
      ({ kind, folder }, _, words) =>
        saysFolder(words) ? each(act, kindOf(kind), { to: folder, isThere: isKnownFolder(words) }) : undefined,
    ],
  ]),
];

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
