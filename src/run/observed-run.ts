// Observes a run with a log, OpenTelemetry, or both. Loaded only when one is configured.
import { type Observer, observedProvider } from "../observe/observer.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import { Waiting } from "../protocol/waiting.ts";
import type { RunHost } from "./host.ts";

type Open = (request: RunRequest, host: RunHost) => Promise<NoticedRun>;
type NoticedRun = LiveRun & { notice(kind: string, message: string): void };

/** Starts a run with its log, traces and metrics. Throws a UserError if the run or its log cannot start. */
export async function observedRun(request: RunRequest, host: RunHost, open: Open): Promise<LiveRun> {
  let run: NoticedRun | undefined;
  const early: string[] = [];
  const warn = (message: string) => {
    if (run) run.notice("warning", message);
    else early.push(message);
  };
  const observers = (await observersOf(request, host, warn)).map(withoutFailures);
  const notify = (say: (observer: Observer) => void) => observers.forEach(say);
  const end = async () => {
    const faults = await Promise.all(observers.map((observer) => observer.end()));
    for (const fault of faults) if (fault !== undefined) host.warn?.(fault);
  };
  try {
    run = await open(request, watchedHost(host, observers, notify));
    early.splice(0).forEach(warn);
    return withEnd(run, end);
  } catch (error) {
    notify((observer) => observer.failed(error, Date.now()));
    await end();
    throw error;
  }
}

async function observersOf(request: RunRequest, host: RunHost, warn: (message: string) => void): Promise<Observer[]> {
  const { env, version, program, redact = (text: string) => text } = host;
  const observers: Observer[] = [];
  if (host.log !== undefined) {
    const { workspace, model, mode, force, sandbox } = request;
    const started = { program, version, node: process.version, platform: process.platform, pid: process.pid };
    const { openLog } = await import("../observe/run-log.ts");
    observers.push(
      openLog({ file: host.log, started: { ...started, workspace, model, mode, force, sandbox }, redact }),
    );
  }
  const { readOtelSettings } = await import("../observe/otel/settings.ts");
  const settings = readOtelSettings(env);
  if (settings) {
    const { Tracer } = await import("../observe/otel/tracer.ts");
    observers.push(new Tracer({ settings, env, version, redact, warn }));
  }
  return observers;
}

function watchedHost(
  host: RunHost,
  observers: readonly Observer[],
  notify: (say: (observer: Observer) => void) => void,
): RunHost {
  const waiting = host.waiting ?? new Waiting();
  waiting.watch((waited) => {
    if (waited.kind !== "model" && waited.kind !== "tool") notify((observer) => observer.waited(waited, Date.now()));
  });
  const wrap = host.seams?.wrapProvider;
  return {
    ...host,
    waiting,
    watch(recorded) {
      host.watch?.(recorded);
      notify((observer) => observer.event(recorded, Date.now()));
    },
    debug(message) {
      host.debug?.(message);
      notify((observer) => observer.said(message, Date.now()));
    },
    seams: {
      ...host.seams,
      wrapProvider: (provider, model) => observedProvider(wrap?.(provider, model) ?? provider, model, observers),
    },
  };
}

/** Wraps an observer so that its errors do not affect the run. */
function withoutFailures(observer: Observer): Observer {
  return new Proxy(observer, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function" || name === "end")
        return typeof value === "function" ? value.bind(target) : value;
      return (...values: unknown[]) => {
        try {
          value.apply(target, values);
        } catch {} // ignore the error: only the observation is lost
      };
    },
  });
}

function withEnd(run: LiveRun, end: () => Promise<void>): LiveRun {
  let ended: Promise<void> | undefined;
  return new Proxy(run, {
    get(target, name) {
      if (name === "close")
        return () => {
          ended ??= target.close().finally(end);
          return ended;
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
