// A run that is recorded while it works.
import { resolve } from "node:path";
import type { UserError } from "../protocol/error-codes.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { Recorder } from "./record.ts";

/** Opens a run like any other, and records it to a file. */
export async function recordedRun(file: string, request: RunRequest, host: RunHost): Promise<LiveRun> {
  const { env, version, redact = unchanged } = host;
  // A recording states whether a person was present, since that may differ in a replay.
  const unattended = { approvedServerCalls: "allow", unlistedCommands: "sandbox" } as const;
  const attended = { approvedServerCalls: "ask", unlistedCommands: "ask" } as const;
  const asked = { ...(host.attended?.() ? attended : unattended), ...request };
  const broken = new AbortController();
  const fail = (error: UserError) => broken.abort(error);
  const recorder = new Recorder({ file: resolve(file), request: asked, env, version, redact, fail });
  const wrap = host.seams?.wrapProvider;
  const run = await openRun(request, {
    ...host,
    signal: host.signal ? AbortSignal.any([host.signal, broken.signal]) : broken.signal,
    watch(recorded) {
      host.watch?.(recorded);
      recorder.watch(recorded);
    },
    deliver(answer) {
      host.deliver?.(answer);
      recorder.flush();
    },
    seams: {
      ...host.seams,
      wrapProvider: (provider, model) => recorder.wrap(wrap?.(provider, model) ?? provider, model),
    },
  });
  return withEnd(run, () => recorder.end());
}

function withEnd(run: LiveRun, end: () => Promise<void>): LiveRun {
  return new Proxy(run, {
    get(target, name) {
      if (name === "close") return () => target.close().finally(end);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function unchanged(text: string): string {
  return text;
}
