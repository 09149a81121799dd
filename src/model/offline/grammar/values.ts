// Values in settings and tables: shown, compared, set, added, taken out.
import type { ParsedSteps, StepOf } from "../steps.ts";
import { isDescription, type Row } from "./rows.ts";
import { isSettings } from "./words.ts";

const isValueName = (key: string): boolean =>
  !/^(?:contents?|text|first|last|lines?|line|words?|file|everything|all|size|length|end|top|start|beginning|bottom|code|source|is|the|are|does|whole|full|about|if|whether|me|what|in|inside|of|says?|files?|keys?|fields?|values?|settings?|data|json)$/i.test(
    key,
  );

function value(file: string, key: string, more: Partial<StepOf<"value">> = {}): ParsedSteps {
  return isSettings(file) && isValueName(key) && !isDescription(more.to ?? "")
    ? [{ do: "value", path: file, key, ...more }]
    : undefined;
}

function aboutProject(key: string): ParsedSteps {
  return /^(?:name|version|license|description|author|dependencies|scripts|main)$/i.test(key)
    ? value("package.json", key.toLowerCase())
    : undefined;
}

const script = (key: string): ParsedSteps => value("package.json", `scripts.${key}`);

/** "the name in a.json must be unique" describes: only what is quoted, a figure, a switch or a name is a value. */
function stated(file: string, key: string, to: string, words: string): ParsedSteps {
  return /[\uE000-\uF8FF] *$/.test(words) || /\d|^(?:true|false|on|off)$|^[A-Z]/.test(to)
    ? value(file, key, { to })
    : undefined;
}

/** One value of a table: the row that has the name, the column that is called so. */
function cell(file: string, owner: string, column: string, to?: string): ParsedSteps {
  const key = `${owner.replace(/['’]s$/i, "")}.${column}`;
  return /\.csv$/i.test(file) ? [{ do: "value", path: file, key, ...(to !== undefined && { to }) }] : undefined;
}

function entry(file: string, key: string, more: Partial<StepOf<"entry">> = {}): ParsedSteps {
  return /\.json$/i.test(file) && isValueName(key)
    ? [{ do: "entry", path: file, key: key.replace(/:$/, ""), ...more }]
    : undefined;
}

const YES_AND_NO = [/^(?:true|on|yes|enabled)$/i, /^(?:false|off|no|disabled)$/i];

/** "is debug on in config.json?" */
function compared(file: string, key: string, word: string): ParsedSteps {
  const is = /^\d+$/.test(word) ? new RegExp(`^${word}$`) : YES_AND_NO.find((one) => one.test(word));
  return is && value(file, key, { is });
}

const shownRows: Row[] = [
  [
    `<set> the KEY script <in> FILE to QUOTED
    the KEY script in FILE to_be|should_be|must_be QUOTED`,
    ({ file, key, quoted }) => value(file, `scripts.${key}`, { to: quoted }),
  ],
  [
    `<what> the [current] [value_of|value_for] [the] KEY [<noun>] [set|used] <in> FILE
    what|which KEY is|are|do_we_have [there|set|given|defined|used|configured] in|inside FILE
    what|which KEY [number] does|do FILE have|define|contain|declare|list|use|say|set|carry|show|give|state
    what does FILE say|tell_us|tell_me about|for|on [the|its] KEY
    what is KEY [set_to] in FILE [set_to]
    what|which version of KEY is|does <in> FILE
    what|which value has|does KEY [have] in FILE [have]
    read|show|show_me|print the KEY section|part|block of|in|from FILE
    [the] KEY in|of FILE
    [the] value of [the] KEY in FILE
    [the] KEY section|part of|in FILE
    KEY field|value|setting of|in FILE`,
    ({ file, key }) => value(file, key),
  ],
  ["is [the] KEY [<noun>] WORD in FILE", ({ file, key, word }) => compared(file, key, word)],
  [
    `<what> [the] KEY of <project>
    what|which KEY is|does <project> [use|have|under|at|on]
    under which|what KEY is this|it|the_project [project] [published|released|licensed]`,
    ({ key }) => aboutProject(key),
  ],
  [
    "what|which version of KEY do_we_use|is_used|does_this_project_use|do_we_depend_on|does_the_project_use|are_we_using",
    ({ key }) => value("package.json", key),
  ],
  [
    `what does the KEY script|command do|run|execute [in_package.json]
    <what> the KEY script|command [<in>] [package.json]
    what command is|hides behind|run_by|called_by npm run KEY
    what|which command does npm run|test KEY run|execute
    what does npm run KEY do|run|execute`,
    ({ key }) => script(key),
  ],
  ["what does npm test do|run|execute", () => script("test")],
  [
    `what|what's|what_is|whats [is] the KEY
    [the] [npm] KEY`,
    ({ key }) => (/^(?:license|version)$/i.test(key) ? aboutProject(key) : undefined),
  ],
  [
    "<what> [the|this|our] OWNER KEY",
    ({ owner, key }) => (/^(?:project|package|repo|app)['’]s$/i.test(owner) ? aboutProject(key) : undefined),
  ],
  ["which|what version do|are we|i have|on|at", () => aboutProject("version")],
  [
    `which|what scripts are|do|can|does [there|defined|we_have|i_run|it_have|available|i_use|exist]
    <what> [all] the|our npm scripts
    which|what npm scripts are|exist|do_we_have [there|defined]`,
    () => aboutProject("scripts"),
  ],
  [
    "[what|what's|whats|what_is] [is] [the|this|our] package|project name|version|license|description",
    (_slots, _scene, words) => aboutProject(/\S+(?= *$)/.exec(words)![0]),
  ],
  [
    `what do we|i|you depend on
    <what> the|our|all [our] dependencies
    which|what dependencies do|does we|it|the_project|this_project have|use|need`,
    () => aboutProject("dependencies"),
  ],
  [
    `how|what is the|this project|package called|named
    what's|whats the|this project|package called|named`,
    () => aboutProject("name"),
  ],
  ["how old is WORD according_to|in FILE", ({ file, word }) => cell(file, word, "age")],
  ["what|what's|what_is [is] OWNER WORD in|according_to FILE", ({ file, owner, word }) => cell(file, owner, word)],
];

const setRows: Row[] = [
  [
    `<set> OWNER WORD in FILE to TEXT
    <set> OWNER WORD to TEXT in FILE`,
    ({ file, owner, word, text }) => cell(file, owner, word, text),
  ],
  [
    `<set> the [value_of] [the] KEY [<noun>] <in> FILE to TEXT
    <set> the [value_of] [the] KEY [<noun>] to TEXT <in> FILE
    [the] KEY in FILE =>|->|→|= TEXT
    <set> [the] FILE KEY [<noun>] to TEXT`,
    ({ file, key, text }) => value(file, key, { to: text }),
  ],
  [
    `<set> KEY <in> FILE to TEXT
    <set> KEY [<noun>] to TEXT <in> FILE`,
    ({ file, key, text }) => value(file, key, { to: text, orText: true }),
  ],
  ["set ASSIGN in FILE", ({ file, assign }) => value(file, assign.split("=")[0]!, { to: assign.split("=")[1]! })],
  [
    `use [the] KEY TEXT in FILE
    make [the] KEY [<noun>] TEXT <in> FILE`,
    ({ file, key, text }) => (/^(?:\d[\w.-]*|true|false)$/.test(text) ? value(file, key, { to: text }) : undefined),
  ],
  [
    "rename the|this project|package to TEXT [in_package.json]",
    ({ text }) => value("package.json", "name", { to: text }),
  ],
  [
    `<set> [the] KEY [<noun>] <in> FILE from ANCHOR to TEXT
    <set> [the] KEY [<noun>] from ANCHOR to TEXT <in> FILE
    FILE should|must have|use [the] KEY TEXT not|instead_of ANCHOR`,
    ({ file, key, anchor, text }) => value(file, key, { to: text, from: anchor }),
  ],
  [
    `turn|switch [the] KEY [mode|flag|setting] ONOFF <in> FILE
    turn|switch ONOFF [the] KEY [mode|flag|setting] <in> FILE
    ONOFF [the] KEY [mode|flag|setting] <in> FILE`,
    ({ file, key, onoff }) => value(file, key, { to: onoff, from: /^(?:true|false)$/ }),
  ],
  [
    `FILE KEY = TEXT
    [the] KEY [<noun>] in FILE should|must be TEXT
    FILE KEY should|must|shall be TEXT
    let [the] KEY [<noun>] in FILE be TEXT
    the KEY [<noun>] in FILE to_be|should_be|must_be TEXT
    FILE should|must have|use [the|a] KEY [of|set_to] TEXT`,
    ({ file, key, text }, _, words) => stated(file, key, text, words),
  ],
];

const entryRows: Row[] = [
  [
    `add KEY QUOTED to [the] scripts <in> FILE
    add [a|the] [new] script [<called>] KEY with [the] [command|value] QUOTED to|in FILE
    add [a|the] [new] script [<called>] KEY to|in FILE with [the] [command|value] QUOTED
    add [a|the] [new] script [<called>] KEY that|which runs QUOTED to|in FILE
    add [a|the] [new] script [<called>] KEY to|in FILE that|which runs QUOTED`,
    ({ file, key, quoted }) => entry(file, key, { within: "scripts", value: quoted }),
  ],
  [
    `add KEY QUOTED to [the] dependencies <in> FILE`,
    ({ file, key, quoted }) => entry(file, key, { within: "dependencies", value: quoted }),
  ],
  [
    `add [the|a] dependency [on] KEY [with] [version|at|in_version] TEXT to|in FILE
    add KEY [version|at|in_version] TEXT to [the] dependencies <in> FILE`,
    ({ file, key, text }) => entry(file, key, { within: "dependencies", value: text }),
  ],
  [
    `add KEY =|:|set_to|with_value|with_the_value TEXT to|in FILE
    give FILE a|the [new] key|field|setting|entry [<called>] KEY with [the] value TEXT
    add [a|an|the] [new] <field> [<called>] KEY with [the] value [of] TEXT to|in FILE
    add [a|an|the] [new] <field> [<called>] KEY to|in FILE with [the] value [of] TEXT
    add [a] KEY field|key|setting|property|option with [the] value TEXT to|in FILE`,
    ({ file, key, text }) => entry(file, key, { value: text }),
  ],
  [
    "add KEY TEXT to|in FILE",
    ({ file, key, text }) => (key.endsWith(":") ? entry(file, key, { value: text }) : undefined),
  ],
  [
    `<remove> KEY from [the] dependencies <in> FILE
    <remove> the dependency KEY from FILE
    <remove> the KEY dependency from FILE`,
    ({ file, key }) => entry(file, key, { within: "dependencies" }),
  ],
  ["<remove> the KEY script from|in FILE", ({ file, key }) => entry(file, key, { within: "scripts" })],
  [
    `<remove> the KEY <noun> from|in FILE
    <remove> the <noun> KEY from|in FILE
    <remove> [the] KEY from FILE`,
    ({ file, key }) => entry(file, key),
  ],
];

export const valueRows: Row[] = [...shownRows, ...setRows, ...entryRows];
