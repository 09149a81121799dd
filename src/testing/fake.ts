// A fake cursor-agent for testing programs that read its stream: plays a recording or a script in the format of a version, with
// a fault on demand. It calls no model and changes no files.
import { resolve } from "node:path";
import { isObject } from "../json/object.ts";
import { ModelError } from "../model/provider.ts";
import { loadScript } from "../model/scripted.ts";
import type { AgentEvent, Usage } from "../protocol/event.ts";
import { type Message, messageText, type Part } from "../protocol/message.ts";
import { inProfile } from "../protocol/profile-shapes.ts";
import { profileOf, type VersionName, versions } from "../protocol/profiles.ts";
import { addUsage, noUsage } from "../protocol/usage.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { eventsOf, parseRecording, readText } from "./recording.ts";

export type FakeOptions = {
  version: VersionName;
  /** The recording or script to play; without one, a sample is played. */
  file?: string | undefined;
  prompt: string;
  cwd: string;
  /** The id of the session to resume. */
  sessionId?: string | undefined;
};

/** The events of one run: the first turn of a recording, or all replies of a script. */
export async function fakeEvents(options: FakeOptions): Promise<AgentEvent[]> {
  const { version, prompt, cwd, sessionId } = options;
  const events = await eventsToPlay(options);
  const end = events.findIndex(({ type }) => type === "done" || type === "fail");
  const id = sessionId ?? randomUuid();
  const profile = profileOf(versions[version]);
  return events.slice(0, end < 0 ? undefined : end + 1).flatMap((event): AgentEvent[] => {
    const inStream = inProfile(event, profile);
    if (!inStream) return [];
    if (inStream.type === "init") {
      const { policyHash: _, ...init } = inStream;
      return [{ ...init, sessionId: id, cwd, apiKeySource: "login" }];
    }
    return inStream.type === "user" && prompt !== "" ? [{ ...inStream, text: prompt }] : [inStream];
  });
}

/** Splits text into words as deltas if the recording has none. */
export function withDeltas(events: readonly AgentEvent[]): AgentEvent[] {
  if (events.some(({ type }) => type === "text")) return [...events];
  return events.flatMap((event): AgentEvent[] => {
    if (event.type !== "text_end") return [event];
    const words = event.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [event.text];
    return [...words.map((text) => ({ type: "text", text, at: event.at }) as AgentEvent), event];
  });
}

const sample = JSON.stringify([
  { text: "Let me look.", calls: [{ name: "Read", args: { path: "note.txt" } }] },
  { text: ["The note says ", "hello."], usage: { inputTokens: 120, outputTokens: 24 } },
]);

async function eventsToPlay({ file, prompt, cwd }: FakeOptions): Promise<AgentEvent[]> {
  if (file === undefined) return eventsFromReplies(sample, "the sample", { prompt, cwd });
  const text = readText(file, `--from ${file}`, "Give a recording (--record FILE) or a script.");
  if (!/^\s*\{\s*"recording"\s*:/.test(text)) return eventsFromReplies(text, file, { prompt, cwd });
  const { lines, header } = parseRecording(text, file);
  return relocateEvents([...eventsOf(lines)], header.places.workspace, cwd);
}

/** Returns the same events with the paths of another workspace. */
function relocateEvents(events: AgentEvent[], from: string, to: string): AgentEvent[] {
  if (from.length < 2) return events;
  const quotedFrom = JSON.stringify(from)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const path = new RegExp(String.raw`(?<![\w.-])${quotedFrom}(?![\w.-])`, "g");
  return JSON.parse(JSON.stringify(events).replace(path, () => JSON.stringify(to).slice(1, -1))) as AgentEvent[];
}

/** Turns the replies of a script into events; the results of its calls are made up. */
async function eventsFromReplies(
  text: string,
  file: string,
  { prompt, cwd }: Pick<FakeOptions, "prompt" | "cwd">,
): Promise<AgentEvent[]> {
  const provider = loadScript(text, file, { expects: false });
  const messages: Message[] = [{ role: "user", parts: [{ type: "text", text: prompt || "go" }] }];
  const { signal } = new AbortController();
  let usage = noUsage;
  let failure: ModelError | undefined;
  for (let number = 0; number < maxReplies && !failure; number++) {
    const parts: Part[] = [];
    try {
      for await (const chunk of provider.stream({ model: "", system: "", tools: [], messages, signal })) {
        if (chunk.type === "part") parts.push(withWholePath(chunk.part, cwd));
        if (chunk.type === "usage") usage = addUsage(usage, chunk.usage);
      }
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      failure = error;
    }
    if (parts.length > 0) messages.push({ role: "assistant", parts });
    const calls = parts.filter((part) => part.type === "tool_call");
    if (calls.length === 0) break;
    messages.push({
      role: "user",
      parts: calls.map(({ id }): Part => ({ type: "tool_result", id, text: "hello\n", isError: false })),
    });
  }
  const now = Date.now();
  const metadata = { id: randomUuid(), folder: "", title: "", mode: "default", createdAt: now, updatedAt: now };
  const stored = messages.map((message, index) => ({ sequence: index + 1, turn: 1, at: now + index, message }));
  const turns = [{ number: 1, prompt: prompt || "go", startedAt: now, status: "done" as const }];
  const record = {
    metadata: { ...metadata, model: "Auto", hasConversation: true },
    messages: stored,
    events: [],
    turns,
    problems: [],
    wholeTurns: 1,
  };
  const events = rebuildEvents(record).flatMap(({ events }) => events);
  return [...events.filter(({ type }) => type !== "done" && type !== "fail"), endingEvent(messages, usage, failure)];
}

const maxReplies = 200;

/** Makes the paths in a part absolute, as they are in real streams. */
function withWholePath(part: Part, cwd: string): Part {
  if (part.type !== "tool_call" || !isObject(part.args) || typeof part.args["path"] !== "string") return part;
  return { ...part, args: { ...part.args, path: resolve(cwd, part.args["path"]) } };
}

function endingEvent(messages: readonly Message[], usage: Usage, failure: ModelError | undefined): AgentEvent {
  const numbers = { durationMs: 20, apiDurationMs: 20, requestId: randomUuid(), usage };
  if (failure) return { type: "fail", message: failure.message, code: failure.code, ...numbers };
  const replyTexts = messages.filter(({ role }) => role === "assistant").map(messageText);
  return { type: "done", text: replyTexts.join(""), ...numbers };
}

/** What the fake CLI prints and how it ends: with an exit code, by a signal, or never (`hang`). */
export type FakePlan = { chunks: { text: string; afterMs: number }[]; end: "hang" | number | "SIGKILL" };

type Fault = { help: string; apply(plan: FakePlan): FakePlan };

const chunk = (text: string, afterMs = 0) => ({ text, afterMs });
/** The middle of the chunks, with at least one before it if there are several. */
const middle = ({ length }: readonly unknown[]) => (length > 1 ? Math.max(1, Math.floor(length / 2)) : 0);
const isResult = ({ text }: { text: string }) => /"type":\s*"result"/.test(text);

/** Faults of real CLIs that can be imitated, one at a time. */
export const faults = {
  hang: {
    help: "stops in the middle and never ends",
    apply: ({ chunks }) => ({ chunks: chunks.slice(0, middle(chunks)), end: "hang" }),
  },
  "hang-at-end": { help: "says its result and never exits", apply: ({ chunks }) => ({ chunks, end: "hang" }) },
  crash: {
    help: "dies in the middle of its work",
    apply: ({ chunks }) => ({ chunks: chunks.slice(0, middle(chunks)), end: "SIGKILL" }),
  },
  "cut-line": {
    help: "ends within its last line",
    apply({ chunks }) {
      const last = chunks.at(-1)!;
      const half = { ...last, text: last.text.slice(0, Math.floor(last.text.length / 2)) };
      return { chunks: [...chunks.slice(0, -1), half], end: 0 };
    },
  },
  noise: {
    help: "prints a line that is not part of the protocol",
    apply: ({ chunks, end }) => ({ chunks: chunks.toSpliced(1, 0, chunk("(node:42) Warning: something\n")), end }),
  },
  "two-results": {
    help: "says its result twice",
    apply: ({ chunks, end }) => ({ chunks: [...chunks, ...chunks.slice(-1)], end }),
  },
  "no-result": {
    help: "exits with 0 and says no result",
    apply: ({ chunks }) => ({ chunks: chunks.filter((each) => !isResult(each)), end: 0 }),
  },
  slow: {
    help: "waits before each line, four seconds before the second",
    apply: ({ chunks, end }) => ({ chunks: chunks.map(({ text }, at) => chunk(text, at === 1 ? 4000 : 300)), end }),
  },
  "wrong-exit": {
    help: "says that it succeeded, and exits with 3",
    apply: ({ chunks, end }) => ({ chunks, end: end === 0 ? 3 : 0 }),
  },
  unpaired: {
    help: "starts a call of a tool that never ends",
    apply: ({ chunks, end }) => ({ chunks: chunks.filter(({ text }) => !text.includes('"subtype":"completed"')), end }),
  },
  "other-text": {
    help: "says another text in its result than before",
    apply: ({ chunks, end }) => ({
      chunks: chunks.map((each) =>
        isResult(each) ? { ...each, text: each.text.replace(/"result":"/, '"result":"Otherwise: ') } : each,
      ),
      end,
    }),
  },
  "other-session": {
    help: "changes its session in the middle",
    apply: ({ chunks, end }) => ({
      chunks: chunks.map((each, index) =>
        index < middle(chunks)
          ? each
          : { ...each, text: each.text.replace(/"session_id":"[^"]*"/, '"session_id":"x"') },
      ),
      end,
    }),
  },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

export function planOutput(lines: readonly string[], exit: number, fault: FaultName | undefined): FakePlan {
  const plan: FakePlan = { chunks: lines.map((line) => chunk(line)), end: exit };
  return fault === undefined ? plan : faults[fault].apply(plan);
}
