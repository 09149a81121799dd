// A client for tests: starts `courser acp`, speaks lines, checks each one that comes back, and answers what it is asked.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cli, type Workspace } from "../support/run-cli.ts";
import { WireCheck } from "./wire-check.ts";

export type Params = Record<string, any>;
export type Reply = { result?: any; error?: { code: number; message: string; data?: any } };
/** What the client says to a request of the agent. A promise that never resolves: it says nothing. */
export type Handlers = Record<string, (params: Params) => unknown>;

export type ClientOptions = {
  capabilities?: object;
  handlers?: Handlers;
  /** Replies of the scripted model. */
  script?: unknown;
  args?: readonly string[];
  env?: Record<string, string>;
};

export class AcpClient {
  readonly child: ChildProcess;
  readonly check = new WireCheck();
  /** All that came, in order. */
  readonly received: Params[] = [];
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr = "";
  readonly #workspace: Workspace;
  readonly #handlers: Handlers;
  readonly #capabilities: object;
  readonly #waiting = new Map<string, (reply: Reply) => void>();
  #watchers: { is(message: Params): boolean; found(message: Params): void }[] = [];
  #lastId = 0;
  #rest = "";

  constructor(workspace: Workspace, options: ClientOptions = {}) {
    const { script, args = ["--trust"], env, handlers = {}, capabilities = {} } = options;
    this.#workspace = workspace;
    this.#handlers = handlers;
    this.#capabilities = capabilities;
    const file = join(workspace.home, "script.json");
    if (script !== undefined) writeFileSync(file, JSON.stringify(script));
    const model = script === undefined ? [] : ["--model", `script:${file}`];
    this.child = spawn(process.execPath, [cli, ...model, ...args, "acp"], {
      cwd: workspace.path,
      env: { ...workspace.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child.stdin!.on("error", () => {});
    this.child.stdout!.on("data", (chunk: Buffer) => this.#read(chunk.toString("utf8")));
    this.child.stderr!.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.ended = new Promise((resolve) => this.child.on("close", (code, signal) => resolve({ code, signal })));
  }

  /** A client that has said hello. */
  static async start(workspace: Workspace, options: ClientOptions = {}): Promise<AcpClient> {
    const client = new AcpClient(workspace, options);
    await client.initialize();
    return client;
  }

  initialize(): Promise<Reply> {
    return this.request("initialize", { protocolVersion: 1, clientCapabilities: this.#capabilities });
  }

  async newSession(params: Params = {}): Promise<string> {
    const reply = await this.request("session/new", { cwd: this.#workspace.path, mcpServers: [], ...params });
    if (!reply.result) throw new Error(JSON.stringify(reply.error));
    return reply.result.sessionId;
  }

  prompt(sessionId: string, text: string): Promise<Reply> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  request(method: string, params?: unknown, id: string | number = ++this.#lastId): Promise<Reply> {
    const message = { jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) };
    this.check.sent(message);
    return new Promise((resolve, reject) => {
      this.#waiting.set(JSON.stringify(id), resolve);
      void this.ended.then(() => reject(new Error(`${method}: the agent ended first: ${this.stderr}`)));
      this.raw(`${JSON.stringify(message)}\n`);
    });
  }

  notify(method: string, params: object): void {
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  raw(text: string | Uint8Array): void {
    this.child.stdin!.write(text);
  }

  /** The first such message, that came or comes. */
  until(is: (message: Params) => boolean): Promise<Params> {
    const known = this.received.find(is);
    if (known) return Promise.resolve(known);
    return new Promise((found) => this.#watchers.push({ is, found }));
  }

  untilUpdate(kind: string): Promise<Params> {
    return this.until((message) => message["params"]?.update?.sessionUpdate === kind);
  }

  updates(sessionId?: string): Params[] {
    return this.received
      .filter(({ method, params }) => method === "session/update" && (!sessionId || params.sessionId === sessionId))
      .map(({ params }) => params.update);
  }

  said(sessionId?: string): string {
    return this.updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")
      .map(({ content }) => content.text)
      .join("");
  }

  /** The requests of the agent with this method. */
  asked(method: string): Params[] {
    return this.received.filter((message) => message["method"] === method).map(({ params }) => params);
  }

  /** As an editor leaves: the end of stdin. */
  async leave(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.stdin!.end();
    const timer = setTimeout(() => this.child.kill("SIGKILL"), 15_000);
    const end = await this.ended;
    clearTimeout(timer);
    return end;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    this.check.received(line);
    const message = JSON.parse(line) as Params;
    this.received.push(message);
    this.#watchers = this.#watchers.filter(({ is, found }) => {
      if (!is(message)) return true;
      found(message);
      return false;
    });
    if (message["method"] === undefined) this.#waiting.get(JSON.stringify(message["id"]))?.(message as Reply);
    else if (message["id"] !== undefined) void this.#answer(message);
  }

  async #answer({ id, method, params }: Params): Promise<void> {
    const handler = this.#handlers[method];
    const missing = { error: { code: -32601, message: `Method not found: ${method}` } };
    let reply: object = missing;
    try {
      if (handler) reply = { result: await handler(params) };
    } catch (error) {
      reply = { error: { code: -32603, message: "Internal error", data: { details: (error as Error).message } } };
    }
    this.raw(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
  }
}

/** Chooses the option of this kind or id. */
export function choose(option: string): Handlers {
  return {
    "session/request_permission": ({ options }) => {
      const chosen = options.find(({ kind, optionId }: Params) => kind === option || optionId === option);
      return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
    },
  };
}
