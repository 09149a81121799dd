// Runs the service: listens, starts hosts for runs, and exits when it is stopped or idle.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { UserError } from "../protocol/error-codes.ts";
import { untilAborted } from "../protocol/on-abort.ts";
import {
  claimService,
  forgetService,
  readKilledService,
  readService,
  type ServiceInfo,
  serviceFile,
} from "../store/service-file.ts";
import type { ServeContext } from "./context.ts";
import { ignoreMissingPermission } from "./engines/refusals.ts";
import { isLocal } from "./fleet.ts";
import { hostNames } from "./http/guard.ts";
import { readPage } from "./http/page.ts";
import { createApp } from "./http/route.ts";
import { type HttpOptions, type HttpService, listen } from "./http/server.ts";
import { keepHosts } from "./keep-hosts.ts";
import { routes } from "./routes/index.ts";

export type ServiceOptions = {
  host: string;
  /** The port to listen on; 0 selects any free port. */
  port: number;
  /** The token shared by several services behind one address; a new one if absent. */
  token?: string;
  /** A password that is accepted instead of the token, for services that listen to other machines. */
  password?: string;
  /** Whether the service exits when it has nothing to do. */
  untilIdle?: boolean;
  /** Stops the service when aborted. Its runs continue. */
  signal: AbortSignal;
  onListening(address: { host: string; port: number; token: string }): void;
};

/** How many milliseconds the logs of ended runs are kept. */
const keptMs = 30 * 24 * 3_600_000;
const idleMs = 60_000;

/** Runs the service. Resolves when it has ended. */
export async function runService(context: ServeContext, options: ServiceOptions): Promise<void> {
  const { configDir, fleet, fleetUrl, version } = context;
  const file = serviceFile(configDir, fleetUrl);
  const running = await runningService(file);
  if (running) throw runsAlready(running);
  const silent = readService(file);
  const stop = new AbortController();
  const end = () => stop.abort();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const { http, token } = await listenAgain(readKilledService(file), options, {
    hosts: hostNames(options.host),
    app: createApp(routes, context),
    page: readPage(context.pageDir),
    onAnswered: () => idle?.restart(),
  });
  const idle = options.untilIdle ? watchIdleness(() => http.open > 0, end) : undefined;
  const { port } = http;
  const info = { pid: process.pid, host: options.host, port, token, startedAt: Date.now(), version };
  if (!claimService(file, info, silent?.pid)) {
    await http.close();
    throw runsAlready(readService(file));
  }
  options.onListening({ host: options.host, port, token });
  try {
    // A user who may only submit runs has no permission to delete logs, which the workers then do.
    await fleet.prune(Date.now() - keptMs).catch(ignoreMissingPermission);
    const watched = ({ isBusy }: { isBusy: boolean }) => (isBusy ? idle?.stop() : idle?.begin());
    if (isLocal(fleet)) await keepHosts(fleet, context, signal, watched);
    else {
      idle?.begin();
      await untilAborted(signal); // the workers take the runs of this fleet
    }
  } finally {
    idle?.stop();
    forgetService(file, process.pid);
    await http.close();
  }
}

/**
 * After a killed service, listens on the same port with the same token, so that open pages find it again. If another program has
 * the port by now, a new token is used as well.
 */
async function listenAgain(
  killed: ServiceInfo | undefined,
  { host, port, password, token: given }: ServiceOptions,
  rest: Pick<HttpOptions, "hosts" | "app" | "page" | "onAnswered">,
): Promise<{ http: HttpService; token: string }> {
  const open = async (port: number, token: string) => {
    const http = await listen({ ...rest, host, port, token, ...(password !== undefined && { password }) });
    return { http, token };
  };
  const isSame = killed?.host === host && (port === 0 || port === killed.port);
  if (isSame) {
    try {
      return await open(killed.port, given ?? killed.token);
    } catch (error) {
      if (port !== 0 || !(error instanceof UserError)) throw error;
    }
  }
  return open(port, given ?? randomBytes(32).toString("base64url"));
}

/** Returns the service in the file if it answers. */
export async function runningService(file: string): Promise<ServiceInfo | undefined> {
  const running = readService(file);
  return running && (await isAnswering(running)) ? running : undefined;
}

function runsAlready(other: ServiceInfo | undefined): UserError {
  const where = other ? ` (process ${other.pid}, port ${other.port})` : "";
  const stop = other ? `: kill ${other.pid}` : "";
  return new UserError("PORT_TAKEN", `A service of yours is already running${where}. Use it, or stop it first${stop}`);
}

/** Returns whether a service answers. Its file is no proof: a killed service leaves it, with a pid that another program may have now. */
function isAnswering({ host, port, token }: ServiceInfo): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}`, Host: `${host.includes(":") ? `[${host}]` : host}:${port}` };
    const asked = request({ host, port, path: "/v1/me", headers, agent: false, timeout: 2000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
    asked.end();
  });
}

/** Calls `end` when nothing has happened for a while. */
function watchIdleness(isBusy: () => boolean, end: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const begin = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (isBusy()) begin();
      else end();
    }, idleMs);
  };
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return { begin, stop, restart: () => timer?.refresh() };
}
