// Heartbeats: writes a line while nothing else happens, naming what the run waits for, and stops a run that is silent for too
// long. Loaded only if a flag asks for it.
import { UserError } from "../protocol/error-codes.ts";
import { type Waited, Waiting } from "../protocol/waiting.ts";

export type HeartbeatLimits = { everyMs: number | undefined; maxSilenceMs: number | undefined };

export type HeartbeatSinks = {
  /** Writes a heartbeat: `line` for the stream, `text` for people. */
  beat(line: HeartbeatLine, text: string): void;
  stop(error: UserError): void;
};

export type HeartbeatLine = {
  type: "system";
  subtype: "heartbeat";
  silent_ms: number;
  waiting_for: { kind: Waited["kind"] | "agent"; name: string; since_ms: number; for_ms: number }[];
};

export interface Heartbeat {
  /** Called whenever the run makes progress. */
  moved(): void;
  end(): void;
}

/** Reports at intervals that the run is still working. Pass the returned `waiting` to the run. */
export function createHeartbeat(limits: HeartbeatLimits) {
  const waiting = new Waiting();
  return { waiting, start: (sinks: HeartbeatSinks) => startHeartbeat(waiting, limits, sinks) };
}

function startHeartbeat(
  waiting: Waiting,
  { everyMs, maxSilenceMs }: HeartbeatLimits,
  { beat, stop }: HeartbeatSinks,
): Heartbeat {
  let movedAt = Date.now();
  let saidAt = movedAt;
  const look = () => {
    const now = Date.now();
    if (maxSilenceMs !== undefined && now - movedAt >= maxSilenceMs) {
      end();
      const waits = shownWaits(waiting.list(), now);
      stop(
        new UserError(
          "MAX_SILENCE",
          `Nothing moved for ${seconds(now - movedAt)}: the run waited for ${waits}. Raise the limit with --max-silence.`,
        ),
      );
    } else if (everyMs !== undefined && now - Math.max(movedAt, saidAt) >= everyMs) {
      saidAt = now;
      const waits = waitsOf(waiting.list(), now);
      const line = { type: "system", subtype: "heartbeat", silent_ms: now - movedAt, waiting_for: waits } as const;
      beat(line, heartbeatText(line));
    }
  };
  // Choose an interval that is short enough for both limits, but not so short that it costs much.
  const shortest = Math.min(everyMs ?? Number.POSITIVE_INFINITY, maxSilenceMs ?? Number.POSITIVE_INFINITY);
  const timer = setInterval(look, Math.max(20, Math.min(1000, shortest / 10)));
  timer.unref();
  const end = () => clearInterval(timer);
  return {
    moved() {
      movedAt = Date.now();
    },
    end,
  };
}

function waitsOf(list: readonly Waited[], now: number): HeartbeatLine["waiting_for"] {
  if (list.length === 0) return [{ kind: "agent", name: "", since_ms: now, for_ms: 0 }];
  return list.map(({ kind, name, since }) => ({ kind, name, since_ms: since, for_ms: now - since }));
}

function heartbeatText({ waiting_for: waits }: HeartbeatLine): string {
  const waitTexts = waits.map(
    ({ kind, name, for_ms: ms }) => `${[kind, name].filter(Boolean).join(" ")}, ${seconds(ms)}`,
  );
  return `Waiting for: ${waitTexts.join("; ")}`;
}

function shownWaits(list: readonly Waited[], now: number): string {
  const taskTexts = list.map(({ kind, name, since }) => `the ${kind} ${name} (${seconds(now - since)})`);
  return taskTexts.join(", ") || "nothing that is known";
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}
