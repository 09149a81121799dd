// Lines of a file: removed, set, put in; text replaced; points added to a list.
import type { Pattern } from "../patterns.ts";
import type { LineChoice, ParsedSteps, Step, StepOf } from "../steps.ts";
import { CHANGE, isSettings, OF, REMOVE } from "./words.ts";

function lines(path: string, which: LineChoice, change: StepOf<"lines">["change"]): ParsedSteps {
  return [{ do: "lines", path, which, change }];
}

const INSERT = "insert|add|put|place|write";

const NEW_LINE = "a|the [new] line [saying|that_says|with|with_the_text|reading]";

const HOLDING =
  "containing|that_contains|which_contains|that_has|mentioning|that_mentions|with_the_word|containing_the_word|that_contains_the_word|with|that_include|that_contain|that_mention";

/** What kind of line, not what it says. */
const isKind = (word: string): boolean =>
  /^(?:empty|blank|duplicated?|longest|shortest|middle|next|previous|other|wrong|bad|old|new|unused|extra|trailing|whole|entire|right|correct|commented|same|long|short|only|single|random|unnecessary|redundant)$/i.test(
    word,
  );

function replaced(path: string, oldText: string, newText: string): Step[] {
  return [{ do: "replace", path, oldText, newText }];
}

function heading(file: string, text: string): ParsedSteps {
  if (!/\.(?:md|markdown)$/i.test(file)) return undefined;
  return lines(file, { heading: true }, { type: "set", text: /^#/.test(text) ? text : `# ${text}` });
}

export const lineRows: Pattern[] = [
  [`${REMOVE} LINES ${OF}|off|out_of FILE`, ({ file, lines: which }) => lines(file, which, { type: "remove" })],
  [
    `${REMOVE} the|any line [that_says|saying|reading|with_the_text|that_reads] TEXT ${OF} FILE`,
    ({ file, text }) => lines(file, { text }, { type: "remove" }),
  ],
  [
    `${REMOVE} the line ${HOLDING} TEXT ${OF} FILE`,
    ({ file, text }) => lines(file, { holding: text }, { type: "remove" }),
  ],
  [
    `${REMOVE} all|every|any|all_the|the lines|line ${HOLDING} TEXT ${OF} FILE`,
    ({ file, text }) => lines(file, { holding: text, all: true }, { type: "remove" }),
  ],
  [
    `${REMOVE} [the] [task|item|bullet|entry|point|todo] PLAIN from FILE`,
    ({ file, plain }) =>
      /\.(?:md|txt|csv)$/i.test(file) ? lines(file, { text: plain }, { type: "remove" }) : undefined,
  ],
  [
    `${REMOVE}|take [the] OWNER line|row|entry ${OF}|out_of FILE`,
    ({ file, owner }) => lines(file, { holding: owner.replace(/['’]s$/i, "") }, { type: "remove" }),
  ],
  [
    `${REMOVE}|take the ANCHOR line|row|bullet|item|task ${OF}|out_of FILE`,
    ({ file, anchor }) => (isKind(anchor) ? undefined : lines(file, { holding: anchor }, { type: "remove" })),
  ],
  [
    `${CHANGE} the [main|top|first] heading|title|headline ${OF} FILE to|with|into [say|read|be] SENTENCE`,
    ({ file, sentence }) => heading(file, sentence),
  ],
  [
    `${CHANGE} LINES ${OF} FILE to|with|by|into|as|so_it_says [say|read|be] SENTENCE`,
    ({ file, lines: which, sentence }) => lines(file, which, { type: "set", text: sentence }),
  ],
  [
    `${CHANGE} LINES to|with|by [say|read|be] TEXT ${OF} FILE`,
    ({ file, lines: which, text }) => lines(file, which, { type: "set", text }),
  ],
  [
    `make LINES ${OF} FILE say|read|be QUOTED`,
    ({ file, lines: which, quoted }) => lines(file, which, { type: "set", text: quoted }),
  ],
  ...(["before|above", "after|below|under|right_after"] as const).flatMap((side): Pattern[] => {
    const type = side === "before|above" ? "before" : "after";
    const anchored = `${side} [the] [line] [${HOLDING}|that_says|saying] ANCHOR ${OF}|to|into FILE`;
    return [
      [
        `${INSERT} [a_line|the_line|a_new_line] QUOTED ${side} LINES ${OF}|to|into FILE`,
        ({ file, lines: which, quoted }) => lines(file, which, { type, text: quoted }),
      ],
      [
        `${INSERT} ${NEW_LINE} TEXT ${side} LINES ${OF}|to|into FILE`,
        ({ file, lines: which, text }) => lines(file, which, { type, text }),
      ],
      [
        `${INSERT} QUOTED ${anchored}`,
        ({ file, anchor, quoted }) => lines(file, { text: anchor }, { type, text: quoted }),
      ],
      [
        `${INSERT} ${NEW_LINE} TEXT ${anchored}`,
        ({ file, anchor, text }) => lines(file, { text: anchor }, { type, text }),
      ],
    ];
  }),
  ...(["above|before", "below|after|under|right_after"] as const).flatMap((side): Pattern[] => {
    const type = side.startsWith("above") ? "before" : "after";
    const added = `${INSERT} [a_line|the_line|a_new_line] [with|saying|that_says] QUOTED`;
    return [
      [
        `${side} LINES ${OF} FILE ${added}`,
        ({ file, lines: which, quoted }) => lines(file, which, { type, text: quoted }),
      ],
      [
        `${side} [the_line] ANCHOR ${OF} FILE ${added}`,
        ({ file, anchor, quoted }) => lines(file, { text: anchor }, { type, text: quoted }),
      ],
    ];
  }),
  [
    `make LINES ${OF} FILE say|read|be SENTENCE`,
    ({ file, lines: which, sentence }) => lines(file, which, { type: "set", text: sentence }),
  ],
  [
    `FILE needs one_more|another|a|a_new line [saying|with] QUOTED`,
    ({ file, quoted }) => [{ do: "append", path: file, content: quoted, at: "end" }],
  ],
  [
    `FILE needs one_more|another|a|a_new line: SENTENCE`,
    ({ file, sentence }) => [{ do: "append", path: file, content: sentence, at: "end" }],
  ],
  [
    `${CHANGE} the line ANCHOR ${OF} FILE to|with|by|into TEXT`,
    ({ file, anchor, text }) => lines(file, { text: anchor }, { type: "set", text }),
  ],
  [
    `${CHANGE} the line ANCHOR to|with|by|into TEXT ${OF} FILE`,
    ({ file, anchor, text }) => lines(file, { text: anchor }, { type: "set", text }),
  ],
  [
    "ANCHOR in FILE should|must become TEXT",
    ({ file, anchor, text }) => (isSettings(file) ? undefined : replaced(file, anchor, text)),
  ],
  [
    "ANCHOR in FILE should|must be|read QUOTED",
    ({ file, anchor, quoted }) => (isSettings(file) ? undefined : replaced(file, anchor, quoted)),
  ],
  [
    "take PLAIN out_of FILE",
    ({ file, plain }) => (isSettings(file) ? undefined : lines(file, { text: plain }, { type: "remove" })),
  ],
  [
    "[the] [file] FILE should|must only|just contain|say QUOTED",
    ({ file, quoted }) => [{ do: "write", path: file, content: quoted, isThere: true, replaces: true }],
  ],
  ["FILE ANCHOR ->|=>|→ TEXT", ({ file, anchor, text }) => replaced(file, anchor, text)],
  ["in FILE ANCHOR should|must|shall become TEXT", ({ file, anchor, text }) => replaced(file, anchor, text)],
  ["in FILE ANCHOR should|must|shall be QUOTED", ({ file, anchor, quoted }) => replaced(file, anchor, quoted)],
  [
    "[the] FILE should|must say|read QUOTED instead_of ANCHOR",
    ({ file, anchor, quoted }) => replaced(file, anchor, quoted),
  ],
  [
    "[the] FILE should|must say|read QUOTED not|rather_than ANCHOR",
    ({ file, anchor, quoted }) => replaced(file, anchor, quoted),
  ],
  ["in FILE say|write|use|put TEXT instead_of ANCHOR", ({ file, anchor, text }) => replaced(file, anchor, text)],
  ["say|write|use|put TEXT instead_of ANCHOR in FILE", ({ file, anchor, text }) => replaced(file, anchor, text)],
  [
    "everywhere|wherever in FILE where|that it_says ANCHOR write|put|use TEXT",
    ({ file, anchor, text }) => replaced(file, anchor, text),
  ],
  [
    "where|wherever FILE says|reads ANCHOR write|put|use|make_it_say TEXT",
    ({ file, anchor, text }) => replaced(file, anchor, text),
  ],
  [
    "where|wherever it_says ANCHOR in FILE write|put|use|make_it_say TEXT",
    ({ file, anchor, text }) => replaced(file, anchor, text),
  ],
  [
    "replace|change|swap ANCHOR with|by|to|for|into TEXT in both FILE and TARGET",
    ({ file, target, anchor, text }) => [...replaced(file, anchor, text), ...replaced(target, anchor, text)],
  ],
  [
    "replace|change|swap ANCHOR with|by|to|for|into TEXT in FILE and [in] TARGET",
    ({ file, target, anchor, text }) => [...replaced(file, anchor, text), ...replaced(target, anchor, text)],
  ],
  [
    `${INSERT} [the_line|a_line] TEXT as|at|on [the] [new] LINES ${OF}|to|into FILE`,
    ({ file, lines: which, text }) => lines(file, which, { type: "last" in which ? "after" : "before", text }),
  ],
];

const ITEM = "bullet|bullet_point|item|task|todo|to-do|entry|todo_item|list_item|point|bullet_item|checklist_item";

export const itemRows: Pattern[] = [
  [
    `add|append|put|insert [a|an|the|another] [new] ${ITEM} [saying|that_says|called|named|for|with_the_text|:] QUOTED to|in|into|at_the_end_of|to_the_end_of FILE`,
    ({ file, quoted }) => [{ do: "append", path: file, content: quoted, at: "end", item: true }],
  ],
  [
    `add|append|put QUOTED as a|an|another|the [new|last] ${ITEM} to|in|into|at_the_end_of|of FILE`,
    ({ file, quoted }) => [{ do: "append", path: file, content: quoted, at: "end", item: true }],
  ],
];
