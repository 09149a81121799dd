// Lets a CLI call back into this process, over a socket in a folder of this run. Loaded only when there are callbacks.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, tryParse } from "../../json/object.ts";
import { endWithThisProcess, forget } from "../../process/exit.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { Connection } from "../drivers/driver.ts";
import type { UnifiedTool } from "../unified.ts";
import { type Callbacks, eventsOf, HookDispatcher } from "./hook-callbacks.ts";
import { McpSession } from "./mcp-server.ts";
import type { InProcessTool } from "./tool.ts";

export type ConnectionRequest = Callbacks & {
  tools?: readonly InProcessTool[];
  tool: UnifiedTool;
  signal: AbortSignal;
};

/** The MCP server name of this process's tools: they are called `mcp__sdk__…`. */
export const serverName = "sdk";

/** The same limit as for a line of the stream; a longer message is not a valid call. */
const maxBytes = 16 * 1024 * 1024;

export class OpenConnection {
  readonly connection: Connection;
  readonly #request: ConnectionRequest;
  readonly #desk: HookDispatcher;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<McpSession>();
  #waiting = 0;

  constructor(request: ConnectionRequest, folder: string, address: string, server: Server) {
    this.#request = request;
    this.#desk = new HookDispatcher(request, request.tool, request.signal);
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
    endWithThisProcess(this);
    const relay = (kind: string) => [process.execPath, relayProgram(), kind, address];
    const events = eventsOf(request);
    const tools = request.tools ?? [];
    this.connection = {
      folder,
      changedInputs: this.#desk.changedInputs,
      refusedCalls: this.#desk.refusedCalls,
      ...(events.length > 0 && { hook: { command: relay("hook"), events } }),
      ...((request.canUseTool || tools.length > 0) && { ask: { command: relay("ask") } }),
      ...(tools.length > 0 && { mcp: { name: serverName, command: relay("mcp") } }),
    };
  }

  get warnings(): readonly string[] {
    return this.#desk.warnings;
  }

  /** Whether the CLI waits for a callback of this process, so that its silence does not count as being idle. */
  get isBusy(): boolean {
    return this.#waiting > 0 || [...this.#sessions].some((session) => session.isBusy);
  }

  endNow(): void {
    this.close();
  }

  close(): void {
    forget(this);
    this.#server.close();
    for (const session of this.#sessions) session.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.connection.folder, { recursive: true, force: true });
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.setEncoding("utf8");
    let text = "";
    let kind: unknown;
    let session: McpSession | undefined;
    socket.on("close", () => {
      this.#sockets.delete(socket);
      session?.close();
      if (session) this.#sessions.delete(session);
    });
    socket.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > maxBytes) {
        socket.destroy();
        return;
      }
      if (kind === undefined) {
        const end = text.indexOf("\n");
        if (end < 0) return;
        const head = tryParse(text.slice(0, end));
        kind = isObject(head) ? head.kind : "unknown";
        text = text.slice(end + 1);
        if (kind === "mcp") session = this.#openSession(socket);
      }
      if (session) text = takeLines(text, (line) => session!.take(tryParse(line)));
    });
    // A hook or permission request is complete when the client ends its side of the socket.
    socket.on("end", () => {
      if (kind === "hook" || kind === "ask") void this.#answer(kind, text, socket);
      else socket.end();
    });
  }

  #openSession(socket: Socket): McpSession {
    const session = new McpSession(this.#request.tools ?? [], (message) => {
      if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
    });
    this.#sessions.add(session);
    return session;
  }

  async #answer(kind: "hook" | "ask", text: string, socket: Socket): Promise<void> {
    const payload = tryParse(text);
    this.#waiting++;
    try {
      // Send no answer: the relay then refuses the call.
      if (!isObject(payload)) return;
      const answer = kind === "hook" ? await this.#desk.answer(payload) : await this.#ask(payload);
      if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`);
    } finally {
      this.#waiting--;
      socket.end();
    }
  }

  async #ask(payload: Record<string, unknown>): Promise<object> {
    // Tools that the caller passed in are allowed, unless a permission callback decides.
    if (!this.#request.canUseTool && isOwnTool(payload.needs)) return { allow: true };
    return this.#desk.ask(payload);
  }
}

export async function openConnection(request: ConnectionRequest): Promise<OpenConnection> {
  const folder = privateFolder();
  const address =
    process.platform === "win32" ? `\\\\.\\pipe\\courser-${randomBytes(16).toString("hex")}` : join(folder, "s");
  const server = createServer({ allowHalfOpen: true });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(address, resolve);
    });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return new OpenConnection(request, folder, address, server);
}

/** Creates a folder that only this user can access. Avoids world-writable places if possible: some CLIs read no settings from there. */
function privateFolder(): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env;
  const cache = join(homedir(), ".cache");
  for (const base of [...(runtime ? [runtime] : []), ...(process.platform === "linux" ? [cache] : []), tmpdir()]) {
    try {
      if (base === cache) mkdirSync(cache, { recursive: true, mode: 0o700 });
      const folder = mkdtempSync(join(base, "courser-sdk-"));
      // The path of a Unix socket can have only about a hundred bytes.
      if (Buffer.byteLength(folder) < 90 || base === tmpdir()) return folder;
      rmSync(folder, { recursive: true });
    } catch {
      // No socket could be created in this folder; try the next one.
    }
  }
  throw new UserError("FILE_UNREADABLE", `No directory could be created in ${tmpdir()}.`);
}

function takeLines(text: string, take: (line: string) => void): string {
  const lines = text.split("\n");
  const rest = lines.pop()!;
  for (const line of lines) if (line.trim() !== "") take(line);
  return rest;
}

function isOwnTool(needs: unknown): boolean {
  if (!Array.isArray(needs) || needs.length === 0) return false;
  return needs.every(
    (need) => isObject(need) && need.kind === "Mcp" && String(need.target).startsWith(`${serverName}:`),
  );
}

/** The relay program: next to the bundled library, or built from this source tree. */
function relayProgram(): string {
  const places = ["../sdk-relay.cjs", "../../../dist/sdk-relay.cjs"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = places.find((path) => existsSync(path));
  if (found === undefined)
    throw new UserError(
      "FILE_UNREADABLE",
      `${places[0]} is missing from the package. Install courser-agent again; in a clone: npm run build.`,
    );
  return found;
}
