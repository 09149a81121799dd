// A client of the kind "orchestrator": many agents behind one board. It asks for the version, the login and the models first, writes the
// prompt to stdin, runs in a group of its own, takes `result` for the end of the work and then ends the group; usage is booked, unknown
// lines are counted.
import { runAgent } from "./client-process.ts";
import type { ClientPlace } from "./place.ts";

export type Detected = { version: string; loggedIn: boolean; models: { id: string; name: string }[]; current?: string };

export async function detect(place: ClientPlace): Promise<Detected> {
  const ask = async (...args: string[]) => (await runAgent({ place, cwd: place.home, args }).ended).stdout;
  const [version, status, list] = await Promise.all([ask("--version"), ask("status"), ask("models")]);
  const models: { id: string; name: string }[] = [];
  let current: string | undefined;
  for (const line of list.split("\n")) {
    const match = /^(\S+)\s+-\s+(.+?)(?:\s{2,}\((.+)\))?$/.exec(line);
    if (!match) continue;
    models.push({ id: match[1]!, name: match[2]! });
    if (match[3]?.split(", ").includes("current")) current = match[1];
  }
  return {
    version: version.trim(),
    loggedIn: /Logged in/.test(status),
    models,
    ...(current !== undefined && { current }),
  };
}

export type Job = {
  place: ClientPlace;
  cwd: string;
  prompt: string;
  model?: string;
  resume?: string;
  /** The board cancels the job when a line of this type was read. */
  cancelAt?: string;
};

export type JobEnd = {
  outcome: "completed" | "failed" | "cancelled";
  sessionId?: string;
  text: string;
  tools: { name: string; status: "done" | "failed" | "open" }[];
  usage?: { input: number; output: number };
  /** Types of lines that it does not know. */
  unknown: Record<string, number>;
  message?: string;
};

const ok = new Set(["success", "startSuccess", "async"]);

export async function runJob({ place, cwd, prompt, model, resume, cancelAt }: Job): Promise<JobEnd> {
  const end: JobEnd = { outcome: "failed", text: "", tools: [], unknown: {} };
  const calls = new Map<string, JobEnd["tools"][number]>();
  let isCancelled = false;
  let hasDeltas = false;
  const args = ["-p", "--output-format", "stream-json", "--yolo", "--workspace", cwd];
  if (model) args.push("--model", model);
  if (resume) args.push("--resume", resume);
  const { child, ended } = runAgent({
    place,
    cwd: place.home,
    args,
    stdin: prompt,
    detached: true,
    onLine(line) {
      const event = JSON.parse(line);
      end.sessionId ??= event.session_id || undefined;
      switch (event.type) {
        case "assistant":
          // The rule that holds with and without deltas.
          if (event.timestamp_ms !== undefined && event.model_call_id === undefined) {
            hasDeltas = true;
            end.text += event.message.content[0].text;
          } else {
            if (!hasDeltas) end.text += event.message.content[0].text;
            hasDeltas = false;
          }
          break;
        case "tool_call": {
          const key = Object.keys(event.tool_call).find((name) => name.endsWith("ToolCall"))!;
          // Ids may hold a line break: the first line is the key.
          const id = String(event.call_id).split("\n")[0]!;
          if (event.subtype === "started") calls.set(id, { name: key.slice(0, -8), status: "open" });
          else {
            const outcome = Object.keys(event.tool_call[key].result ?? {})[0] ?? "";
            calls.set(id, { name: key.slice(0, -8), status: ok.has(outcome) ? "done" : "failed" });
          }
          break;
        }
        case "result":
          end.outcome = event.is_error ? "failed" : "completed";
          if (event.is_error) end.message = event.result;
          if (event.usage) end.usage = { input: event.usage.inputTokens, output: event.usage.outputTokens };
          // The work is over; whatever lingers is ended with its group.
          setTimeout(() => endGroup(child.pid!), 500).unref();
          break;
        case "system":
        case "user":
        case "thinking":
        case "interaction_query":
          break;
        default:
          end.unknown[event.type] = (end.unknown[event.type] ?? 0) + 1;
      }
      if (cancelAt === event.type && !isCancelled) {
        isCancelled = true;
        endGroup(child.pid!);
      }
    },
  });
  const { code, stderr } = await ended;
  if (isCancelled) end.outcome = "cancelled";
  else if (code !== 0 && end.message === undefined) end.message = stderr.trim();
  end.tools = [...calls.values()];
  return end;
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // It is gone.
  }
}
