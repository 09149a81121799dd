// A client of the kind "web UI": a server that starts the CLI for each message and sends the browser what it reads. It learns of trust
// from the text of a failed start and then starts again with `--trust`; the first `result`, or the end, completes a message, once.
import { runAgent } from "./client-process.ts";
import type { ClientPlace } from "./place.ts";

export type UiMessage =
  | { kind: "session"; id: string; model: string }
  | { kind: "text"; text: string }
  | { kind: "tool"; id: string; name: string }
  | { kind: "tool_result"; id: string; failed: boolean }
  | { kind: "error"; text: string }
  | { kind: "complete"; ok: boolean };

export type UiRequest = {
  place: ClientPlace;
  cwd: string;
  prompt: string;
  model?: string;
  sessionId?: string;
  skipPermissions?: boolean;
  /** The person presses stop when this was shown. */
  stopAt?(message: UiMessage): boolean;
};

const trustTexts = [
  /workspace trust required/i,
  /do you trust the contents of this directory/i,
  /pass --trust, --yolo, or -f/i,
];

export type UiRun = { sent: UiMessage[]; starts: number };

export async function sendMessage(request: UiRequest): Promise<UiRun> {
  const run: UiRun = { sent: [], starts: 0 };
  const asksForTrust = await startOnce(request, run, []);
  if (asksForTrust) await startOnce(request, run, ["--trust"]);
  return run;
}

/** True: nothing was shown yet, and the CLI wants to be trusted. */
async function startOnce(request: UiRequest, run: UiRun, more: readonly string[]): Promise<boolean> {
  const { place, cwd, prompt, model, sessionId, skipPermissions, stopAt } = request;
  run.starts++;
  let isComplete = false;
  let wantsTrust = false;
  let stop: () => void = () => {};
  const send = (message: UiMessage) => {
    run.sent.push(message);
    if (stopAt?.(message)) stop();
  };
  const complete = (ok: boolean) => {
    if (isComplete) return;
    isComplete = true;
    send({ kind: "complete", ok });
  };
  const args = [
    ...(sessionId ? [`--resume=${sessionId}`] : []),
    "-p",
    prompt,
    ...(model && !sessionId ? ["--model", model] : []),
    "--output-format",
    "stream-json",
    ...(skipPermissions ? ["-f"] : []),
    ...more,
  ];
  const { child, ended } = runAgent({
    place,
    cwd,
    args,
    onLine(line) {
      let event: Record<string, any>;
      try {
        event = JSON.parse(line);
      } catch {
        send({ kind: "text", text: line });
        return;
      }
      show(event, send, complete);
    },
    onStderr: (text) => {
      wantsTrust ||= trustTexts.some((pattern) => pattern.test(text));
      // Whatever is on stderr is shown as an error, unless it is about trust.
      if (!wantsTrust) send({ kind: "error", text });
    },
  });
  stop = () => child.kill("SIGTERM");
  const { code } = await ended;
  if (code !== 0 && wantsTrust && more.length === 0 && !isComplete) return true;
  complete(code === 0);
  return false;
}

function show(event: Record<string, any>, send: (message: UiMessage) => void, complete: (ok: boolean) => void): void {
  switch (event["type"]) {
    case "system":
      if (event["subtype"] === "init") send({ kind: "session", id: event["session_id"], model: event["model"] });
      break;
    case "assistant":
      send({ kind: "text", text: event["message"].content[0].text });
      break;
    case "tool_call": {
      const [key, tool] = Object.entries<any>(event["tool_call"])[0]!;
      if (event["subtype"] === "started")
        send({ kind: "tool", id: event["call_id"], name: key.replace("ToolCall", "") });
      else send({ kind: "tool_result", id: event["call_id"], failed: tool.result?.success === undefined });
      break;
    }
    case "result":
      complete(event["subtype"] === "success");
      break;
  }
}
