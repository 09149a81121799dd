// Reads server-sent events with fetch, since EventSource cannot send a header. Each tab has one stream, which reconnects and
// resumes after the last received event.
import type { ChangedSession, LogEntry, OpenQuestion, RunRecord } from "../../../serve/api.ts";
import { type Http, isSameService } from "./http.ts";

export type StreamState = "connecting" | "open" | "lost";

/** The state sent when the stream begins. `steps` are the last of each live run. */
export type Hello = { runs: RunRecord[]; questions: OpenQuestion[]; steps: LogEntry[] };

export type EventStreamOptions = {
  http: Http;
  token: string;
  signal: AbortSignal;
  onEntry(entry: LogEntry): void;
  /** Called with queued runs, which have no log entry yet. */
  onRuns(queued: readonly RunRecord[]): void;
  /** Called with sessions on disk that are new or have grown. */
  onSessions(changed: readonly ChangedSession[]): void;
  onState(state: StreamState): void;
  /** Called when connected. `again` is true for a reconnection, when state outside of the log may have changed meanwhile. */
  onHello(there: Hello, again: boolean): void;
};

const firstPauseMs = 250;
const longestPauseMs = 4000;
/** After how many milliseconds of silence the stream is reopened: the service sends something every 15 seconds. */
const silenceMs = 40_000;

export async function followLog(options: EventStreamOptions): Promise<void> {
  const { http, token, signal, onEntry, onRuns, onSessions, onState, onHello } = options;
  let last: string | undefined;
  let pauseMs = firstPauseMs;
  let wasOpen = false;
  while (!signal.aborted) {
    try {
      if (wasOpen && !(await isSameService(token))) throw new Error("another program listens there");
      const silence = new AbortController();
      const headers: Record<string, string> = { Accept: "text/event-stream", ...(last && { "Last-Event-ID": last }) };
      const response = await http.open("/api/stream", headers, AbortSignal.any([signal, silence.signal]));
      onState("open");
      pauseMs = firstPauseMs;
      for await (const { id, event, data } of eventsOf(response, silence)) {
        if (id !== undefined) last = id;
        if (event === "hello") onHello(JSON.parse(data) as Hello, wasOpen);
        wasOpen = true;
        if (event === "entry") onEntry(JSON.parse(data) as LogEntry);
        if (event === "runs") onRuns((JSON.parse(data) as { runs: RunRecord[] }).runs);
        if (event === "sessions") onSessions((JSON.parse(data) as { changed: ChangedSession[] }).changed);
      }
    } catch {
      // The connection state shows the loss; `createHttp` handles a refused token.
    }
    if (signal.aborted) return;
    onState("lost");
    await pause(pauseMs, signal);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}

type SentEvent = { id: string | undefined; event: string; data: string };

async function* eventsOf(response: Response, silence: AbortController): AsyncGenerator<SentEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    while (true) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMs);
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) yield parseBlock(block);
    }
  } finally {
    clearTimeout(timer);
    void reader.cancel().catch(() => {});
  }
}

function parseBlock(block: string): SentEvent {
  const fields = new Map(
    block.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  return { id: fields.get("id"), event: fields.get("event") ?? "message", data: fields.get("data") ?? "" };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    // Reconnect at once when the user returns to the tab or the network is back.
    const go = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", go, { once: true });
    addEventListener("online", go, { once: true, signal });
  });
}
