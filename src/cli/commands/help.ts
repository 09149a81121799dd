// Renders help for everything or for one command, from the tables that the parser reads, so that the two always agree.
import { usageError } from "../../protocol/error-codes.ts";
import { didYouMean } from "../../text/nearest.ts";
import { type Flag, findCommand, flags } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";
import { helpPage, pageNames } from "./help-page.ts";
import type { Command } from "./index.ts";
import { type InnerCommand, unknownCommand } from "./inner-command.ts";

/** Prints the help of the program or of one command. `commands` is the table of all commands. */
export async function help(
  invocation: Invocation,
  topic: string | undefined,
  commands: readonly Command[],
): Promise<number> {
  if (topic === undefined || topic === "help") {
    const isAll = invocation.line.flags.has("all");
    return answer(isAll ? fullHelp(invocation.name, commands) : programHelp(invocation.name));
  }
  const command = findCommand(topic, commands) as Command | undefined;
  if (!command) return answer(helpPage(topic) ?? unknownTopic(topic, invocation.name, commands));
  // Handles both `help sessions export` and `sessions export --help`.
  const isAsked = invocation.line.command !== command.name;
  const [word] = isAsked ? invocation.line.words.slice(1) : invocation.line.words;
  const inner = command.commands?.find((each) => each.name === word);
  if (inner) return answer(commandHelp(invocation.name, { ...inner, name: `${command.name} ${inner.name}` }));
  if (word !== undefined && command.commands)
    throw unknownCommand(word, { ...command, commands: command.commands }, invocation.name);
  if (command.name === "agent") return answer(programHelp(invocation.name));
  const short = commandHelp(invocation.name, command);
  const page = isAsked ? helpPage(command.name) : undefined;
  if (page === undefined) return answer(short);
  // On a terminal, print the most important part last, because the end of the output stays visible.
  const { isatty } = await import("node:tty");
  return answer((isatty(1) ? [page, short] : [short, page]).join("\n"));
}

/** The column where descriptions begin, and the line width. Both fit an 80-column terminal. */
const column = 31;
const width = 80;

const environment: readonly [name: string, meaning: string][] = [
  ["CURSOR_API_KEY", "API key for the chosen model's vendor"],
  ["ANTHROPIC_API_KEY", "Anthropic API key"],
  ["OPENAI_API_KEY", "OpenAI API key"],
  ["GEMINI_API_KEY", "Google API key"],
  ["<VENDOR>_API_KEY", "API keys for other vendors: OPENROUTER, XAI, DEEPSEEK, MISTRAL, GROQ …"],
  ["COURSER_MODEL", "Model to use when --model is not given"],
  ["CURSOR_API_ENDPOINT", "Same as --endpoint"],
  ["CURSOR_CONFIG_DIR", "Settings, keys and chats (default: ~/.cursor)"],
  ["HTTPS_PROXY, HTTP_PROXY", "Proxy for requests to models and to the web"],
  ["NO_PROXY", "Hosts to reach without the proxy"],
  ["COURSER_COMPAT", "2025 or 2026-02: use the stream-json format of that time"],
];

const exitCodes: readonly [code: string, meaning: string][] = [
  ["0", "Success, even if some tool calls were rejected"],
  ["1", "Failure: 'Error: … [CODE]' on stderr, and a result in the JSON formats"],
  ["2", "Invalid command line"],
  ["5", "The agent succeeded, but a --fail-on condition was met"],
  ["130", "Interrupted (Ctrl+C)"],
  ["141", "The reader closed the output"],
  ["143", "Terminated (SIGTERM)"],
];

/** The flags that most people need, listed on the first screen. */
const often: readonly string[] = [
  "print",
  "model",
  "mode",
  "force",
  "trust",
  "resume",
  "continue",
  "output-format",
  "workspace",
  "version",
];

/** Commands grouped by purpose. `help --all` lists each on its own line. */
const subjects: readonly [names: string, meaning: string][] = [
  ["login, logout, status", "Save, remove and show API keys"],
  ["models, about", "Models with their prices; version and system"],
  ["ls, resume, sessions", "Earlier chats: choose, show, export, fork, rewind"],
  ["config", "Your settings: list, get, set"],
  ["permissions, trust, sandbox", "What the agent may do, and where"],
  ["mcp, hooks", "Servers with more tools; programs run at events"],
  ["runs, worktrees, persist", "Background runs and git worktrees"],
  ["studio, serve, acp", "In the browser, over HTTP, in an editor"],
  ["install, update, completion", "This program itself"],
];

function programHelp(name: string): string {
  return sections([
    `${name}: a coding agent for terminals and scripts, with any model or none.`,
    `Usage: ${name} [options] [prompt...]      interactive chat\n       ${name} -p [options] <prompt>     answer once and exit\n       ${name} <command> [options]`,
    titledRows(
      "Commands",
      subjects.map(([names, meaning]) => row(names, meaning)),
    ),
    titledRows(
      "Options",
      often.map((wanted) => flagRow(flags.find((flag) => flag.name === wanted)!, short[wanted])),
    ),
    titledRows("Examples", [
      `  ${name} -p --trust "list all files"`,
      `  ${name} -p --force "create hello.txt with text 'Hello'"`,
      `  echo "what is 2+2?" | ${name} -p --trust --output-format json -`,
    ]),
    `One command: ${name} help <command>. Everything: ${name} help --all\nThe documentation: ${name} help index, then ${name} help <page>`,
  ]);
}

/** Command descriptions for the first screen, which must fit on one line each. */
const short: Record<string, string> = {
  print: "Answer once on stdout and exit",
  mode: "plan or ask: read-only",
  force: "Allow what is not denied or protected",
  trust: "Trust this workspace from now on",
  resume: "Resume a chat by its id",
  "output-format": "text, json or stream-json",
  workspace: "Directory to work in",
  model: "sonnet, gpt-5, vendor/model, offline …",
};

function fullHelp(name: string, commands: readonly Command[]): string {
  return sections([
    `Usage: ${name} [options] [command] [prompt...]`,
    titledRows("Commands", commands.filter(isThere).map(commandRow)),
    titledRows("Arguments", [row("prompt", "What to do; '-' stands for stdin, and everything after -- is the prompt")]),
    titledRows("In a prompt", [
      row("@path", "Attaches a file, a directory or an image"),
      row("/name [words]", "Calls a command, a skill or a subagent, such as /explore"),
    ]),
    ...flagGroups(flags),
    titledRows(
      "Environment",
      environment.map(([variable, meaning]) => row(variable, meaning)),
    ),
    titledRows(
      "Exit codes",
      exitCodes.map(([code, meaning]) => row(code, meaning)),
    ),
    titledRows("What --force does not override", [
      row("deny rules", "permissions.deny in cli-config.json and .cursor/cli.json always win"),
      row(
        "protected paths",
        "Courser's own settings, editor settings, git hooks and git config, shell start-up files, ~/.ssh: refused in print mode, need confirmation in a terminal",
      ),
    ]),
    `Help for one command: ${name} help <command>\nA page of the documentation: ${name} help <page>. All pages: ${name} help index`,
  ]);
}

function isThere({ name, load, commands }: Command): boolean {
  return load !== undefined || commands !== undefined || name === "agent";
}

function commandHelp(name: string, command: Omit<Command, "load"> & { load?: unknown }): string {
  const general = (command.uses ?? []).map((wanted) => {
    const flag = flags.find(({ name }) => name === wanted)!;
    const help = command.meanings?.[wanted];
    return help === undefined ? flag : { ...flag, help };
  });
  const options = [...(command.flags ?? []), ...general, flags.find((flag) => flag.name === "help")!];
  const usage = [name, command.name, "[options]", ...(command.operands ? [command.operands] : [])].join(" ");
  return sections([
    `Usage: ${usage}`,
    command.summary,
    ...(command.aliases ? [`Also called: ${command.aliases.join(", ")}`] : []),
    ...(command.commands
      ? [
          titledRows(
            "Commands",
            command.commands.map((inner) => commandRow(inner)),
          ),
        ]
      : []),
    titledRows(
      "Options",
      options.map((flag) => flagRow(flag)),
    ),
    ...(command.examples
      ? [
          titledRows(
            "Examples",
            command.examples.map((example) => `  ${exampleLine(name, example)}`),
          ),
        ]
      : []),
    ...(command.commands ? [`Help for one of them: ${name} help ${command.name} <command>`] : []),
    `All options: ${name} help --all`,
  ]);
}

/** Shows an example with the program name that was typed. An example that does not start with the program contains its name. */
function exampleLine(name: string, example: string): string {
  return /\bcourser\b/.test(example) ? example.replace(/\bcourser\b/g, name) : `${name} ${example}`;
}

function flagGroups(table: readonly Flag[]): string[] {
  const visibleFlags = table.filter((flag) => !flag.hidden);
  return [...new Set(visibleFlags.map((flag) => flag.group))].map((group) =>
    titledRows(
      group,
      visibleFlags.filter((flag) => flag.group === group).map((flag) => flagRow(flag)),
    ),
  );
}

function flagRow(flag: Flag, help = flag.help): string {
  const short = flag.short ? `-${flag.short}, ` : "";
  const unnamed = help === flag.help && flag.choices?.some((choice) => !help.includes(choice));
  const choices = unnamed ? `: ${flag.choices!.join(", ")}` : "";
  return row(`${short}--${flag.name}${flag.value ? ` ${flag.value}` : ""}`, `${help}${choices}`);
}

function commandRow(command: Command | InnerCommand): string {
  const names = [command.name, ...("aliases" in command ? (command.aliases ?? []) : [])].join(" | ");
  return row(`${names}${command.operands ? ` ${command.operands}` : ""}`, command.summary);
}

function row(term: string, meaning: string): string {
  const lines = wrap(meaning, width - column);
  const first = `  ${term}`;
  if (first.length + 2 > column) return [first, ...lines.map((line) => " ".repeat(column) + line)].join("\n");
  return lines.map((line, index) => (index === 0 ? first : "").padEnd(column) + line).join("\n");
}

function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function titledRows(title: string, rows: readonly string[]): string {
  return `${title}:\n${rows.join("\n")}`;
}

function sections(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

function unknownTopic(topic: string, name: string, commands: readonly Command[]): never {
  const names = commands.flatMap((command) => [command.name, ...(command.aliases ?? [])]);
  const hint = didYouMean(
    topic,
    [...names, ...pageNames()],
    ` '${name} --help' lists the commands, '${name} help index' the pages.`,
  );
  throw usageError(`unknown command or page '${topic}'.${hint}`);
}
