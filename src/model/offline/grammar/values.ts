// Values in settings and tables: shown, compared, set, added, taken out.
import { isDescription, type Pattern } from "../patterns.ts";
import type { ParsedSteps, StepOf } from "../steps.ts";
import { IN, isSettings, REMOVE, SET, WHAT } from "./words.ts";

const isValueName = (key: string): boolean =>
  !/^(?:contents?|text|first|last|lines?|line|words?|file|everything|all|size|length|end|top|start|beginning|bottom|code|source|is|the|are|does|whole|full|about|if|whether|me|what|in|inside|of|says?|files?|keys?|fields?|values?|settings?|data|json)$/i.test(
    key,
  );

function value(file: string, key: string, more: Partial<StepOf<"value">> = {}): ParsedSteps {
  return isSettings(file) && isValueName(key) && !isDescription(more.to ?? "")
    ? [{ do: "value", path: file, key, ...more }]
    : undefined;
}

/** "the name in a.json must be unique" describes: only what is quoted, a figure, a switch or a name is a value. */
function stated(file: string, key: string, to: string, words: string): ParsedSteps {
  return /[\uE000-\uF8FF] *$/.test(words) || /\d|^(?:true|false|on|off)$|^[A-Z]/.test(to)
    ? value(file, key, { to })
    : undefined;
}

const switched = (file: string, key: string, word: string): ParsedSteps =>
  value(file, key, { to: /on|enable/i.test(word) ? "true" : "false", from: /^(?:true|false)$/ });

/** One value of a table: the row that has the name, the column that is called so. */
function cell(file: string, owner: string, column: string, to?: string): ParsedSteps {
  const key = `${owner.replace(/['’]s$/i, "")}.${column}`;
  return /\.csv$/i.test(file) ? [{ do: "value", path: file, key, ...(to !== undefined && { to }) }] : undefined;
}

function entry(file: string, key: string, more: Partial<StepOf<"entry">> = {}): ParsedSteps {
  return /\.json$/i.test(file) && isValueName(key) ? [{ do: "entry", path: file, key, ...more }] : undefined;
}

const NOUN = "field|value|key|number|setting|property|option|entry|flag|mode";

const PROJECT = "this|the|our|my project|package|app|repo|repository";

const TRUE = /^(?:true|on|yes|enabled)$/i;

const FALSE = /^(?:false|off|no|disabled)$/i;

export const valueRows: Pattern[] = [
  [
    `${WHAT} the [current] [value_of|value_for] [the] KEY [${NOUN}] [set|used] ${IN} FILE`,
    ({ file, key }) => value(file, key),
  ],
  [
    `what|which KEY is|are|do_we_have [there|set|given|defined|used|configured] in|inside FILE`,
    ({ file, key }) => value(file, key),
  ],
  [`what|which KEY does|do FILE have|define|contain|declare|list|use|say|set`, ({ file, key }) => value(file, key)],
  [`what does FILE say|tell_us|tell_me about|for|on [the|its] KEY`, ({ file, key }) => value(file, key)],
  [`what is KEY [set_to] in FILE [set_to]`, ({ file, key }) => value(file, key)],
  [
    `is [the] KEY [${NOUN}] WORD in FILE`,
    ({ file, key, word }) =>
      TRUE.test(word)
        ? value(file, key, { is: TRUE })
        : FALSE.test(word)
          ? value(file, key, { is: FALSE })
          : /^\d+$/.test(word)
            ? value(file, key, { is: new RegExp(`^${word}$`) })
            : undefined,
  ],
  [`${WHAT} [the] KEY of ${PROJECT}`, ({ key }) => aboutProject(key)],
  [`what|which KEY is|does ${PROJECT} [use|have|under|at|on]`, ({ key }) => aboutProject(key)],
  [
    `what|which version of KEY do_we_use|is_used|does_this_project_use|do_we_depend_on|does_the_project_use|are_we_using`,
    ({ key }) => value("package.json", key),
  ],
  [`what|which version of KEY is|does ${IN} FILE`, ({ file, key }) => value(file, key)],
  [
    `what does the KEY script|command do|run|execute [in_package.json]`,
    ({ key }) => value("package.json", `scripts.${key}`),
  ],
  [`${WHAT} the KEY script|command [${IN}] [package.json]`, ({ key }) => value("package.json", `scripts.${key}`)],
  [
    `${SET} the KEY script ${IN} FILE to QUOTED`,
    ({ file, key, quoted }) => value(file, `scripts.${key}`, { to: quoted }),
  ],
  [
    `add KEY QUOTED to [the] scripts ${IN} FILE`,
    ({ file, key, quoted }) => entry(file, key.replace(/:$/, ""), { within: "scripts", value: quoted }),
  ],
  [
    `add KEY QUOTED to [the] dependencies ${IN} FILE`,
    ({ file, key, quoted }) => entry(file, key.replace(/:$/, ""), { within: "dependencies", value: quoted }),
  ],
  [
    `${SET} the [value_of] [the] KEY [${NOUN}] ${IN} FILE to TEXT`,
    ({ file, key, text }) => value(file, key, { to: text }),
  ],
  [
    `${SET} the [value_of] [the] KEY [${NOUN}] to TEXT ${IN} FILE`,
    ({ file, key, text }) => value(file, key, { to: text }),
  ],
  [`${SET} KEY ${IN} FILE to TEXT`, ({ file, key, text }) => value(file, key, { to: text, orText: true })],
  [`${SET} KEY [${NOUN}] to TEXT ${IN} FILE`, ({ file, key, text }) => value(file, key, { to: text, orText: true })],
  ["set ASSIGN in FILE", ({ file, assign }) => value(file, assign.split("=")[0]!, { to: assign.split("=")[1]! })],
  [
    `use [the] KEY TEXT in FILE`,
    ({ file, key, text }) => (/^\d[\w.-]*$/.test(text) ? value(file, key, { to: text }) : undefined),
  ],
  [
    `make [the] KEY [${NOUN}] TEXT ${IN} FILE`,
    ({ file, key, text }) => (/^(?:\d[\w.-]*|true|false)$/.test(text) ? value(file, key, { to: text }) : undefined),
  ],
  [
    `rename the|this project|package to TEXT [in_package.json]`,
    ({ text }) => value("package.json", "name", { to: text }),
  ],
  [
    `${SET} [the] KEY [${NOUN}] ${IN} FILE from ANCHOR to TEXT`,
    ({ file, key, anchor, text }) => value(file, key, { to: text, from: anchor }),
  ],
  [
    `${SET} [the] KEY [${NOUN}] from ANCHOR to TEXT ${IN} FILE`,
    ({ file, key, anchor, text }) => value(file, key, { to: text, from: anchor }),
  ],
  ...["on", "off"].flatMap((word): Pattern[] => [
    [`turn|switch [the] KEY [mode|flag|setting] ${word} ${IN} FILE`, ({ file, key }) => switched(file, key, word)],
    [`turn|switch ${word} [the] KEY [mode|flag|setting] ${IN} FILE`, ({ file, key }) => switched(file, key, word)],
  ]),
  ...["enable", "disable"].map(
    (word): Pattern => [
      `${word} [the] KEY [mode|flag|setting] ${IN} FILE`,
      ({ file, key }) => switched(file, key, word),
    ],
  ),
  [
    `what|what's|what_is|whats [is] the KEY`,
    ({ key }) => (/^(?:license|version)$/i.test(key) ? aboutProject(key) : undefined),
  ],
  [
    `${WHAT} [the|this|our] OWNER KEY`,
    ({ owner, key }) => (/^(?:project|package|repo|app)['’]s$/i.test(owner) ? aboutProject(key) : undefined),
  ],
  ["which|what version do|are we|i have|on|at", () => aboutProject("version")],
  [
    "which|what scripts are|do|can|does [there|defined|we_have|i_run|it_have|available|i_use|exist]",
    () => aboutProject("scripts"),
  ],
  ["read|show|show_me|print the KEY section|part|block of|in|from FILE", ({ file, key }) => value(file, key)],
  ["[the] KEY in|of FILE", ({ file, key }) => value(file, key)],
  ["[the] value of [the] KEY in FILE", ({ file, key }) => value(file, key)],
  ["[the] KEY section|part of|in FILE", ({ file, key }) => value(file, key)],
  [
    "[what|what's|whats|what_is] [is] [the|this|our] package|project name|version|license|description",
    (_slots, _scene, words) => aboutProject(/\S+(?= *$)/.exec(words)![0]),
  ],
  ["FILE KEY = TEXT", ({ file, key, text }, _, words) => stated(file, key, text, words)],
  [`KEY field|value|setting of|in FILE`, ({ file, key }) => value(file, key)],
  ["how old is WORD according_to|in FILE", ({ file, word }) => cell(file, word, "age")],
  ["what|what's|what_is [is] OWNER WORD in|according_to FILE", ({ file, owner, word }) => cell(file, owner, word)],
  [`${SET} OWNER WORD in FILE to TEXT`, ({ file, owner, word, text }) => cell(file, owner, word, text)],
  [`${SET} OWNER WORD to TEXT in FILE`, ({ file, owner, word, text }) => cell(file, owner, word, text)],
  [
    `add KEY =|:|set_to|with_value|with_the_value TEXT to|in FILE`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    `add KEY TEXT to|in FILE`,
    ({ file, key, text }) => (key.endsWith(":") ? entry(file, key.slice(0, -1), { value: text }) : undefined),
  ],
  [`${REMOVE} the KEY ${NOUN} from|in FILE`, ({ file, key }) => entry(file, key)],
  [`${REMOVE} the ${NOUN} KEY from|in FILE`, ({ file, key }) => entry(file, key)],
  [`[the] KEY in FILE =>|->|→|= TEXT`, ({ file, key, text }) => value(file, key, { to: text })],
  [
    `[the] KEY [${NOUN}] in FILE should|must be TEXT`,
    ({ file, key, text }, _, words) => stated(file, key, text, words),
  ],
  [`FILE KEY should|must|shall be TEXT`, ({ file, key, text }, _, words) => stated(file, key, text, words)],
  [`let [the] KEY [${NOUN}] in FILE be TEXT`, ({ file, key, text }, _, words) => stated(file, key, text, words)],
  ...["to_be", "should_be", "must_be"].flatMap((be): Pattern[] => [
    [`the KEY script in FILE ${be} QUOTED`, ({ file, key, quoted }) => value(file, `scripts.${key}`, { to: quoted })],
    [`the KEY [${NOUN}] in FILE ${be} TEXT`, ({ file, key, text }, _, words) => stated(file, key, text, words)],
  ]),
  [
    `FILE should|must have|use [the] KEY TEXT not|instead_of ANCHOR`,
    ({ file, key, text, anchor }) => value(file, key, { to: text, from: anchor }),
  ],
  [
    `FILE should|must have|use [the|a] KEY [of|set_to] TEXT`,
    ({ file, key, text }, _, words) => stated(file, key, text, words),
  ],
  [`${SET} the FILE KEY [${NOUN}] to TEXT`, ({ file, key, text }) => value(file, key, { to: text })],
  [`${SET} FILE KEY [${NOUN}] to TEXT`, ({ file, key, text }) => value(file, key, { to: text })],
  [
    `give FILE a|the [new] key|field|setting|entry [called|named] KEY with [the] value TEXT`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    `add [the|a] dependency [on] KEY [with] [version|at|in_version] TEXT to|in FILE`,
    ({ file, key, text }) => entry(file, key, { within: "dependencies", value: text }),
  ],
  [
    `add KEY [version|at|in_version] TEXT to [the] dependencies ${IN} FILE`,
    ({ file, key, text }) => entry(file, key, { within: "dependencies", value: text }),
  ],
  [`what|which value has|does KEY [have] in FILE [have]`, ({ file, key }) => value(file, key)],
  [`what|which KEY [number] does FILE carry|have|show|give|state`, ({ file, key }) => value(file, key)],
  [`[the] [npm] KEY`, ({ key }) => (/^(?:license|version)$/i.test(key) ? aboutProject(key) : undefined)],
  [
    `under which|what KEY is this|it|the_project [project] [published|released|licensed]`,
    ({ key }) => aboutProject(key),
  ],
  [`${WHAT} [all] the|our npm scripts`, () => value("package.json", "scripts")],
  [`which|what npm scripts are|exist|do_we_have [there|defined]`, () => value("package.json", "scripts")],
  [`what do we|i|you depend on`, () => value("package.json", "dependencies")],
  [`${WHAT} the|our|all [our] dependencies`, () => value("package.json", "dependencies")],
  [
    `which|what dependencies do|does we|it|the_project|this_project have|use|need`,
    () => value("package.json", "dependencies"),
  ],
  [`how|what is the|this project|package called|named`, () => value("package.json", "name")],
  [`what's|whats the|this project|package called|named`, () => value("package.json", "name")],
  [`what command is|hides behind|run_by|called_by npm run KEY`, ({ key }) => value("package.json", `scripts.${key}`)],
  [`what|which command does npm run|test KEY run|execute`, ({ key }) => value("package.json", `scripts.${key}`)],
  [`what does npm run KEY do|run|execute`, ({ key }) => value("package.json", `scripts.${key}`)],
  [`what does npm test do|run|execute`, () => value("package.json", "scripts.test")],
  [`${REMOVE} [the] KEY from FILE`, ({ file, key }) => entry(file, key)],
  [`${REMOVE} KEY from [the] dependencies ${IN} FILE`, ({ file, key }) => entry(file, key, { within: "dependencies" })],
  [`${REMOVE} the dependency KEY from FILE`, ({ file, key }) => entry(file, key, { within: "dependencies" })],
  [`${REMOVE} the KEY dependency from FILE`, ({ file, key }) => entry(file, key, { within: "dependencies" })],
  [`${REMOVE} the KEY script from|in FILE`, ({ file, key }) => entry(file, key, { within: "scripts" })],
  [
    `add [a|an|the] [new] field|key|setting|property|option|entry [called|named] KEY with [the] value [of] TEXT to|in FILE`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    `add [a|an|the] [new] field|key|setting|property|option|entry [called|named] KEY to|in FILE with [the] value [of] TEXT`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    `add [a] KEY field|key|setting|property|option with [the] value TEXT to|in FILE`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    `add [a|the] [new] script [called|named] KEY with [the] [command|value] QUOTED to|in FILE`,
    ({ file, key, quoted }) => entry(file, key, { within: "scripts", value: quoted }),
  ],
  [
    `add [a|the] [new] script [called|named] KEY to|in FILE with [the] [command|value] QUOTED`,
    ({ file, key, quoted }) => entry(file, key, { within: "scripts", value: quoted }),
  ],
  [
    `add [a|the] [new] script [called|named] KEY that|which runs QUOTED to|in FILE`,
    ({ file, key, quoted }) => entry(file, key, { within: "scripts", value: quoted }),
  ],
  [
    `add [a|the] [new] script [called|named] KEY to|in FILE that|which runs QUOTED`,
    ({ file, key, quoted }) => entry(file, key, { within: "scripts", value: quoted }),
  ],
];

function aboutProject(key: string): ParsedSteps {
  return /^(?:name|version|license|description|author|dependencies|scripts|main)$/i.test(key)
    ? value("package.json", key.toLowerCase())
    : undefined;
}
