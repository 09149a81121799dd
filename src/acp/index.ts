// Serves the Agent Client Protocol on a pair of streams until the client disconnects, then stops everything it started.
import type { Readable } from "node:stream";
import type { JsonObject } from "../json/object.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { onAbort } from "../protocol/on-abort.ts";
import type { RunHost } from "../run/host.ts";
import { nearestName } from "../text/nearest.ts";
import type { AcpClient } from "./client.ts";
import { LineReader } from "./lines.ts";
import { type RpcCall, RpcPeer } from "./rpc.ts";
import type { AcpSessions, RunTemplate } from "./sessions.ts";
import { abilitiesOf, type ClientAbilities, initializeResult } from "./v1/initialize.ts";
import { textParam } from "./v1/params.ts";

export type AcpStart = {
  input: Readable;
  output: { write(text: string): void; ready(unless?: AbortSignal): Promise<void> | undefined };
  template: RunTemplate;
  host: RunHost;
  log(message: string): void;
  /** Called with each line that is sent or received. */
  debug?(line: string): void;
  /** Stops the server when aborted. */
  signal: AbortSignal;
};

export async function serveAcp(start: AcpStart): Promise<void> {
  const server = new Server(start);
  const { input, signal } = start;
  await new Promise<void>((resolve) => {
    const lines = new LineReader((line) => {
      start.debug?.(`← ${typeof line === "string" ? line : line.fault}`);
      server.peer.receive(line);
    });
    const over = () => resolve();
    input.on("data", (chunk: Buffer) => lines.push(chunk));
    input.on("end", () => {
      lines.end();
      over();
    });
    input.on("error", over).on("close", over);
    onAbort(signal, over);
  });
  await server.end();
}

type Method = (params: JsonObject, call: RpcCall) => Promise<object>;

class Server {
  readonly peer: RpcPeer;
  readonly #start: AcpStart;
  #can: ClientAbilities | undefined;
  #loading: Promise<AcpSessions> | undefined;
  #sessions: AcpSessions | undefined;

  constructor(start: AcpStart) {
    this.#start = start;
    const { output, host } = start;
    this.peer = new RpcPeer(
      (line) => {
        start.debug?.(`→ ${line.trimEnd()}`);
        output.write(line);
      },
      {
        request: (method, params, call) => this.#request(method, params, call),
        // Ignore other notifications, which belong to extensions that are not supported.
        notification: (method, params) => method === "session/cancel" && this.#sessions?.cancel(params),
      },
      host.redact ?? ((text) => text),
    );
  }

  readonly #methods: Readonly<Record<string, Method>> = {
    initialize: async (params) => this.#initialize(params),
    authenticate: async (params) => {
      const { authenticate } = await import("./authenticate.ts");
      return authenticate(textParam(params, "methodId"), this.#start);
    },
    logout: async () => (await import("./authenticate.ts")).logout(this.#start),
    "session/new": async (params, call) => (await this.#load()).new(params, call),
    "session/load": async (params, call) => (await this.#load()).load(params, call),
    "session/resume": async (params, call) => (await this.#load()).resume(params, call),
    "session/list": async (params) => (await this.#load()).list(params),
    "session/close": async (params) => (await this.#load()).close(params),
    "session/delete": async (params) => (await this.#load()).delete(params),
    "session/set_mode": async (params) => (await this.#load()).setMode(params),
    "session/set_config_option": async (params) => (await this.#load()).setOption(params),
    // Start without yielding: the next line may be the one that cancels this prompt.
    "session/prompt": (params, call) =>
      this.#sessions
        ? this.#sessions.prompt(params, call)
        : this.#load().then((sessions) => sessions.prompt(params, call)),
    "cursor/list_available_models": async () => (await import("./authenticate.ts")).availableModels(this.#start),
  };

  async #request(name: string, params: JsonObject, call: RpcCall): Promise<object> {
    const method = Object.hasOwn(this.#methods, name) ? this.#methods[name] : undefined;
    if (!method) {
      const near = nearestName(name, Object.keys(this.#methods));
      throw new UserError(
        "NOT_SUPPORTED",
        `Method not found: ${JSON.stringify(name.slice(0, 100))}.${near ? ` Did you mean ${near}?` : ""}`,
      );
    }
    if (!this.#can && name !== "initialize")
      throw new UserError("FRAME_SCHEMA", `${name} came before initialize, which must be the first request.`);
    return method(params, call);
  }

  #initialize(params: JsonObject): object {
    if (!Number.isInteger(params["protocolVersion"])) throw usageError('"protocolVersion" must be a whole number.');
    this.#can = abilitiesOf(params);
    // Load the remaining code while the client processes the answer.
    setImmediate(() => void this.#load().catch(() => {}));
    return initializeResult(this.#can, this.#start.host.version);
  }

  #load(): Promise<AcpSessions> {
    this.#loading ??= import("./sessions.ts").then(({ AcpSessions }) => {
      this.#sessions = new AcpSessions({ ...this.#start, client: this.#client() });
      return this.#sessions;
    });
    return this.#loading;
  }

  #client(): AcpClient {
    const { peer } = this;
    const { output, log } = this.#start;
    const can = () => this.#can!;
    return {
      get can() {
        return can();
      },
      update: (sessionId, update) => peer.notify("session/update", { sessionId, update }),
      notify: (method, params) => peer.notify(method, params),
      request: (method, params, signal) => peer.request(method, params, signal),
      ready: (unless) => output.ready(unless),
      log,
    };
  }

  async end(): Promise<void> {
    this.peer.end();
    await (await this.#loading?.catch(() => undefined))?.end();
    await new Promise(setImmediate); // let the last answers be written
  }
}
