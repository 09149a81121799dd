// The table of flags, and the parser that reads a command line by it. Help and "did you mean" read the same table.
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";

export type FlagGroup = "Run" | "Output" | "Model" | "Permissions" | "Workspace" | "Sessions" | "Limits" | "General";

export type Flag = {
  name: string;
  short?: string;
  /** `<x>` must be given, `[x]` may be given; none: a switch. */
  value?: string;
  repeat?: true;
  choices?: readonly string[];
  group: FlagGroup;
  help: string;
  /** Known to the original, not done here yet: using it ends the run and says so. */
  notBuilt?: true;
  hidden?: true;
};

export const flags: readonly Flag[] = [
  {
    name: "print",
    short: "p",
    group: "Run",
    help: "Answer once on stdout and exit, all tools at hand (also when stdin or stdout is no terminal)",
  },
  {
    name: "mode",
    value: "<mode>",
    choices: ["plan", "ask", "agent"],
    group: "Run",
    help: "Read-only work: plan (ends in a plan) or ask (questions); agent leaves them in a resumed chat",
  },
  { name: "plan", group: "Run", help: "Same as --mode plan" },
  {
    name: "input-format",
    value: "<format>",
    choices: ["text", "stream-json"],
    group: "Run",
    help: "text (default), or stream-json: a line of stdin is a prompt, each gets its result; print mode only",
  },
  { name: "image", value: "<path>", repeat: true, group: "Run", help: "Attach an image (repeatable)" },
  { name: "system-prompt", value: "<text>", group: "Run", help: "Replace the built-in system prompt" },
  { name: "append-system-prompt", value: "<text>", group: "Run", help: "Add to the system prompt" },
  { name: "background", short: "b", group: "Run", help: "Start in background mode", notBuilt: true },
  { name: "cloud", short: "c", group: "Run", help: "Start in cloud mode", notBuilt: true },
  { name: "browser", group: "Run", help: "Give the agent a browser: open, snapshot, click, type, screenshot" },

  {
    name: "output-format",
    value: "<format>",
    choices: ["text", "json", "stream-json"],
    group: "Output",
    help: "text (default), json or stream-json; print mode only",
  },
  { name: "stream-partial-output", group: "Output", help: "Text deltas as they come; needs --print and stream-json" },
  {
    name: "json-schema",
    value: "<schema>",
    group: "Output",
    help: "Answer as JSON that fits: a file, or the JSON Schema itself; print mode only",
  },
  {
    name: "output-last-message",
    short: "o",
    value: "<file>",
    group: "Output",
    help: "Write the last answer to a file as well; print mode only",
  },
  { name: "debug", group: "Output", help: "Say on stderr what is going on" },

  { name: "model", value: "<model>", group: "Model", help: "gpt-5, sonnet-4.5, vendor/model, offline, script:FILE …" },
  {
    name: "fallback-model",
    value: "<model>",
    repeat: true,
    group: "Model",
    help: "Model to ask when the first fails (comma list, repeatable)",
  },
  {
    name: "effort",
    value: "<level>",
    choices: ["low", "medium", "high"],
    group: "Model",
    help: "How hard the model thinks",
  },
  { name: "list-models", group: "Model", help: "List the models and exit" },
  { name: "api-key", value: "<key>", group: "Model", help: "Key of the chosen model's vendor (or CURSOR_API_KEY)" },
  {
    name: "endpoint",
    short: "e",
    value: "<url>",
    group: "Model",
    help: "OpenAI-compatible server to ask (or CURSOR_API_ENDPOINT)",
  },
  {
    name: "header",
    short: "H",
    value: "<header>",
    repeat: true,
    group: "Model",
    help: "Extra request header 'Name: Value' (repeatable)",
  },

  { name: "force", short: "f", group: "Permissions", help: "Allow everything but deny rules and protected paths" },
  { name: "yolo", group: "Permissions", help: "Same as --force" },
  { name: "trust", group: "Permissions", help: "Trust this workspace from now on, without asking" },
  {
    name: "approve-mcps",
    group: "Permissions",
    help: "Approve all MCP servers of the project for this run",
  },
  {
    name: "approve-mcp",
    value: "<name>",
    repeat: true,
    group: "Permissions",
    help: "Approve one MCP server of the project for this run (repeatable)",
  },
  {
    name: "mcp-config",
    value: "<file>",
    repeat: true,
    group: "Run",
    help: "Further MCP servers for this run: a file like mcp.json, or the JSON itself (repeatable)",
  },
  {
    name: "hooks",
    value: "<file>",
    repeat: true,
    group: "Run",
    help: "Further hooks for this run, trusted as yours: a file like hooks.json, or the JSON itself (repeatable)",
  },
  {
    name: "ask-command",
    value: "<command>",
    group: "Permissions",
    help: "In print mode, a command that answers what a person would be asked: JSON in, JSON out",
  },
  {
    name: "sandbox",
    value: "<state>",
    choices: ["enabled", "disabled"],
    group: "Permissions",
    help: "Override the sandbox setting",
  },
  { name: "auto-review", group: "Permissions", help: "Let the model review what would be asked" },
  {
    name: "allowed-tools",
    value: "<names>",
    repeat: true,
    group: "Permissions",
    help: "Only these tools (comma list)",
  },
  {
    name: "disallowed-tools",
    value: "<names>",
    repeat: true,
    group: "Permissions",
    help: "Not these tools (comma list)",
  },

  { name: "workspace", value: "<path>", group: "Workspace", help: "Directory to work in (default: the current one)" },
  {
    name: "add-dir",
    value: "<path>",
    repeat: true,
    group: "Workspace",
    help: "A further directory to work in (repeatable)",
  },
  {
    name: "worktree",
    short: "w",
    value: "[name]",
    group: "Workspace",
    help: "Work in a new git worktree",
    notBuilt: true,
  },
  { name: "worktree-base", value: "<ref>", group: "Workspace", help: "Base of the new worktree", notBuilt: true },
  { name: "skip-worktree-setup", group: "Workspace", help: "Skip the worktree's setup", notBuilt: true },
  {
    name: "plugin-dir",
    value: "<path>",
    repeat: true,
    group: "Workspace",
    help: "Load a plugin folder",
    notBuilt: true,
  },

  {
    name: "resume",
    value: "[chatId]",
    group: "Sessions",
    help: "Resume a chat: its id, the beginning of it, or --resume=-2 for the last but one",
  },
  { name: "continue", group: "Sessions", help: "Resume the latest chat" },
  { name: "fork", group: "Sessions", help: "With --resume or --continue: go on in a copy of the chat" },
  { name: "session-id", value: "<uuid>", group: "Sessions", help: "Id of the new chat" },
  { name: "no-persist", group: "Sessions", help: "Keep nothing of this run on disk" },

  { name: "max-turns", value: "<n>", group: "Limits", help: "Most replies of the model in this run" },
  { name: "max-time", value: "<time>", group: "Limits", help: "Most time for this run: 90s, 5m, 1h" },
  { name: "max-cost", value: "<usd>", group: "Limits", help: "Most dollars for this run (models with a known price)" },

  {
    name: "auth-token",
    value: "<token>",
    group: "Model",
    help: "Bearer token instead of a key",
    notBuilt: true,
    hidden: true,
  },
  { name: "insecure", short: "k", group: "Model", help: "Relax TLS verification", notBuilt: true, hidden: true },
  { name: "version", short: "v", group: "General", help: "Print the version" },
  { name: "help", short: "h", group: "General", help: "This help, or a command's" },
  { name: "disable-auto-update", group: "General", help: "Accepted; nothing updates by itself", hidden: true },
];

export type FlagValues = ReadonlyMap<string, string | true | readonly string[]>;

export type CommandLine = {
  /** The command's name, when the first word is one. */
  command: string | undefined;
  /** Everything that is no flag, in order; a lone `-` included. */
  words: readonly string[];
  /** How many of `words` came before `--`; later ones are prompt whatever they look like. */
  plainWords: number;
  flags: FlagValues;
};

/** What the parser must know of a command. */
export type CommandShape = {
  name: string;
  aliases?: readonly string[];
  flags?: readonly Flag[];
  /** After this word and one more, everything belongs to the program that is named there: `sandbox run ls -la`. */
  verbatimAfter?: string;
};

export function parseCommandLine(argv: readonly string[], commands: readonly CommandShape[]): CommandLine {
  const values = new Map<string, string | true | string[]>();
  const words: string[] = [];
  let command: CommandShape | undefined;
  let plainWords: number | undefined;

  for (let index = 0; index < argv.length; index++) {
    const token = argv[index]!;
    if (plainWords !== undefined || isForProgram()) words.push(token);
    else if (token === "--") plainWords = words.length;
    else if (token.startsWith("--")) index = takeLong(token, index);
    // `- first point` is the beginning of a list, `-1` a number: neither is an option.
    else if (/^-\S/.test(token) && !isNumber(token)) index = takeShort(token, index);
    else if (words.length === 0 && !command && (command = findCommand(token, commands))) continue;
    else words.push(token);
  }
  return { command: command?.name, words, plainWords: plainWords ?? words.length, flags: values };

  function isForProgram(): boolean {
    return command?.verbatimAfter !== undefined && words[0] === command.verbatimAfter && words.length > 1;
  }

  function takeLong(token: string, index: number): number {
    const equals = token.indexOf("=");
    const name = equals < 0 ? token.slice(2) : token.slice(2, equals);
    return take(
      lookUp((flag) => flag.name === name, `--${name}`),
      index,
      equals < 0 ? undefined : token.slice(equals + 1),
    );
  }

  function takeShort(token: string, index: number): number {
    for (let at = 1; at < token.length; at++) {
      const letter = token[at]!;
      const flag = lookUp((candidate) => candidate.short === letter, `-${letter}`);
      const rest = token.slice(at + 1);
      if (flag.value) return take(flag, index, rest === "" ? undefined : rest.replace(/^=/, ""));
      take(flag, index, undefined);
    }
    return index;
  }

  function lookUp(matches: (flag: Flag) => boolean, shown: string): Flag {
    const known = [...(command?.flags ?? []), ...flags];
    const flag = known.find(matches);
    if (flag) return flag;
    const near = nearestName(
      shown,
      known.flatMap((each) => [`--${each.name}`, ...(each.short ? [`-${each.short}`] : [])]),
    );
    const hint = near ? ` Did you mean ${near}?` : "";
    throw new UserError("USAGE", `unknown option '${shown}'.${hint} A prompt that begins with a dash goes after --.`);
  }

  function take(flag: Flag, index: number, given: string | undefined): number {
    if (!flag.value) {
      if (given !== undefined)
        throw new UserError("USAGE", `option '--${flag.name}' takes no value. Type --${flag.name} alone.`);
      values.set(flag.name, true);
      return index;
    }
    let value = given;
    if (value === undefined) {
      const next = argv[index + 1];
      if (flag.value.startsWith("[")) {
        if (next === undefined || (next.startsWith("-") && !isNumber(next))) {
          values.set(flag.name, true);
          return index;
        }
      } else if (next === undefined || next === "--" || (next.startsWith("--") && isFlag(next))) {
        throw new UserError(
          "USAGE",
          `option '--${flag.name} ${flag.value}' needs a value${flag.choices ? `: ${flag.choices.join(", ")}` : ""}.`,
        );
      }
      value = next!;
      index++;
    }
    if (flag.choices && !flag.choices.includes(value)) {
      const near = nearestName(value, flag.choices);
      throw new UserError(
        "USAGE",
        `option '--${flag.name}' cannot be '${value}'; it is one of ${flag.choices.join(", ")}.${near ? ` Did you mean ${near}?` : ""}`,
      );
    }
    if (flag.repeat) values.set(flag.name, [...((values.get(flag.name) as string[] | undefined) ?? []), value]);
    else values.set(flag.name, value);
    return index;
  }

  function isNumber(token: string): boolean {
    return /^-\d+$/.test(token);
  }

  /** So that `--model --force` is a missing value, while `--append-system-prompt "--x"` is a text. */
  function isFlag(token: string): boolean {
    const name = token.slice(2).split("=")[0];
    return flags.some((flag) => flag.name === name);
  }
}

export function findCommand(word: string, commands: readonly CommandShape[]): CommandShape | undefined {
  return commands.find((command) => command.name === word || command.aliases?.includes(word));
}

export function flagText(values: FlagValues, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === "string" ? value : undefined;
}

export function flagList(values: FlagValues, name: string): readonly string[] {
  const value = values.get(name);
  return Array.isArray(value) ? value : [];
}
