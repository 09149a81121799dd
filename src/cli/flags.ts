// The table of flags, and the command line parser. Help and "did you mean" read the same table.

import { UserError, usageError } from "../protocol/error-codes.ts";
import { reasoningEfforts } from "../protocol/run.ts";
import { didYouMean } from "../text/nearest.ts";

export type FlagGroup =
  | "Run"
  | "Output"
  | "Model"
  | "Permissions"
  | "Workspace"
  | "Sessions"
  | "Limits"
  | "Proof"
  | "Fleet"
  | "General";

export type Flag = {
  name: string;
  short?: string;
  /** The placeholder of the flag's value: `<x>` is required, `[x]` optional. Undefined for a flag without a value. */
  value?: string;
  repeat?: true;
  choices?: readonly string[];
  group: FlagGroup;
  help: string;
  /** For a flag of the original that has no meaning here, the error message that is shown when it is used. */
  instead?: string;
  hidden?: true;
};

/** Defines a flag. `spelling` is as in the help: `-p, --print`, `--model <model>`; `--image <path>...` may be repeated. */
export function flag(
  group: FlagGroup,
  spelling: string,
  help: string,
  more: Pick<Flag, "choices" | "instead" | "hidden"> = {},
): Flag {
  const words = spelling.split(" ");
  const short = words[0]!.startsWith("--") ? undefined : words.shift()![1];
  const [name, value] = words;
  const repeat = value?.endsWith("...") ? ({ repeat: true } as const) : {};
  return { name: name!.slice(2), short, value: value?.replace("...", ""), ...repeat, group, help, ...more };
}

/** The format flag of commands that can print text or JSON. */
export const textOrJson = flag("Output", "--format <format>", "text (default) or json", { choices: ["text", "json"] });

export const flags: readonly Flag[] = [
  flag(
    "Run",
    "-p, --print",
    "Answer once on stdout and exit, with all tools (also when stdin or stdout is not a terminal)",
  ),
  flag(
    "Run",
    "--mode <mode>",
    "Read-only: plan (ends in a plan) or ask (answers questions); agent: back to normal in a resumed chat",
    { choices: ["plan", "ask", "agent"] },
  ),
  flag("Run", "--plan", "Same as --mode plan"),
  flag(
    "Run",
    "--input-format <format>",
    "text (default), or stream-json: each line on stdin is a prompt with its own result; print mode only",
    { choices: ["text", "stream-json"] },
  ),
  flag("Run", "--request-on-stdin", "The first line on stdin says what the run shall be", { hidden: true }),
  flag("Run", "--image <path>...", "Attach an image (repeatable)"),
  flag("Run", "--system-prompt <text>", "Replace the built-in system prompt"),
  flag("Run", "--append-system-prompt <text>", "Add to the system prompt"),
  flag(
    "Run",
    "-b, --background",
    "Run in the background and print the run's id; without a prompt, choose a run to attach to",
  ),
  flag(
    "Run",
    "--cli <name>",
    "With -b, batch and eval: the agent CLI that runs it, such as claude, codex or pi; default courser",
  ),
  flag("Run", "-c, --cloud", "Start in cloud mode", {
    hidden: true,
    instead:
      "There are no cloud agents. For runs that outlive the terminal: -b, and 'serve' for other programs. To continue the latest chat: --continue",
  }),
  flag("Run", "--browser", "Give the agent a browser: open, snapshot, click, type, screenshot"),
  flag(
    "Run",
    "--mcp-config <file>...",
    "Additional MCP servers for this run: a file like mcp.json, or inline JSON (repeatable)",
  ),
  flag(
    "Run",
    "--hooks <file>...",
    "Additional hooks for this run, trusted as your own: a file like hooks.json, or inline JSON (repeatable)",
  ),
  flag("Output", "--output-format <format>", "text (default), json or stream-json; print mode only", {
    choices: ["text", "json", "stream-json"],
  }),
  flag("Output", "--stream-partial-output", "Stream text deltas as they arrive; needs --print and stream-json"),
  flag(
    "Output",
    "--json-schema <schema>",
    "Answer with JSON that matches a schema: a file, or an inline JSON Schema; print mode only",
  ),
  flag("Output", "-o, --output-last-message <file>", "Also write the last answer to a file; print mode only"),
  flag("Output", "--debug", "Write a debug log to stderr"),
  flag("Model", "--model <model>", "gpt-5, sonnet-4.5, vendor/model, offline, script:FILE, replay:FILE …"),
  flag("Model", "--fallback-model <model>...", "Model to use when the first one fails (comma-separated, repeatable)"),
  flag("Model", "--effort <level>", "Reasoning effort of the model", { choices: reasoningEfforts }),
  flag("Model", "--list-models", "List the models and exit"),
  flag("Model", "--api-key <key>", "API key for the chosen model's vendor (or CURSOR_API_KEY)"),
  flag("Model", "-e, --endpoint <url>", "Server to use (or CURSOR_API_ENDPOINT)"),
  flag("Model", "--endpoint-type <type>", "What that server speaks (default: openai, which is chat completions)", {
    choices: ["openai", "responses", "anthropic", "google"],
  }),
  flag("Model", "--token-command <command>", "Program that prints a bearer token for the model's server"),
  flag("Model", "-H, --header <header>...", "Extra request header 'Name: Value' (repeatable)"),
  flag("Model", "--auth-token <token>", "Bearer token instead of a key", {
    hidden: true,
    instead:
      "It is for Cursor's own service. Pass the vendor's key with --api-key, or a header: -H 'Authorization: Bearer <token>'",
  }),
  flag("Model", "-k, --insecure", "Do not verify the TLS certificate of the model's server"),
  flag("Permissions", "-f, --force", "Allow everything except what deny rules and protected paths block"),
  flag("Permissions", "--yolo", "Same as --force"),
  flag("Permissions", "--trust", "Trust this workspace from now on, without asking"),
  flag(
    "Permissions",
    "--approve-mcps",
    "Approve all MCP servers for this run; in print mode, also calls to their tools",
  ),
  flag("Permissions", "--approve-mcp <name>...", "Approve one MCP server in the same way (repeatable)"),
  flag(
    "Permissions",
    "--ask-command <command>",
    "In print mode, a command that answers permission requests: JSON in, JSON out",
  ),
  flag("Permissions", "--sandbox <state>", "Override the sandbox setting", { choices: ["enabled", "disabled"] }),
  flag("Permissions", "--auto-review", "Let the model review permission requests"),
  flag("Permissions", "--allow <rule>...", "Allow rule for this run: 'Shell(git)', 'Write(src/**)' (repeatable)"),
  flag("Permissions", "--deny <rule>...", "Deny rule for this run (repeatable); overrides --allow and --force"),
  flag("Permissions", "--allowed-tools <names>...", "Only these tools (comma-separated)"),
  flag("Permissions", "--disallowed-tools <names>...", "Exclude these tools (comma-separated)"),
  flag("Workspace", "--workspace <path>", "Directory to work in (default: the current one)"),
  flag("Workspace", "--add-dir <path>...", "Additional workspace directory (repeatable)"),
  flag("Workspace", "-w, --worktree [name]", "Work in a separate git worktree: a new one, or the one with this name"),
  flag("Workspace", "--worktree-base <ref>", "Commit that a new worktree starts from (default: HEAD)"),
  flag("Workspace", "--skip-worktree-setup", "Do not run the setup in .cursor/worktrees.json"),
  flag("Workspace", "--plugin-dir <path>...", "Load a plugin for this run, trusted as your own (repeatable)"),
  flag("Sessions", "--resume [chatId]", "Resume a chat: its id, a prefix of it, or --resume=-2 for the second to last"),
  flag("Sessions", "--continue", "Resume the latest chat"),
  flag("Sessions", "--resume-or-new <uuid>", "Resume the chat with this id, or start one with it"),
  flag("Sessions", "--fork", "With --resume or --continue: continue in a copy of the chat"),
  flag("Sessions", "--session-id <uuid>", "Id of the new chat"),
  flag("Sessions", "-n, --name <title>", "Title of the chat, which lists show"),
  flag("Sessions", "--no-persist", "Do not save this run to disk"),
  flag("Limits", "--max-turns <n>", "Maximum number of model replies in this run"),
  flag("Limits", "--max-time <time>", "Time limit for this run: 90s, 5m, 1h"),
  flag("Limits", "--max-cost <usd>", "Cost limit for this run in dollars (models with a known price)"),
  flag("Limits", "--price <in,out>", "Price of a model with an unknown price, in dollars per million tokens: 3,15"),
  flag("Limits", "--max-silence <time>", "End a run that makes no progress for this long: 60s; print mode only"),
  flag(
    "Proof",
    "--fail-on <reasons>...",
    "Exit with 5 although the agent succeeded, if: denied, background, empty, mcp, replay (comma-separated)",
  ),
  flag("Proof", "--require-mcp <name>...", "Fail unless this MCP server is available (repeatable)"),
  flag(
    "Proof",
    "--heartbeat <time>",
    "When nothing happens for this long, print what the run is waiting for: 10s; print mode only",
  ),
  flag(
    "Proof",
    "--log <file>",
    "Append a log of the run to a file, one JSON object per line, without secrets (or COURSER_LOG)",
  ),
  flag("Proof", "--record <file>", "Record the run; replay it with --model replay:FILE"),
  flag(
    "Proof",
    "--replay-tools <how>",
    "With --model replay:FILE: recorded (default: nothing runs), or live (tools run for real)",
    { choices: ["recorded", "live"] },
  ),
  flag(
    "Proof",
    "--replay-on-mismatch <what>",
    "At the first request that differs from the recording: stop (default) or continue",
    { choices: ["stop", "continue"] },
  ),
  flag(
    "Fleet",
    "--fleet <url>",
    "Queue runs for workers on any machine: nats://… (or COURSER_FLEET); local: this machine's own queue",
  ),
  flag(
    "Fleet",
    "--source <source>",
    "Files for a run of a fleet: upload (default: this workspace), git, git:URL#REF, folder:PATH or none",
  ),
  flag(
    "Fleet",
    "--without-local-hooks",
    "Send the run although hooks of this machine, which no worker has, could refuse what it does",
  ),
  flag("Fleet", "--pool <name>", "Worker pool that may take the run (default: default)"),
  flag("Fleet", "--label <key=value>...", "Only workers with this label (repeatable)"),
  flag("Fleet", "--priority <priority>", "high, normal (default) or low", { choices: ["high", "normal", "low"] }),
  flag(
    "Fleet",
    "--on-worker-loss <what>",
    "When a worker dies: interrupt (default: the run ends), or continue (another worker continues)",
    { choices: ["interrupt", "continue"] },
  ),
  flag("General", "-v, --version", "Print the version"),
  flag("General", "-h, --help", "Show this help, or help for a command"),
  flag("General", "--disable-auto-update", "Accepted; there are no automatic updates", { hidden: true }),
];

export type FlagValues = ReadonlyMap<string, string | true | readonly string[]>;

/** The suggestion is looked up only when the error is shown, because most starts do not need it. */
export class UnknownOption extends UserError {
  readonly written: string;
  readonly known: readonly string[];

  constructor(written: string, known: readonly string[]) {
    super("USAGE", `unknown option '${written}'.`);
    this.written = written;
    this.known = known;
  }
}

export type CommandLine = {
  /** The name of the command, if the first word is one. */
  command: string | undefined;
  /** Everything that is not a flag, in order, including a lone `-`. */
  words: readonly string[];
  /** How many of `words` came before `--`. Later words always belong to the prompt. */
  plainWords: number;
  flags: FlagValues;
};

/** The part of a command's definition that the parser needs. */
export type CommandShape = {
  name: string;
  aliases?: readonly string[];
  flags?: readonly Flag[];
  /** A word after which the next word is a program, whose arguments are not parsed: `sandbox run ls -la`. */
  verbatimAfter?: string;
  /** Set if the original CLI has no such command. */
  ours?: true;
  uses?: readonly string[];
  commands?: readonly { uses?: readonly string[] }[] | undefined;
};

function heedsPrint({ uses, commands = [] }: CommandShape): boolean {
  return [{ uses }, ...commands].some((each) => each.uses?.includes("print"));
}

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
    // `- first point` starts a list and `-1` is a number: neither is an option.
    else if (/^-\S/.test(token) && !isNumber(token)) index = takeShort(token, index);
    else if (words.length === 0 && !command && (command = commandNamed(token))) continue;
    else words.push(token);
  }
  // In `trust -p` the word `trust` is the prompt, unless the command itself has a flag -p.
  if (values.has("print") && command?.ours && !heedsPrint(command))
    return parseCommandLine(
      argv,
      commands.filter((each) => !each.ours),
    );
  return { command: command?.name, words, plainWords: plainWords ?? words.length, flags: values };

  /** Returns the command of this name. After -p only the original's commands count: the rest is a user's words. */
  function commandNamed(token: string): CommandShape | undefined {
    const found = findCommand(token, commands);
    return found?.ours && values.has("print") ? undefined : found;
  }

  function isForProgram(): boolean {
    return command?.verbatimAfter !== undefined && words[0] === command.verbatimAfter && words.length > 1;
  }

  function takeLong(token: string, index: number): number {
    const equals = token.indexOf("=");
    const name = equals < 0 ? token.slice(2) : token.slice(2, equals);
    return setFlag(
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
      if (flag.value) return setFlag(flag, index, rest === "" ? undefined : rest.replace(/^=/, ""));
      setFlag(flag, index, undefined);
    }
    return index;
  }

  function lookUp(matches: (flag: Flag) => boolean, typedFlag: string): Flag {
    const allFlags = [...(command?.flags ?? []), ...flags];
    const flag = allFlags.find(matches);
    if (flag) return flag;
    const names = allFlags.flatMap((each) => [`--${each.name}`, ...(each.short ? [`-${each.short}`] : [])]);
    throw new UnknownOption(typedFlag, names);
  }

  function setFlag(flag: Flag, index: number, flagValue: string | undefined): number {
    if (!flag.value) {
      if (flagValue !== undefined)
        throw usageError(`option '--${flag.name}' takes no value. Use --${flag.name} alone.`);
      values.set(flag.name, true);
      return index;
    }
    let value = flagValue;
    if (value === undefined) {
      const next = argv[index + 1];
      if (flag.value.startsWith("[")) {
        if (next === undefined || (next.startsWith("-") && !isNumber(next))) {
          values.set(flag.name, true);
          return index;
        }
      } else if (next === undefined || next === "--" || (next.startsWith("--") && isFlag(next))) {
        throw usageError(
          `option '--${flag.name} ${flag.value}' needs a value${flag.choices ? `: ${flag.choices.join(", ")}` : ""}.`,
        );
      }
      value = next!;
      index++;
    }
    checkChoice(flag, value);
    if (flag.repeat) values.set(flag.name, [...((values.get(flag.name) as string[] | undefined) ?? []), value]);
    else values.set(flag.name, value);
    return index;
  }

  function isNumber(token: string): boolean {
    return /^-\d+$/.test(token);
  }

  /** Makes `--model --force` a missing value, but `--append-system-prompt "--x"` a text. */
  function isFlag(token: string): boolean {
    const name = token.slice(2).split("=")[0];
    return flags.some((flag) => flag.name === name);
  }
}

export function checkChoice({ name, choices }: Flag, value: string): void {
  if (!choices || choices.includes(value)) return;
  const hint = didYouMean(value, choices);
  throw usageError(`option '--${name}' cannot be '${value}'; it must be one of ${choices.join(", ")}.${hint}`);
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
