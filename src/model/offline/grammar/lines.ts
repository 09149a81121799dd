// Lines of a file: removed, set, put in; text replaced; points added to a list.
import { contentOf } from "../content.ts";
import type { LineChoice, ParsedSteps, Step, StepOf } from "../steps.ts";
import type { Row } from "./rows.ts";
import { isSettings } from "./words.ts";

function lines(path: string, which: LineChoice, change: StepOf<"lines">["change"]): ParsedSteps {
  return [{ do: "lines", path, which, change }];
}

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

const removeRows: Row[] = [
  ["<remove> LINES <of>|off|out_of FILE", ({ file, lines: which }) => lines(file, which, { type: "remove" })],
  [
    "<remove> the|any line [that_says|saying|reading|with_the_text|that_reads] TEXT <of> FILE",
    ({ file, text }) => lines(file, { text }, { type: "remove" }),
  ],
  [
    "<remove> the line <holding> TEXT <of> FILE",
    ({ file, text }) => lines(file, { holding: text }, { type: "remove" }),
  ],
  [
    "<remove> all|every|any|all_the|the lines|line <holding> TEXT <of> FILE",
    ({ file, text }) => lines(file, { holding: text, all: true }, { type: "remove" }),
  ],
  [
    "<remove>|take [the] OWNER line|row|entry <of>|out_of FILE",
    ({ file, owner }) => lines(file, { holding: owner.replace(/['’]s$/i, "") }, { type: "remove" }),
  ],
  [
    "<remove>|take the ANCHOR line|row|bullet|item|task <of>|out_of FILE",
    ({ file, anchor }) => (isKind(anchor) ? undefined : lines(file, { holding: anchor }, { type: "remove" })),
  ],
  [
    `<remove> [the] [task|item|bullet|entry|point|todo] PLAIN from FILE
    take PLAIN out_of FILE`,
    ({ file, plain }) =>
      /\.(?:md|txt|csv)$/i.test(file) ? lines(file, { text: plain }, { type: "remove" }) : undefined,
  ],
];

const changeRows: Row[] = [
  [
    "<change> the [main|top|first] heading|title|headline <of> FILE to|with|into [say|read|be] SENTENCE",
    ({ file, sentence }) => heading(file, sentence),
  ],
  [
    `<change> LINES <of> FILE to|with|by|into|as|so_it_says [say|read|be] SENTENCE
    make LINES <of> FILE say|read|be SENTENCE`,
    ({ file, lines: which, sentence }) => lines(file, which, { type: "set", text: sentence }),
  ],
  [
    "<change> LINES to|with|by [say|read|be] TEXT <of> FILE",
    ({ file, lines: which, text }) => lines(file, which, { type: "set", text }),
  ],
  [
    `<insert> <a-line> QUOTED SIDE LINES <of>|to|into FILE
    SIDE LINES <of> FILE <insert> <a-line> [with|saying|that_says] QUOTED`,
    ({ file, lines: which, quoted, side }) => lines(file, which, { type: side, text: quoted }),
  ],
  [
    "<insert> <new-line> TEXT SIDE LINES <of>|to|into FILE",
    ({ file, lines: which, text, side }) => lines(file, which, { type: side, text }),
  ],
  [
    `<insert> QUOTED SIDE [the] [line] [<holding>|that_says|saying] ANCHOR <of>|to|into FILE
    SIDE [the_line] ANCHOR <of> FILE <insert> <a-line> [with|saying|that_says] QUOTED`,
    ({ file, anchor, quoted, side }) => lines(file, { text: anchor }, { type: side, text: quoted }),
  ],
  [
    "<insert> <new-line> TEXT SIDE [the] [line] [<holding>|that_says|saying] ANCHOR <of>|to|into FILE",
    ({ file, anchor, text, side }) => lines(file, { text: anchor }, { type: side, text }),
  ],
  [
    "<insert> [the_line|a_line] TEXT as|at|on [the] [new] LINES <of>|to|into FILE",
    ({ file, lines: which, text }) => lines(file, which, { type: "last" in which ? "after" : "before", text }),
  ],
  [
    "FILE needs one_more|another|a|a_new line|line: [saying|with] SENTENCE",
    ({ file, sentence }) => [{ do: "append", path: file, content: sentence, at: "end" }],
  ],
  [
    `<change> the line ANCHOR <of> FILE to|with|by|into TEXT
    <change> the line ANCHOR to|with|by|into TEXT <of> FILE`,
    ({ file, anchor, text }) => lines(file, { text: anchor }, { type: "set", text }),
  ],
];

const textRows: Row[] = [
  [
    "ANCHOR in FILE should|must become TEXT",
    ({ file, anchor, text }) => (isSettings(file) ? undefined : replaced(file, anchor, text)),
  ],
  [
    "ANCHOR in FILE should|must be|read QUOTED",
    ({ file, anchor, quoted }) => (isSettings(file) ? undefined : replaced(file, anchor, quoted)),
  ],
  [
    "[the] [file] FILE should|must only|just contain|say QUOTED",
    ({ file, quoted }) => [{ do: "write", path: file, content: quoted, isThere: true, replaces: true }],
  ],
  [
    `FILE ANCHOR ->|=>|→ TEXT
    in FILE ANCHOR should|must|shall become TEXT
    [in] FILE say|write|use|put TEXT instead_of ANCHOR
    say|write|use|put TEXT instead_of ANCHOR in FILE
    everywhere|wherever in FILE where|that it_says ANCHOR write|put|use TEXT
    where|wherever FILE says|reads ANCHOR write|put|use|make_it_say TEXT
    where|wherever it_says ANCHOR in FILE write|put|use|make_it_say TEXT`,
    ({ file, anchor, text }) => replaced(file, anchor, text),
  ],
  ["in FILE ANCHOR should|must|shall be QUOTED", ({ file, anchor, quoted }) => replaced(file, anchor, quoted)],
  [
    "[the] FILE should|must say|read QUOTED instead_of|not|rather_than ANCHOR",
    ({ file, anchor, quoted }) => replaced(file, anchor, quoted),
  ],
  [
    "replace|change|swap ANCHOR with|by|to|for|into TEXT in [both] FILE and [in] TARGET",
    ({ file, target, anchor, text }) => [...replaced(file, anchor, text), ...replaced(target, anchor, text)],
  ],
  [
    `add|append|put|insert [a|an|the|another] [new] <item> [saying|that_says|called|named|for|with_the_text|:] QUOTED to|in|into|at_the_end_of|to_the_end_of FILE
    add|append|put QUOTED as a|an|another|the [new|last] <item> to|in|into|at_the_end_of|of FILE`,
    ({ file, quoted }) => [{ do: "append", path: file, content: quoted, at: "end", item: true }],
  ],
];

const SWITCH = "change|update|modify|edit|set";

/** What takes the place of all that a file holds. */
const wholeTextRows: Row[] = [
  [
    `replace|overwrite|fill|<change> [all|all_of] [the] [whole|entire|full|complete|current] contents|content|text|body|everything of|in|inside FILE with|by|to [be|say] CONTENT
    ${SWITCH} FILE to_say|to_contain|to_read|to_be|so_it_says|so_that_it_says|so_it_contains|so_that_it_contains|so_it_reads|so_that_it_reads|with_the_text|with_text|with_the_content|with_the_contents|with_content [just|only|the_text|the_content] CONTENT`,
    ({ file, content }, _, words) =>
      /[\uE000-\uF8FF] $/.test(words) ? [{ do: "write", path: file, content, replaces: true }] : undefined,
  ],
  [
    `have|let [the|that] [file] FILE [to] contain|contains|say|says|read|reads|hold|holds|has|have [<the-word>] QUOTED
    echo|print|print_out|output|type|type_out|dump [the] [word|words|text|string|line|phrase|message] QUOTED to|into FILE`,
    ({ file, quoted }) => [{ do: "write", path: file, content: quoted }],
  ],
  [
    "<write> [the_following|this|these_lines|the_text_below] [text|line|lines|content|contents] in|into|to|inside FILE REST",
    ({ file, rest }, scene, words) => {
      const marked = /: /.test(words);
      if (!marked && !/^(?:the (?:text|words?|line|string|content)|[\uE000-\uF8FF])/i.test(rest)) return undefined;
      const content = contentOf(rest, scene, { marked });
      return content === undefined ? undefined : [{ do: "write", path: file, content }];
    },
  ],
];

const takenOutRows: Row[] = [
  [
    `<remove> [all|every|any|each|the|only|first]* [occurrences|instances|mentions|uses] [of] [the] [word|text|string|phrase] QUOTED from|in|inside|out_of FILE
    <remove> [all|every|any|each|the]* [occurrences|instances|mentions] [of] [the] word|text|string|phrase ANCHOR from|in|inside|out_of FILE
    <remove> [all|every|any|each|the]* occurrences|instances|mentions of ANCHOR from|in|inside|out_of FILE`,
    ({ file, quoted, anchor }) => replaced(file, quoted ?? anchor, ""),
  ],
  [
    "<set> [the] WORD [number|value] <in> FILE from ANCHOR to TEXT",
    ({ file, anchor, text }) => (anchor.length < 3 ? undefined : replaced(file, anchor, text)),
  ],
];

/** Behind those for values in settings, which mean more than a text. */
export const lastLineRows: Row[] = [...wholeTextRows, ...takenOutRows];

export const lineRows: Row[] = [...removeRows, ...changeRows, ...textRows];
