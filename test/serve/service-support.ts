// A real service in a home of its own, and requests to it as any client would send them.
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import type { Fleet, LocalFleet, RunRecord } from "../../src/serve/fleet.ts";
import { isOver } from "../../src/serve/fleet.ts";
import { trust } from "../../src/store/trust.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

export type ServiceInfo = { pid: number; port: number; token: string };
export type Reply = { status: number; headers: IncomingMessage["headers"]; text: string; body: any };
export type SentEvent = { id: string | undefined; event: string; data: any };

export type Sent = {
  method?: string;
  body?: unknown;
  /** Undefined takes one away. */
  headers?: Record<string, string | undefined>;
  port: number;
  token?: string | undefined;
};

export function send(path: string, { method = "GET", body, headers, port, token }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = open(path, { method, body, headers, port, token }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = (response.headers["content-type"] ?? "").includes("json");
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          body: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.on("error", reject);
  });
}

function open(path: string, sent: Sent, onResponse: (response: IncomingMessage) => void) {
  const { method = "GET", body, headers = {}, port, token } = sent;
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const all = {
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    ...(text !== undefined && {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(text)),
    }),
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const outgoing = request({ host: "127.0.0.1", port, path, method, headers: given, agent: false }, onResponse);
  outgoing.end(text);
  return outgoing;
}

/** Until the stream ends, or `until` has seen enough. */
export function readEvents(
  path: string,
  sent: Sent,
  until: (event: SentEvent) => boolean = () => false,
): Promise<SentEvent[]> {
  return new Promise((resolve, reject) => {
    const events: SentEvent[] = [];
    let rest = "";
    const outgoing = open(path, sent, (response) => {
      const { "content-type": type, "x-accel-buffering": buffering, "x-frame-options": frames } = response.headers;
      const seen = [response.statusCode, type, buffering, frames].join(" ");
      if (seen !== "200 text/event-stream; charset=utf-8 no DENY") reject(new Error(`${path} answered ${seen}`));
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        rest += chunk;
        const blocks = rest.split("\n\n");
        rest = blocks.pop()!;
        for (const block of blocks) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
          const event = { id: field("id"), event: field("event") ?? "", data: JSON.parse(field("data") ?? "null") };
          events.push(event);
          if (!until(event)) continue;
          outgoing.destroy();
          resolve(events);
          return;
        }
      });
      response.on("end", () => resolve(events));
      response.on("error", () => resolve(events));
    });
    outgoing.on("error", reject);
  });
}

export class TestService {
  readonly workspace: Workspace = createWorkspace();
  info!: ServiceInfo;
  #child: ChildProcess | undefined;
  #fleet: LocalFleet | undefined;

  constructor() {
    trust(this.workspace.config, this.workspace.path);
  }

  get fleet(): LocalFleet {
    return (this.#fleet ??= openSqliteFleet(join(this.workspace.config, "runs/runs.db")));
  }

  async start(args: readonly string[] = [], env: Record<string, string> = {}): Promise<void> {
    this.#child = spawnOwned(process.execPath, [cli, "serve", ...args], {
      cwd: this.workspace.path,
      env: { ...this.workspace.env, ...env },
      stdio: "ignore",
    });
    this.#child.unref(); // it does not keep a program from ending
    const { pid } = this.#child;
    await until(() => this.read()?.pid === pid, "the service to listen");
    this.info = this.read()!;
  }

  read(): ServiceInfo | undefined {
    const file = join(this.workspace.config, "serve.json");
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ServiceInfo) : undefined;
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  }

  /** Kills whatever service runs in this home; false where there is none. */
  killAny(): boolean {
    const info = this.read();
    if (!info || !this.#isOurs(info.pid)) return false;
    process.kill(info.pid, "SIGKILL");
    return true;
  }

  call(method: string, path: string, body?: unknown): Promise<Reply> {
    return send(path, { method, ...(body !== undefined && { body }), ...this.info });
  }

  events(
    path: string,
    headers: Record<string, string> = {},
    enough?: (event: SentEvent) => boolean,
  ): Promise<SentEvent[]> {
    return readEvents(path, { headers, ...this.info }, enough);
  }

  /** The name of a script for the scripted model. */
  script(replies: unknown): string {
    const name = `${this.workspace.home}/script-${Math.random().toString(36).slice(2)}.json`;
    this.workspace.file(name, JSON.stringify(replies));
    return `script:${name}`;
  }

  async over(run: string): Promise<RunRecord> {
    let found: RunRecord | undefined;
    await until(async () => {
      found = await this.fleet.run(run);
      return found !== undefined && isOver(found.state);
    }, `${run} to be over`);
    return found!;
  }

  /** The number may be another program's by now. */
  #isOurs(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`HOME=${this.workspace.home}\0`);
    } catch {
      return false;
    }
  }

  /** Ends what was started in this home, and removes it. */
  async remove(): Promise<void> {
    await this.kill("SIGTERM");
    for (const { id } of await this.fleet.runs({ states: ["queued", "running"] }))
      await this.fleet.cancel(id, "the test is over");
    await until(async () => (await this.fleet.waiting()).hosted === 0, "the runs to end").catch(() => {});
    const left = this.read();
    if (left && this.#isOurs(left.pid)) process.kill(left.pid, "SIGTERM");
    if (left) await until(() => !this.#isOurs(left.pid), "the service to end").catch(() => {});
    this.#fleet?.close();
    this.workspace.remove();
  }
}

/** How often the agent of a run began to work. A host that died before that has done nothing. */
export async function beginnings(fleet: Fleet, run: string): Promise<number> {
  const log = await fleet.entries(run, 0, 100_000);
  return log.filter(({ entry }) => entry.type === "event" && entry.event.type === "init").length;
}

export async function until(isSo: () => boolean | Promise<boolean>, what: string, limitMs = 15_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited too long for ${what}`);
    await sleep(20);
  }
}
