// What newcomers ask for first: lines of a file, values in its settings, how large it is, the project's own scripts.
import { kindOf } from "./finding.ts";
import { moved, shellWord } from "./moving.ts";
import { firstFitting, isDescription, type Pattern } from "./patterns.ts";
import { joinPath } from "./phrases.ts";
import type { LineChoice, ParsedSteps, Step } from "./steps.ts";

const REMOVE = "remove|delete|drop|erase|cut|get_rid_of";
const CHANGE = "change|set|replace|rewrite|update|edit|turn";
const SET = "change|set|update|bump|modify|edit|switch|raise|lower|increase|decrease";
const OF = "of|from|in";
const IN = "in|of|inside|from";
const WHAT = "what|what's|whats|which|what_is|what_are|which_is|which_are|tell_me|show|show_me|get|print|read";
const HOW_MANY = "how_many|count|count_the|count_all|count_all_the|number_of";

function lines(path: string, which: LineChoice, change: Extract<Step, { do: "lines" }>["change"]): ParsedSteps {
  return [{ do: "lines", path, which, change }];
}

const edge = (word: string): LineChoice => (/^(?:last|final|bottom)$/i.test(word) ? { last: true } : { number: 1 });
const isEdge = (word: string): boolean => /^(?:first|last|top|bottom|final)$/i.test(word);

const lineRows: Pattern[] = [
  [
    `${REMOVE} [the] line [number] NUMBER ${OF} FILE`,
    ({ file, number }) => lines(file, { number }, { type: "remove" }),
  ],
  [
    `${REMOVE} the WORD line ${OF} FILE`,
    ({ file, word }) => (isEdge(word) ? lines(file, edge(word), { type: "remove" }) : undefined),
  ],
  [
    `${REMOVE} the|any line [that_says|saying|reading|with|with_the_text|that_reads] TEXT ${OF} FILE`,
    ({ file, text }) => lines(file, { text }, { type: "remove" }),
  ],
  [
    `${CHANGE} [the] line [number] NUMBER ${OF} FILE to|with|by|into [say|read] TEXT`,
    ({ file, number, text }) => lines(file, { number }, { type: "set", text }),
  ],
  [
    `${CHANGE} [the] line [number] NUMBER to|with|by TEXT ${OF} FILE`,
    ({ file, number, text }) => lines(file, { number }, { type: "set", text }),
  ],
  [
    `${CHANGE} the WORD line ${OF} FILE to|with|by [say|read] TEXT`,
    ({ file, word, text }) => (isEdge(word) ? lines(file, edge(word), { type: "set", text }) : undefined),
  ],
  ...(["before|above", "after|below"] as const).flatMap((side): Pattern[] => {
    const type = side === "before|above" ? "before" : "after";
    const start = "insert|add|put|place|write";
    const line = "a|the [new] line [saying|that_says|with|with_the_text]";
    return [
      [
        `${start} QUOTED ${side} [the] line [number] NUMBER ${OF}|to|into FILE`,
        ({ file, number, quoted }) => lines(file, { number }, { type, text: quoted }),
      ],
      [
        `${start} ${line} TEXT ${side} [the] line [number] NUMBER ${OF}|to|into FILE`,
        ({ file, number, text }) => lines(file, { number }, { type, text }),
      ],
      [
        `${start} QUOTED ${side} [the] [line] WORD ${OF}|to|into FILE`,
        ({ file, word, quoted }) =>
          isDescription(word) ? undefined : lines(file, { text: word }, { type, text: quoted }),
      ],
      [
        `${start} ${line} TEXT ${side} [the] [line] WORD ${OF}|to|into FILE`,
        ({ file, word, text }) => (isDescription(word) ? undefined : lines(file, { text: word }, { type, text })),
      ],
    ];
  }),
];

const isSettings = (file: string): boolean =>
  /\.(?:json|jsonc|ya?ml|toml|ini|env|cfg|conf|config|properties)$|(?:^|\/)\.env/i.test(file);

const isValueName = (key: string): boolean =>
  !/^(?:contents?|text|first|last|lines?|line|words?|file|everything|all|size|length|end|top|start|beginning|bottom|code|source|is|the|are|does|whole|full|about|if|whether|me|what|in|inside|of|says?)$/i.test(
    key,
  );

function shown(file: string, key: string): ParsedSteps {
  return isSettings(file) && isValueName(key) ? [{ do: "value", path: file, key }] : undefined;
}

function set(file: string, key: string, to: string): ParsedSteps {
  return isSettings(file) && isValueName(key) && !isDescription(to)
    ? [{ do: "value", path: file, key, to }]
    : undefined;
}

const valueRows: Pattern[] = [
  [
    `${WHAT} the [current] [value_of] [the] KEY [field|value|key|number|setting] ${IN} FILE`,
    ({ file, key }) => shown(file, key),
  ],
  [`what|which KEY is|are|do_we_have [there|set|given|defined] in|inside FILE`, ({ file, key }) => shown(file, key)],
  [`what|which KEY does|do FILE have|define|contain|declare|list|use|say|set`, ({ file, key }) => shown(file, key)],
  [`what does FILE say|tell_us|tell_me about|for|on [the|its] KEY`, ({ file, key }) => shown(file, key)],
  [
    `${SET} the [value_of] [the] KEY [field|value|key|number|setting] ${IN} FILE to TEXT`,
    ({ file, key, text }) => set(file, key, text),
  ],
  [
    `${SET} the [value_of] [the] KEY [field|value|key|number|setting] to TEXT ${IN} FILE`,
    ({ file, key, text }) => set(file, key, text),
  ],
  [`set|bump KEY ${IN} FILE to TEXT`, ({ file, key, text }) => set(file, key, text)],
  [`set|bump KEY to TEXT ${IN} FILE`, ({ file, key, text }) => set(file, key, text)],
];

const units: Record<string, Extract<Step, { do: "measure" }>["unit"]> = {
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

const wc: Record<string, string> = { l: "lines", w: "words", m: "characters", c: "bytes" };

const measureRows: Pattern[] = [
  [`${HOW_MANY} WORD [of_text|of_code] does|do FILE have|contain|hold`, ({ file, word }) => measured(file, word)],
  [`${HOW_MANY} WORD [of_text|of_code] [are] [there] in|of|inside FILE`, ({ file, word }) => measured(file, word)],
  ["how long is FILE", ({ file }) => measured(file, "lines")],
  ["how big|large is FILE", ({ file }) => measured(file, "bytes")],
  ["what|what's|what_is [is] the size of FILE", ({ file }) => measured(file, "bytes")],
  ["wc -l FILE", ({ file }) => measured(file, wc["l"]!)],
  ["wc -w FILE", ({ file }) => measured(file, wc["w"]!)],
  ["wc -m FILE", ({ file }) => measured(file, wc["m"]!)],
  ["wc -c FILE", ({ file }) => measured(file, wc["c"]!)],
];

const FILES = "file|files|scripts|documents";
const HERE = "here|in_here|in_this_folder|in_this_directory|in_this_project|in_the_project|in_the_workspace";

const kindRows: Pattern[] = [
  [`how many KIND ${FILES} are|do_we_have|exist [there] [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [
    `how many KIND ${FILES} are|exist [there] in|inside|under [the] WORD [folder|directory]`,
    ({ kind, word }) => counted(kindOf(kind), word),
  ],
  [`count|count_all [the] KIND ${FILES} [${HERE}]`, ({ kind }) => counted(kindOf(kind))],
  [`how many ${FILES} are|exist [there] [${HERE}]`, () => counted("*")],
  [
    `how many ${FILES} are|exist [there] in|inside|under [the] WORD [folder|directory]`,
    ({ word }) => counted("*", word),
  ],
  [`${REMOVE} all|every|all_of|all_my|each [the] KIND file|files [${HERE}]`, ({ kind }) => deleted(kindOf(kind))],
];

function counted(pattern: string | undefined, path?: string): ParsedSteps {
  if (pattern === undefined) return undefined;
  return [{ do: "each", act: "count", pattern: `**/${pattern}`, ...(path !== undefined && { path }) }];
}

/** By their ending only: what "all config files" are is a guess. */
function deleted(pattern: string | undefined): ParsedSteps {
  return pattern !== undefined && /^\*\.\w+$/.test(pattern)
    ? [{ do: "each", act: "delete", pattern: `**/${pattern}` }]
    : undefined;
}

const RUN = "run|execute|start|launch|do";

const otherRows: Pattern[] = [
  ["tree", () => [{ do: "find", pattern: "**/*" }]],
  ...["move|mv", "copy|cp"].map(
    (verb): Pattern => [
      `${verb} FILE to|into|in [the] [new] KEY folder|directory`,
      ({ file, key }) => moved({ path: file, folder: false }, { path: key, folder: true }, verb.split("|")[0]!),
    ],
  ),
  ...["move|mv", "copy|cp"].map(
    (verb): Pattern => [
      `${verb} FILE to|into|in the [new] folder|directory [called|named] KEY`,
      ({ file, key }) => moved({ path: file, folder: false }, { path: key, folder: true }, verb.split("|")[0]!),
    ],
  ),
  [`${RUN} [all] [the|my|our] [unit|project's] tests|test|test_suite`, () => [{ do: "script", name: "test" }]],
  [`${RUN} the|my|our WORD script`, ({ word }) => [{ do: "script", name: word }]],
  [`${RUN} the|my|our build`, () => [{ do: "script", name: "build" }]],
  [`${RUN} the|my|our lint|linter`, () => [{ do: "script", name: "lint" }]],
  [
    "put|create|add|make [a|an] [new|empty] file [called|named] FILE in|inside|into the folder KEY",
    ({ file, key }) => [{ do: "write", path: joinPath(key, file), content: "", isNew: true }],
  ],
  [
    "echo TEXT > FILE",
    ({ file, text }) => [
      {
        do: "write",
        path: file,
        content: `${text}
`,
        isNew: true,
      },
    ],
  ],
  ["echo TEXT >> FILE", ({ file, text }) => [{ do: "append", path: file, content: text, at: "end" }]],
  [
    "git commit everything|all|all_changes with|with_the [the] message TEXT",
    ({ text }) => [{ do: "run", command: `git add -A && git commit -m ${shellWord(text)}` }],
  ],
  [
    "commit everything|all_changes|all_my_changes with|with_the [the] message TEXT",
    ({ text }) => [{ do: "run", command: `git add -A && git commit -m ${shellWord(text)}` }],
  ],
];

export const newcomer = firstFitting([...lineRows, ...valueRows, ...measureRows, ...kindRows, ...otherRows]);
