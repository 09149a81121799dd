// Running: shell commands, addresses on the web, and tools called by their name.
import { isObject, tryParse } from "../../json/object.ts";
import { readSum } from "./arithmetic.ts";
import { isCommandText, isProse, isReadingCommand } from "./commands.ts";
import { shellWord } from "./moving.ts";
import { isSpent, looksLikePath, takeFile, takeFolder, termOf } from "./phrases.ts";
import { literalOf, type Masked, restore } from "./quotes.ts";
import type { ParsedSteps, PromptContext, Step } from "./steps.ts";

const SEVERAL_COMMANDS = () =>
  /^[\uE000-\uF8FF](?:\s*(?:,\s*(?:and\s+)?(?:then\s+)?|\s+and\s+(?:then\s+)?|\s+then\s+|;\s*)[\uE000-\uF8FF])+$/i;
const COMMAND_IN_FOLDER = () =>
  /^(.+?)\s+(?:in|inside|from|within)\s+(?:the\s+)?(?:(?:folder|directory)\s+)?([\w./@-]+?)(\s+(?:folder|directory|dir))?[.!?]*$/i;

export function run(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  let words = rest.trim();
  let told = false;
  const lead =
    /^(?:(?:me|the|this|that|these|those|two|three|a|an|following|shell|bash|terminal|unix|linux|system|console|command[- ]line|simple|in (?:the|a) (?:shell|terminal|console|bash)|(?:the )?(?:shell|bash|terminal) to (?:run|execute))\s+)*(?:commands?|cmd|shell command|one-?liner|program)(?:\s+(?:for (?:me|us)|please)(?=\s*[:,]))?\s*[:,]?\s*|^(?:in|using|with|via) (?:the |a |your )?(?:shell|terminal|bash|console|command line)\s*[:,]?\s+|^(?:the )?(?:shell|bash|terminal)(?: tool)?\s+(?:to|and|command)\s+(?:run|execute)?\s*|^(?:this|the following|following)(?: in (?:the |a )?(?:shell|terminal|bash|console))?\s*:\s*|^:\s*/i;
  const match = lead.exec(words);
  if (match && match[0].trim() !== "") {
    told = true;
    words = words.slice(match[0].length).replace(/^(?:called|named|is|that says|which is)\s+/i, "");
  }
  words = words.replace(
    /\s+(?:in (?:the|a|my|your) (?:shell|terminal|console|bash|command line)|with bash|using (?:the )?(?:shell|bash|terminal)|as a (?:shell )?command|on the command line|in bash)[\s.!?]*$/i,
    "",
  );
  const around = /^the (.+) command[\s.!?]*$/i.exec(words);
  if (around) {
    told = true;
    words = around[1]!;
  }
  if (/^(?:do|try|check|perform|issue|verify|test|find out|determine|see if|confirm)$/.test(verb) && !told) {
    const bare = words.replace(/^(?:a|an|the|out)\s+/i, "");
    const literal = literalOf(scene.masked, bare);
    if (literal && isCommandText(literal.text)) return [{ do: "run", command: literal.text.trim() }];
    return isCommandText(bare) ? [{ do: "run", command: typed(scene.masked, bare) }] : undefined;
  }
  if (
    /^(?:use|call|name|invoke|trigger|call up|start|start up|fire off)$/.test(verb) &&
    !told &&
    !isReadingCommand(words)
  )
    return undefined;

  if (SEVERAL_COMMANDS().test(words)) {
    return words.match(/[\uE000-\uF8FF]/g)!.map((mark): Step => ({ do: "run", command: termOf(mark, scene).trim() }));
  }
  const first = words.charAt(0);
  const literal = literalOf(scene.masked, first);
  if (literal && literal.kind !== "url" && literal.kind !== "json") {
    const after = words.slice(1).replace(/^\s*(?:command|script)\b/i, "");
    const place = takeFolder(after, scene, { bare: true });
    const command = literal.text.trim();
    if (isSpent(after) && command !== "") return [{ do: "run", command }];
    if (place && isSpent(place.rest)) return [{ do: "run", command, directory: place.folder }];
  }
  const script = !told && takeScript(words, scene);
  if (script) return [script];
  // "run a.py with care": English, no command.
  if (!told && /^[\w./-]+\.\w+\s+(?:with|using|and|for|from|via)\s/i.test(words)) return undefined;
  // "ls -la in src": a program with flags alone takes no word "in".
  const placed = COMMAND_IN_FOLDER().exec(words);
  if (
    placed &&
    (placed[3] ||
      / (?:folder|directory) /i.test(words) ||
      (/^[\w-]+(?:\s+-\S+)*$/.test(placed[1]!) && looksLikePath(`${placed[2]}/`)))
  ) {
    const command = typed(scene.masked, placed[1]!);
    const directory = /^(?:current|this|working|same|the)$/i.test(placed[2]!) ? undefined : placed[2];
    if (isCommand(command, told)) return [{ do: "run", command, directory }];
  }
  const command = typed(scene.masked, words);
  return isCommand(command, told) ? [{ do: "run", command }] : undefined;
}

/** As it was typed; a full stop that ends the sentence is none of the command's. */
function typed(masked: Masked, words: string): string {
  return restore(masked, words)
    .trim()
    .replace(/(?<=[\w'"`)-])[.!]$/, "")
    .replace(/(?<=\w)\?$/, "")
    .trim();
}

const NO_COMMAND = () =>
  /^(?:it|this|that|them|all|the|a|an|my|our|your|these|those|some|every|any|me|and|or|to|on|for(?! \w+ in )|with|in|of|up|as|again|everything|something|tests|build|linter|project|app|server|script|program|code|suite|unit|integration)(?![\w./-])/i;

/** "run the tests" names no command. */
function isCommand(command: string, told: boolean): boolean {
  if (command === "" || (!told && (NO_COMMAND().test(command) || isTalk(command)))) return false;
  return (
    !(told && /^(?:it|this|that|them|again|to|for|that|which|you|i)\b/i.test(command)) && !/^(?:in|of)\b/.test(command)
  );
}

/** "run away", "run riot": no program that is known, no path to one, and nothing that only a command has. */
function isTalk(command: string): boolean {
  if (isCommandText(command) || /^[\w.~-]*\/|^\w+=|^[\w-]+\.(?:sh|py|js|mjs|cjs|rb|pl|exe|cmd|bat)\b/.test(command))
    return false;
  return isProse(command) || !/\s--?\w|[|;&$<>(]|\bcommand$/.test(command);
}

/** "run hello.py": the program that runs it, by its ending. */
function takeScript(words: string, scene: PromptContext): Step | undefined {
  const file = takeFile(words, scene);
  if (!file || file.folder) return undefined;
  const by = /^\s*(?:with|using|via|in)\s+(python3?|node|bash|sh|ruby|perl|deno|bun|tsx|php)[\s.!?]*$/.exec(file.rest);
  if (by) return { do: "run", command: `${by[1]} ${shellWord(file.path)}` };
  const program = {
    py: "python3",
    js: "node",
    mjs: "node",
    cjs: "node",
    sh: "bash",
    rb: "ruby",
    pl: "perl",
    ts: "npx tsx",
  }[/\.(\w+)$/.exec(file.path)?.[1] ?? ""];
  if (program === undefined || /^\.?\//.test(words)) return undefined;
  const args = typed(scene.masked, file.rest);
  if (args !== "" && !/^(?:-|with (?:the )?arg|\w+$)/.test(args)) return undefined;
  return {
    do: "run",
    command: `${program} ${shellWord(file.path)}${args ? ` ${args.replace(/^with (?:the )?arg(?:ument)?s?\s+/, "")}` : ""}`,
  };
}

const PAGE = () =>
  /^(?:(?:me|the|a|to|at|from|page|web ?page|website|site|url|address|link|contents?|content|of|document|text|this|up|html|out|data|what(?:'s| is)|on)(?:\s*:)?\s+)*:?\s*([\uE000-\uF8FF]|(?:www\.[^\s\uE000-\uF8FF]+|[\w-]+\.(?:com|org|net|io|dev)(?:\/[^\s\uE000-\uF8FF]*)?))(.*)$/i;

export function fetchPage(rest: string, scene: PromptContext): ParsedSteps {
  if (!/[\uE000-\uF8FF]|www\.|\.(?:com|org|net|io|dev)\b/.test(rest)) return undefined;
  const match = PAGE().exec(rest);
  if (!match) return undefined;
  const others = /^(?:\s*(?:,|,?\s+and)\s+[\uE000-\uF8FF])+[\s.!]*$/i.test(match[2]!)
    ? match[2]!.match(/[\uE000-\uF8FF]/g)!
    : [];
  if (others.length > 0) {
    const urls = [match[1]!, ...others].map((mark) => termOf(mark, scene).trim());
    return urls.every((one) => /^https?:\/\/\S+$/i.test(one))
      ? urls.map((one): Step => ({ do: "fetch", url: one }))
      : undefined;
  }
  const literal = literalOf(scene.masked, match[1]!);
  const url = literal ? literal.text.trim() : `https://${match[1]!.replace(/[.,;!?]+$/, "")}`;
  if (!/^https?:\/\/\S+$/i.test(url)) return undefined;
  return isSpent(
    match[2]!
      .replace(
        /^\s*(?:and )?(?:show|tell|give) me (?:what(?:'s| is) (?:on )?(?:it|there)|the (?:contents?|result|page))/i,
        "",
      )
      .replace(/^\s+(?:page|website|url|site|contents?)\b/i, ""),
  )
    ? [{ do: "fetch", url }]
    : undefined;
}

/** "call the tool NAME with {json}", "use linear-create_issue with title=abc". */
export function callTool(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const words = rest.replace(
    /^(?:(?:the|a|an|my|your|mcp|following)\s+)*(?:(?:mcp\s+)?tools?\s+)?(?:(?:called|named)\s+|:\s*)?/i,
    "",
  );
  const saysTool =
    /^(?:(?:the|a|an|my|your|mcp|following)\s+)*(?:mcp\s+)?tools?\b/i.test(rest) ||
    /^[\w.:-]+\s+(?:mcp\s+)?tool\b/i.test(words);
  const named = nameAt(words, scene, { short: saysTool || !/^(?:run|execute|exec|launch|perform|issue)$/.test(verb) });
  if (!named) {
    const unknown = /^([\uE000-\uF8FF]|[\w.:-]+)/.exec(words);
    if (!saysTool || !unknown || !/^(?:call|use|invoke|run|execute|trigger|exec)$/.test(verb)) return undefined;
    const name = termOf(unknown[1]!, scene);
    if (/^(?:to|and|for|with)$/i.test(name)) return undefined;
    return [{ do: "call", tool: name, args: {} }];
  }
  // "run Shell" or "use read to …" are English unless arguments follow.
  const after = named.rest
    .replace(/^\s*(?:mcp\s+)?tool\b/i, "")
    .replace(/^\s*(?:from|of|on) the [\w-]+ (?:mcp )?server\b/i, "")
    .trim();
  const args = argumentsOf(withoutPurpose(after, named.tool.name), named.tool, scene);
  if (args === undefined) return undefined;
  if (after === "" && !saysTool && !/[-_.]/.test(named.tool.name) && verb !== "call" && verb !== "invoke")
    return undefined;
  return [{ do: "call", tool: named.tool.name, args }];
}

const BY_MEANS_OF = () =>
  /^(\w+)\s[\w\s-]*?(?:with|using|via|through)\s+(?:the\s+)?(?:mcp\s+)?(?:tool\s+)?(?=[\w.]+[-_]\w|[\uE000-\uF8FF])/i;

/** "create an issue with linear-create_issue, title x": the tool does what the verb says. */
export function callWith(words: string, scene: PromptContext): ParsedSteps {
  const match = BY_MEANS_OF().exec(words);
  if (!match) return undefined;
  const named = nameAt(words.slice(match[0].length), scene, { short: true });
  if (!named || !isInName(match[1]!, named.tool.name)) return undefined;
  return callTool(words.slice(match[0].length), scene, "call");
}

function isInName(word: string, tool: string): boolean {
  return tool
    .toLowerCase()
    .split(/[-_./:]/)
    .includes(word.toLowerCase());
}

/** "to create an issue with title x" after a tool named create_issue says nothing new. */
function withoutPurpose(words: string, name: string): string {
  const purpose = /^to\s+(\w+)\s+(?:[\w-]+\s+){0,4}?(?=(?:with|using|titled|saying)\s|[\uE000-\uF8FF])/i.exec(words);
  if (!purpose || !isInName(purpose[1]!, name)) return words;
  return words.slice(purpose[0].length).replace(/^(?:titled|saying)\s+/i, "");
}

type NamedTool = { tool: PromptContext["tools"][number]; rest: string };

/** The longest tool name that the words begin with; a gap may stand for "-" or "_". */
function nameAt(words: string, scene: PromptContext, options: { short: boolean }): NamedTool | undefined {
  const literal = literalOf(scene.masked, words.charAt(0));
  const text = literal ? literal.text + words.slice(1) : words;
  const flat = (name: string): string => name.toLowerCase().replace(/[-_./:\s]+/g, " ");
  for (const tool of [...scene.tools].sort((one, other) => other.name.length - one.name.length)) {
    const length = tool.name.length;
    if (flat(text.slice(0, length)) === flat(tool.name) && /^(?:$|[\s({:,.])/.test(text.slice(length)))
      return { tool, rest: text.slice(length) };
  }
  // The part after the server's name is enough when only one tool has it.
  const word = /^[\w.:-]+/.exec(text)?.[0] ?? "";
  const short =
    word.length < 4 || !options.short
      ? []
      : scene.tools.filter((tool) => tool.name.toLowerCase().endsWith(`-${word.toLowerCase()}`));
  return short.length === 1 ? { tool: short[0]!, rest: text.slice(word.length) } : undefined;
}

const ARGUMENT = () =>
  /^["']?([A-Za-z_][\w.-]*)["']?\s*(?:=|:|\s+is\s+|\s+set to\s+|\s+as\s+|\s+of\s+|\s+to\s+|\s+)\s*([\uE000-\uF8FF]|(?:(?!\s*,|\s+and\s+[A-Za-z_]|\s+[A-Za-z_][\w.-]*\s*[=:]).)+)\s*(?:,\s*(?:and\s+)?|\s+and\s+|\s+|$)/i;

function argumentsOf(
  words: string,
  tool: PromptContext["tools"][number],
  scene: PromptContext,
): Record<string, unknown> | undefined {
  const { properties = {}, required = [] } = tool.parameters as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const text = words
    .replace(
      /^[\s(,:]*(?:(?:(?:and )?(?:pass|give|send|provide|passing|giving)(?: it)?|with|using|and|on|for)\s+)?(?:(?:the|these|this|following|json|it)\s+)*(?:(?:arguments?|args|parameters?|params?|inputs?|values?|options?)\s*)?[:=]?\s*/i,
      "",
    )
    .replace(/[)\s.]+$/, "");
  if (text === "" || /^(?:no|without|empty)(?:\s+(?:arguments?|args|parameters?|any))*$/i.test(text)) return {};
  const literal = literalOf(scene.masked, text);
  if (literal?.kind === "json" || (literal && /^\s*\{/.test(literal.text))) {
    const object = tryParse(literal.text);
    return isObject(object) ? object : undefined;
  }
  const args: Record<string, unknown> = {};
  let rest = text;
  while (rest !== "") {
    const pair = ARGUMENT().exec(rest);
    if (!pair) break;
    const [whole, key = "", value = ""] = pair;
    // Without a sign between them, the word must be a parameter of the tool.
    if (!/^["']?[\w.-]+["']?\s*[=:]/.test(rest) && !(key in properties)) break;
    args[key] = typedValue(value, properties[key], scene);
    rest = rest.slice(whole.length).trim();
  }
  if (rest === "") return args;
  // One value for the only parameter there is, or the only one that is required.
  const names = Object.keys(properties);
  const [only] = [names, required].find((each) => each.length === 1) ?? [];
  if (only === undefined || Object.keys(args).length > 0 || !(literal || /^\S+$/.test(text))) return undefined;
  return { [only]: typedValue(text, properties[only], scene) };
}

function typedValue(words: string, schema: unknown, scene: PromptContext): unknown {
  const literal = literalOf(scene.masked, words);
  const text = termOf(words, scene);
  const type = (schema as { type?: unknown } | undefined)?.type;
  if (type === "string" || (literal && literal.kind !== "json" && type === undefined)) return text;
  if (type === "array" && !/^\s*\[/.test(text)) return [text];
  if (!/^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null|[[{].*)$/is.test(text.trim())) return text;
  const value = tryParse(text);
  return value === undefined ? text : value;
}

export function sum(words: string): ParsedSteps {
  const found = readSum(words);
  return found && [{ do: "sum", sum: found }];
}
