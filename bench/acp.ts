// The Agent Client Protocol: how soon it answers, how soon a turn is seen beside print mode, what eight sessions at once take.
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { trust } from "../src/store/trust.ts";
import { median, runOnce } from "./measure.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };
type Message = Record<string, any>;

export type AcpFigures = {
  floorMs: number;
  /** From the start of the process to the answer to `initialize`, times `node -e 0`. */
  firstAnswer: number;
  /** From a prompt to the first update that it causes, times the same of print mode with a host on stdin. */
  firstUpdate: number;
  /** Peak of the process while eight sessions work. */
  eightSessionsMb: number;
};

const turns = 12;

export async function acpFigures(cli: string, where: Place, rounds: number): Promise<AcpFigures> {
  trust(where.config, where.workspace);
  const script = join(where.workspace, "acp-script.json");
  const call = { name: "Shell", args: { command: "sleep 0.3; echo hi" } };
  writeFileSync(script, JSON.stringify({ replies: [{ text: "ok" }], loop: true }));
  const answers: number[] = [];
  const floors: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const floor = await runOnce({ command: process.execPath, args: ["-e", "0"], cwd: where.workspace, env: where.env });
    const started = performance.now();
    const peer = new Peer(cli, where, ["acp"]);
    await peer.initialize();
    const answered = performance.now() - started;
    await peer.leave();
    if (round >= 0) {
      floors.push(floor.wallMs);
      answers.push(answered);
    }
  }

  // Both are warm, and take turns.
  const editor = new Peer(cli, where, ["--model", `script:${script}`, "acp"]);
  const flags = ["-p", "--model", `script:${script}`, "--output-format", "stream-json", "--stream-partial-output"];
  const print = new Peer(cli, where, [...flags, "--input-format", "stream-json"]);
  await editor.initialize();
  const sessionId = await editor.newSession(where.workspace);
  const seen: number[] = [];
  const printed: number[] = [];
  for (let turn = -2; turn < turns; turn++) {
    const update = await editor.turn(sessionId);
    const line = await print.printedTurn();
    if (turn < 0) continue;
    seen.push(update);
    printed.push(line);
  }
  await Promise.all([editor.leave(), print.leave()]);

  const busyScript = join(where.workspace, "acp-busy.json");
  writeFileSync(busyScript, JSON.stringify([{ text: "I look.", calls: [call] }, { text: "done" }]));
  const busy = new Peer(cli, where, ["--force", "--model", `script:${busyScript}`, "acp"]);
  await busy.initialize();
  const sessions = await Promise.all(Array.from({ length: 8 }, () => busy.newSession(where.workspace)));
  for (const { result } of await Promise.all(sessions.map((id) => busy.prompt(id))))
    if (result?.stopReason !== "end_turn") throw new Error("a session did not end its turn");
  const eightSessionsMb = busy.peakMb();
  await busy.leave();

  const floorMs = median(floors);
  return {
    floorMs,
    firstAnswer: median(answers) / floorMs,
    firstUpdate: median(seen) / median(printed),
    eightSessionsMb,
  };
}

class Peer {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #watchers: { is(message: Message): boolean; found(at: number, message: Message): void }[] = [];
  #lastId = 0;

  constructor(cli: string, { workspace, env }: Place, args: readonly string[]) {
    this.#child = spawn(process.execPath, [cli, ...args], { cwd: workspace, env, stdio: ["pipe", "pipe", "ignore"] });
    this.#ended = new Promise((resolve) => this.#child.on("close", () => resolve()));
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const at = performance.now();
      const message = JSON.parse(line) as Message;
      this.#watchers = this.#watchers.filter(({ is, found }) => {
        const isIt = is(message);
        if (isIt) found(at, message);
        return !isIt;
      });
    });
  }

  initialize(): Promise<Message> {
    return this.#request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  }

  async newSession(cwd: string): Promise<string> {
    const { result } = await this.#request("session/new", { cwd, mcpServers: [] });
    return result.sessionId;
  }

  prompt(sessionId: string): Promise<Message> {
    return this.#request("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  }

  /** To the first update that it causes. */
  async turn(sessionId: string): Promise<number> {
    const started = performance.now();
    const first = this.#when((message) => /_chunk$/.test(message["params"]?.update?.sessionUpdate ?? ""));
    const ended = this.prompt(sessionId);
    const at = await first;
    await ended;
    return at - started;
  }

  /** To the first line of an answer. */
  async printedTurn(): Promise<number> {
    const started = performance.now();
    const first = this.#when((message) => message["type"] === "assistant");
    const ended = this.#when((message) => message["type"] === "result");
    this.#write({ type: "user", message: { role: "user", content: "go" } });
    const at = await first;
    await ended;
    return at - started;
  }

  peakMb(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  leave(): Promise<void> {
    this.#child.stdin!.end();
    return this.#ended;
  }

  #request(method: string, params: object): Promise<Message> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#watchers.push({
        is: (message) => message["id"] === id && message["method"] === undefined,
        found: (_, message) => resolve(message),
      });
      this.#write({ jsonrpc: "2.0", id, method, params });
    });
  }

  #when(is: (message: Message) => boolean): Promise<number> {
    return new Promise((found) => this.#watchers.push({ is, found }));
  }

  #write(message: object): void {
    this.#child.stdin!.write(`${JSON.stringify(message)}\n`);
  }
}
