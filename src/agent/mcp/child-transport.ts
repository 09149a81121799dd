// MCP transport for a server started as a child process: one JSON-RPC message per line on stdin and stdout.
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { settlesWithin } from "../../process/clock.ts";
import { redactedEnd, redactedStart } from "../../redact/shorten.ts";
import type { ProcessEnd, ProcessRunner, RunningProcess } from "../process.ts";

export type ChildCommand = { command: readonly string[]; cwd: string; env: Record<string, string> };

export type ChildOptions = {
  processes: ProcessRunner;
  /** Called with lines that are not messages, which a program prints by mistake. */
  onNoise?(line: string): void;
};

const longestLine = 16 * 1024 * 1024;
/** A program that prints more bytes than this of anything but messages is not an MCP server. */
const maxNoise = 16 * 1024 * 1024;

const notMessage = new Error("not a message");

export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #command: ChildCommand;
  readonly #options: ChildOptions;
  #child: RunningProcess | undefined;
  #pieces: string[] = [];
  #length = 0;
  #noise = 0;
  #isOver = false;
  #said = "";
  /** Why the connection ended; undefined while it runs, and when this side closed it. */
  problem: string | undefined;

  constructor(command: ChildCommand, options: ChildOptions) {
    this.#command = command;
    this.#options = options;
  }

  /** The last line that the MCP server printed to stderr. */
  get lastWords(): string {
    return redactedStart(this.#said.trim().split("\n").at(-1)!, 200);
  }

  async start(): Promise<void> {
    const { command, cwd, env } = this.#command;
    this.#child = this.#options.processes.start({
      command,
      cwd,
      env,
      input: { open: true },
      keepBytes: 16 * 1024,
      graceMs: 1000,
      onOutput: (stream, chunk) => {
        if (stream === "stdout") this.#receive(chunk.toString("utf8"));
        else this.#said = (this.#said + chunk.toString("utf8")).slice(-16 * 1024);
      },
    });
    this.#child.ended.then(
      (end) => this.#endTransport(describeServerExit(end, command[0]!)),
      (error: Error) => this.#endTransport(error.message.replace(/\.$/, "")),
    );
    if (this.#child.pid === 0) await this.#child.ended; // rejects with the reason why the server could not start
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver || !this.#child)
      throw new Error(`the server has exited${this.problem ? `: ${this.problem}` : ""}`);
    try {
      await this.#child.write(`${JSON.stringify(message)}\n`);
    } catch (error) {
      // The server no longer reads; wait briefly for it to exit with a reason.
      await settlesWithin(this.#child.ended, 1000).catch(() => {});
      throw new Error(this.problem ?? (error as Error).message);
    }
  }

  async close(): Promise<void> {
    this.#child?.stop();
    this.#endTransport(undefined);
    await this.#child?.ended.catch(() => {});
  }

  #endTransport(problem: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.problem = problem;
    this.#pieces = [];
    this.onclose?.();
  }

  /** Closes the connection to a server that violates the protocol, without reading further messages. */
  #refuse(problem: string): void {
    this.#endTransport(problem);
    this.#child?.stop();
  }

  #receive(text: string): void {
    if (this.#isOver) return;
    let from = 0;
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", from)) {
      this.#pieces.push(text.slice(from, at));
      from = at + 1;
      const line = this.#pieces.join("");
      this.#pieces = [];
      this.#length = 0;
      this.#read(line);
      if (this.#isOver) return;
    }
    if (from === text.length) return;
    this.#pieces.push(text.slice(from));
    this.#length += text.length - from;
    if (this.#length > longestLine) this.#refuse(`it sent a line of more than ${longestLine / 2 ** 20} MiB`);
  }

  #read(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      // Avoids the cost of a parse error for each line of a program that prints plain text.
      if (!/^\s*[{[]/.test(line)) throw notMessage;
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch {
      this.#noise += line.length + 1;
      this.#options.onNoise?.(line);
      if (this.#noise > maxNoise) this.#refuse("its output is not MCP messages");
      return;
    }
    this.onmessage?.(message);
  }
}

function describeServerExit({ exitCode, signal, stderr }: ProcessEnd, program: string): string {
  const last = redactedEnd(stderr.trim().split("\n").slice(-3).join(" "), 300);
  if (exitCode === 127 && /not found/.test(last)) return `${program} was not found. Is it installed and in PATH?`;
  const how = signal === "" ? `it exited with code ${exitCode}` : `it was killed by ${signal}`;
  return last === "" ? how : `${how}: ${last}`;
}
