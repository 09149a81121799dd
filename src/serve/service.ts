// The service: listens, sees to it that runs get hosts, and leaves when it is told to or when nobody needs it.
import { randomBytes } from "node:crypto";
import { UserError } from "../protocol/error-codes.ts";
import { forgetService, readService, saveService } from "../store/service-file.ts";
import type { ServeContext } from "./context.ts";
import { loopbackHosts } from "./http/guard.ts";
import { createApp } from "./http/route.ts";
import { listen } from "./http/server.ts";
import { startHosts } from "./launcher.ts";
import { routes } from "./routes/index.ts";

export type ServiceOptions = {
  host: string;
  /** 0: a free one. */
  port: number;
  /** A way in beside the token, for who listens beyond this machine. */
  password?: string;
  /** Leaves when there is nothing to do. */
  untilIdle?: boolean;
  /** Ends the service, and no run. */
  signal: AbortSignal;
  onListening(address: { host: string; port: number; token: string }): void;
};

/** Logs of runs are kept so long. */
const keptMs = 30 * 24 * 3_600_000;
const idleMs = 60_000;

/** Resolves when the service has ended. */
export async function runService(context: ServeContext, options: ServiceOptions): Promise<void> {
  const { configDir, fleet, version } = context;
  const running = readService(configDir);
  if (running)
    throw new UserError(
      "PORT_TAKEN",
      `A service of yours runs already (process ${running.pid}, port ${running.port}). Use it, or stop it first: kill ${running.pid}`,
    );
  const token = randomBytes(32).toString("base64url");
  const stop = new AbortController();
  const end = () => stop.abort();
  options.signal.addEventListener("abort", end, { once: true });
  const http = await listen({
    host: options.host,
    port: options.port,
    hosts: options.host === "127.0.0.1" ? loopbackHosts : [...loopbackHosts, nameOf(options.host)],
    secrets: [token, ...(options.password === undefined ? [] : [options.password])],
    isPublic: () => false,
    app: createApp(routes, context),
    onAnswered: () => idle?.restart(),
  });
  const idle = options.untilIdle ? new IdleWatch(() => http.open > 0, end) : undefined;
  const { port } = http;
  saveService(configDir, { pid: process.pid, host: options.host, port, token, startedAt: Date.now(), version });
  options.onListening({ host: options.host, port, token });
  try {
    await fleet.prune(Date.now() - keptMs);
    await watchRuns(context, idle, stop.signal);
  } finally {
    idle?.stop();
    forgetService(configDir, process.pid);
    await http.close();
  }
}

/** Woken by changes alone; a clock runs only while a run has a host that could be lost. */
async function watchRuns(context: ServeContext, idle: IdleWatch | undefined, signal: AbortSignal): Promise<void> {
  const { fleet } = context;
  while (!signal.aborted) {
    await startHosts(fleet, context);
    const { count, hosted, nextMs } = await fleet.waiting();
    if (count + hosted > 0) idle?.stop();
    else idle?.begin();
    const round = new AbortController();
    const wake = () => round.abort();
    signal.addEventListener("abort", wake, { once: true });
    const timer = nextMs === undefined ? undefined : setTimeout(wake, nextMs + 50);
    await fleet.changed(round.signal);
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}

/** Ends a service that nobody needs. */
class IdleWatch {
  readonly #isBusy: () => boolean;
  readonly #end: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(isBusy: () => boolean, end: () => void) {
    this.#isBusy = isBusy;
    this.#end = end;
  }

  /** Somebody may need it no more: the time begins, unless it runs already. */
  begin(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#isBusy()) this.begin();
      else this.#end();
    }, idleMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  restart(): void {
    if (!this.#timer) return;
    this.stop();
    this.begin();
  }
}

function nameOf(host: string): string {
  return host.includes(":") ? `[${host}]` : host.toLowerCase();
}
