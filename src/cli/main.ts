// The program: parses the command line and starts a command, print mode or the terminal.
import { resolve } from "node:path";
import { usageError } from "../protocol/error-codes.ts";
import { setProgramName } from "../text/program-name.ts";
import { commands } from "./commands/index.ts";
import { checkOutput, failedBeforeRun, formatOf } from "./failure.ts";
import { type CommandLine, flags, flagText, parseCommandLine } from "./flags.ts";
import { hideFlagSecrets } from "./secrets-in-use.ts";
import { flushStderr } from "./stdout.ts";

/** How the program was started: its arguments, environment and name. */
export type Invocation = {
  version: string;
  /** The name by which the program was called: courser, cursor-agent or agent. */
  name: string;
  line: CommandLine;
  env: NodeJS.ProcessEnv;
};

export async function main(version: string): Promise<void> {
  const argv = process.argv.slice(2);
  hideFlagSecrets(process.argv);
  const name = (process.argv[1] ?? "").replace(/^.*[\\/]/, "").replace(/\.c?js$/, "") || "courser";
  setProgramName(name);
  let exitCode: number;
  try {
    const line = parseCommandLine(argv, commands);
    passOnLog(line);
    exitCode = await dispatch({ version, name, line, env: process.env });
  } catch (error) {
    exitCode = await failedBeforeRun(error, formatOf(argv), name);
  }
  process.exitCode = checkOutput(exitCode);
  // The signal handlers are done: exit now, since a late signal during Node's teardown would change the exit code.
  if (process.listenerCount("SIGTERM") > 1) {
    await flushStderr();
    process.exit();
  }
  // Exit even if something keeps the process alive, such as a DNS lookup that cannot be cancelled.
  setTimeout(() => process.exit(), 1000).unref();
}

/** Passes the log file's path on to runs in other processes, as an absolute path. */
function passOnLog({ command, flags: given }: CommandLine): void {
  const log = (command !== undefined && flagText(given, "log")) || process.env["COURSER_LOG"];
  if (log) process.env["COURSER_LOG"] = resolve(log);
}

async function dispatch(invocation: Invocation): Promise<number> {
  const { line, version } = invocation;
  if (line.flags.has("version")) {
    const { answer } = await import("./commands/answer.ts");
    return answer(`${version}\n`);
  }
  const help = async () => (await import("./commands/help.ts")).help(invocation, line.command, commands);
  if (line.flags.has("help")) return help();
  const unusable = flags.find((each) => each.instead !== undefined && line.flags.has(each.name));
  if (unusable) throw usageError(`--${unusable.name} is not supported. ${unusable.instead}`);

  const command = commands.find((each) => each.name === line.command);
  if (command?.commands) {
    const { runInner } = await import("./commands/inner-command.ts");
    return runInner({ ...command, commands: command.commands }, invocation, help);
  }
  if (command?.load) {
    if (line.words.length > 0 && !command.operands) {
      const words = [line.command, ...line.words].join(" ");
      throw usageError(
        `'${line.command}' is a command and takes no arguments. To send it as a prompt: ${invocation.name} -p -- "${words}"`,
      );
    }
    return (await command.load())(invocation);
  }
  if (line.flags.has("list-models"))
    return (await commands.find((each) => each.name === "models")!.load!())(invocation);

  await refuseAlmostCommands(invocation);
  if (line.flags.has("background")) return (await import("./background.ts")).runInBackground(invocation);
  if (line.flags.has("cli"))
    throw usageError(`--cli is for runs in the background. Type: ${invocation.name} -b --cli claude "…"`);
  if (line.flags.has("fleet"))
    throw usageError(`--fleet is for runs in the background. Type: ${invocation.name} -b --fleet … "…"`);
  if (line.flags.has("print") || !(await onTerminal())) return (await import("./print.ts")).runPrint(invocation);
  // Let the user choose a chat if --resume has no id.
  if (line.flags.get("resume") === true) return (await import("./commands/ls.ts")).ls(invocation);
  return (await import("./terminal.ts")).startTerminal(invocation);
}

/** Refuses a first word that looks like a misspelt command. With -p every word belongs to the prompt. */
async function refuseAlmostCommands({ line, name }: Invocation): Promise<void> {
  if (line.flags.has("print") || line.command !== undefined || line.words.length > 2) return;
  const words = line.words.slice(0, line.plainWords);
  if (words.length === 0 || words.length < line.words.length) return;
  const { commandHint } = await import("./habits.ts");
  const hint = commandHint(words, commands, name);
  if (hint === undefined) return;
  const typed = words.join(" ");
  throw usageError(`unknown command '${typed}'. ${hint} To send it as a prompt: ${name} -- "${typed}"`);
}

/** Returns whether stdin and stdout are terminals; otherwise print mode is implied. */
async function onTerminal(): Promise<boolean> {
  const { isatty } = await import("node:tty");
  return isatty(0) && isatty(1);
}
