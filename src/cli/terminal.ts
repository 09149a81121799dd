// Starts the full-screen terminal from the command line: turns flags into a request, and runs this program's commands beside it.
import { resolve } from "node:path";
import { runProgram } from "../process/run-program.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import { runTerminal } from "../terminal/index.ts";
import type { TerminalStart } from "../terminal/start.ts";
import { flagList } from "./flags.ts";
import { hasScreen } from "./has-screen.ts";
import type { Invocation } from "./main.ts";
import { runHost, settledRequest } from "./run-request.ts";

const printFlags = [
  "output-format",
  "stream-partial-output",
  "input-format",
  "json-schema",
  "output-last-message",
  "record",
  "replay-tools",
  "request-on-stdin",
];

export async function startTerminal(invocation: Invocation): Promise<number> {
  const { line, name, env } = invocation;
  for (const flag of printFlags) {
    if (line.flags.has(flag)) throw usageError(`--${flag} needs print mode: ${name} -p --${flag} …`);
  }
  if (!hasScreen(env)) return (await import("./line-mode.ts")).runLineMode(invocation);
  const request = await settledRequest(invocation, "terminal");
  const prompt = line.words.join(" ");
  const images = flagList(line.flags, "image").map((path) => resolve(path));
  return runTerminal({ ...terminalStart(invocation, request), ...(prompt !== "" && { prompt }), images });
}

export function terminalStart(invocation: Invocation, request: RunRequest): TerminalStart {
  const { env } = invocation;
  const program = [process.execPath, process.argv[1]!];
  return {
    request,
    // warnings on stderr would overwrite the screen
    host: { ...runHost(invocation), attended: () => true, warn: () => {} },
    input: process.stdin,
    output: process.stdout,
    async command(words, input) {
      const { stdout, stderr, exitCode } = await runProgram({
        command: [...program, ...words],
        cwd: request.workspace,
        env: { ...env, NO_COLOR: "1" },
        ...(input !== undefined && { input }),
        timeoutMs: 60_000,
        graceMs: 500,
        leftovers: "group",
        keepBytes: 4 * 1024 * 1024,
      });
      const text = stdout.toString("utf8");
      return { code: exitCode ?? 1, text: [text, stderr].filter((part) => part.trim() !== "").join("\n") };
    },
    async interactive(words) {
      const { Supervisor } = await import("../process/supervisor.ts");
      const command = [...program, ...words];
      // The child process uses this terminal and stays in its foreground process group.
      const streams = { inheritStreams: true, plain: true, leftovers: "ignore" } as const;
      return (await new Supervisor({ command, cwd: request.workspace, env, ...streams }).ended).exitCode ?? 1;
    },
  };
}
