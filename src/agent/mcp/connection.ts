// Connects to one MCP server, sends requests, and restarts it a few times when it dies. Its failures do not affect the run.
import {
  type CallToolResult,
  Client,
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  SdkError,
  SdkErrorCode,
  type Tool,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { NetError } from "../../net/net-error.ts";
import { orAborted } from "../../net/or-aborted.ts";
import { settlesWithin } from "../../process/clock.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";
import { redactedStart } from "../../redact/shorten.ts";
import { watchFlood } from "./flood.ts";
import { withReadableTools } from "./readable-tools.ts";
import { answerRequests, capabilities, type ServerRequests } from "./requests.ts";

export type ConnectionStatus = "connecting" | "connected" | "failed" | "needs-login";

export type ConnectionOptions = {
  name: string;
  version: string;
  /** Opens a new transport, each time the server is started. */
  open(): Promise<ServerTransport>;
  requests: ServerRequests;
  limits: ConnectionLimits;
  /** Called when the tools become known, and when they change. */
  onTools(tools: readonly Tool[]): void;
};

/** `problem` says why the connection ended. `lastWords` is the last line on stderr, for a server that does not answer. */
export type ServerTransport = Transport & {
  readonly problem?: string | undefined;
  readonly lastWords?: string;
  terminateSession?(): Promise<void>;
};

/** Limits in milliseconds. Progress notifications restart `callMs`, but not `longestCallMs`. */
export type ConnectionLimits = { startMs: number; callMs: number; longestCallMs: number };

export type CallOptions = { signal: AbortSignal; onProgress?(message: string): void };

/** Thrown when a call to an MCP server has no result; the message explains this to the model. */
export class ServerProblem extends Error {}

const maxRestarts = 3;
const leaveMs = 500;
const maxPages = 50;
const maxTools = 500;

export class Connection {
  readonly name: string;
  status: ConnectionStatus = "connecting";
  /** Why the connection failed, as a sentence without the final period. */
  problem: string | undefined;
  tools: readonly Tool[] = [];
  prompts: readonly Prompt[] = [];
  hasResources = false;
  readonly #options: ConnectionOptions;
  #client: Client | undefined;
  #connecting: Promise<void> | undefined;
  #restarts = 0;
  #isEnded = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** Connects to the server. Never throws: `status` and `problem` report the outcome. */
  connect(): Promise<void> {
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult> {
    return this.#ask(options, (client, limits) => client.callTool({ name, arguments: args }, limits));
  }

  async listResources(options: CallOptions): Promise<Resource[]> {
    const { resources } = await this.#ask(options, (client, limits) =>
      client.listResources(undefined, { ...limits, cacheMode: "refresh" }),
    );
    return resources;
  }

  async readResource(uri: string, options: CallOptions): Promise<ReadResourceResult> {
    return this.#ask(options, (client, limits) => client.readResource({ uri }, { ...limits, cacheMode: "refresh" }));
  }

  async getPrompt(name: string, args: Record<string, string>, options: CallOptions): Promise<GetPromptResult> {
    return this.#ask(options, (client, limits) => client.getPrompt({ name, arguments: args }, limits));
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    const { transport } = this.#client ?? {};
    // HTTP servers keep a session for each client: end it, but do not wait long.
    const leave = (transport as ServerTransport | undefined)?.terminateSession?.();
    if (leave) await settlesWithin(leave, leaveMs).catch(() => {});
    await this.#client?.close().catch(() => {});
  }

  async #connect(): Promise<void> {
    const { version, open, requests, limits } = this.#options;
    this.status = "connecting";
    const isOpen = () => this.status === "connected";
    const client = new Client(
      { name: "courser", version },
      {
        capabilities,
        listMaxPages: maxPages,
        // A server's output schemas are not enforced, and its regular expressions are not run here.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        listChanged: {
          tools: whenChanged(isOpen, async () => this.#takeTools((await client.listTools(undefined, refreshed)).tools)),
          prompts: whenChanged(isOpen, async () =>
            this.#takePrompts((await client.listPrompts(undefined, refreshed)).prompts),
          ),
        },
      },
    );
    client.onerror = () => {}; // important errors also make a request fail
    answerRequests(client, this.name, requests);
    let transport: ServerTransport | undefined;
    let flood: string | undefined;
    const flooded = watchFlood();
    const late = setTimeout(() => void client.close(), limits.startMs);
    try {
      transport = await open();
      const way = transport;
      way.onmessage = (message) => {
        const problem = flooded(message);
        if (flood !== undefined || problem === undefined) return;
        flood = problem;
        this.#restarts = maxRestarts;
        requests.refused(`The MCP server ${this.name} was cut off: ${flood}.`);
        void client.close();
      };
      await client.connect(way, { timeout: limits.startMs });
      const take = way.onmessage;
      way.onmessage = (message, extra) => take?.(withReadableTools(message), extra);
      this.#client = client;
      const can = client.getServerCapabilities();
      const asked = { timeout: limits.startMs };
      const [{ tools }, { prompts }] = await Promise.all([
        can?.tools ? client.listTools(undefined, asked) : { tools: [] },
        can?.prompts ? client.listPrompts(undefined, asked).catch(() => ({ prompts: [] })) : { prompts: [] },
      ]);
      this.hasResources = can?.resources !== undefined;
      this.#takePrompts(prompts);
      this.#takeTools(tools);
      this.status = "connected";
      this.problem = undefined;
      client.onclose = () => this.#fail(flood ?? way.problem ?? "the connection was closed");
    } catch (error) {
      const { status, problem } = connectionProblem(error, limits.startMs);
      await client.close().catch(() => {});
      this.status = status;
      this.problem = flood ?? transport?.problem ?? [problem, transport?.lastWords].filter(Boolean).join("; it said: ");
    } finally {
      clearTimeout(late);
    }
    if (this.#isEnded) await client.close().catch(() => {});
  }

  #takeTools(tools: readonly Tool[]): void {
    this.tools = tools.slice(0, maxTools);
    this.#options.onTools(this.tools);
  }

  #takePrompts(prompts: readonly Prompt[]): void {
    this.prompts = prompts.slice(0, maxTools);
  }

  #fail(problem: string): void {
    if (this.#isEnded) return;
    this.status = "failed";
    this.problem = problem;
  }

  /** Sends a request. A server that died after it had worked is restarted, at most `maxRestarts` times. */
  async #ask<Result>(
    { signal, onProgress }: CallOptions,
    ask: (client: Client, limits: RequestLimits) => Promise<Result>,
  ): Promise<Result> {
    const { callMs, longestCallMs } = this.#options.limits;
    if (this.#connecting) await orAborted(this.#connecting, signal).catch(() => {});
    if (this.status === "failed" && this.#client && this.#restarts < maxRestarts && !this.#isEnded) {
      const starting = unlessStopped(signal, () => this.connect());
      this.#restarts++;
      await orAborted(starting, signal).catch(() => {});
    }
    const client = unlessStopped(signal, () => this.#client);
    if (this.status !== "connected" || !client)
      throw new ServerProblem(`The MCP server ${this.name} is not running: ${this.problem ?? "it was stopped"}.`);
    try {
      return await ask(client, {
        signal,
        timeout: callMs,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: longestCallMs,
        ...(onProgress && {
          onprogress: ({ message, progress, total }) => onProgress(progressLine(message, progress, total)),
        }),
      });
    } catch (error) {
      if (signal.aborted) throw new ServerProblem("The call was cancelled.");
      if (ProtocolError.isInstance(error)) throw new ServerProblem(error.message);
      throw new ServerProblem(
        `The MCP server ${this.name} gave no valid answer: ${this.problem ?? connectionProblem(error, callMs).problem}.`,
      );
    }
  }
}

type RequestLimits = {
  signal: AbortSignal;
  timeout: number;
  resetTimeoutOnProgress: boolean;
  maxTotalTimeout: number;
  onprogress?(progress: { progress: number; total?: number; message?: string }): void;
};

function progressLine(message: string | undefined, progress: number, total: number | undefined): string {
  const count = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined || message === "" ? count : `${count}: ${message}`;
}

function connectionProblem(error: unknown, limitMs: number): { status: "failed" | "needs-login"; problem: string } {
  if (UnauthorizedError.isInstance(error)) return { status: "needs-login", problem: "it requires a login" };
  if (SdkError.isInstance(error)) {
    if (error.code === SdkErrorCode.ClientHttpAuthentication)
      return { status: "needs-login", problem: "it requires a login" };
    if (error.code === SdkErrorCode.InvalidResult)
      return { status: "failed", problem: "its answer violates the protocol" };
    if (error.code === SdkErrorCode.RequestTimeout || error.code === SdkErrorCode.ConnectionClosed)
      return { status: "failed", problem: `it did not answer within ${limitMs / 1000} s` };
  }
  const cause = error instanceof Error && error.cause instanceof NetError ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return { status: "failed", problem: redactedStart(message.replace(/\.$/, ""), 500) };
}

const refreshed = { cacheMode: "refresh" } as const;

/** Re-reads a list after it changed, with exponential back-off for a server that changes it constantly. */
function whenChanged(isOpen: () => boolean, read: () => Promise<void>) {
  let changes = 0;
  let isWaiting = false;
  return {
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => {
      if (isWaiting) return;
      isWaiting = true;
      const readAgain = () => {
        isWaiting = false;
        // Do not read from a closed client: the library would print a message to stdout.
        if (isOpen()) read().catch(() => {}); // keep the previous list if it cannot be read
      };
      setTimeout(readAgain, Math.min(50 * 2 ** changes++, 60_000)).unref();
    },
  };
}
