// Plays a recording up to one of its steps, then continues with a real model: with the recorded
// conversation, or with every tool run again.

import type { Provider } from "../model/provider.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { Message, Part } from "../protocol/message.ts";
import type { LiveRun, Prompt, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { wholeRequests } from "./compare.ts";
import { placesOf } from "./normalise.ts";
import type { KeptPart, Recording } from "./recording.ts";
import { ReplayModel } from "./replay-model.ts";

export type StepOptions = {
  recording: Recording;
  step: number;
  request: RunRequest;
  host: RunHost;
  tools: "recorded" | "live";
};

export async function openFromStep(options: StepOptions): Promise<LiveRun> {
  const { recording, step } = options;
  const mainRequests = recording.requests.filter(({ agent }) => agent === "main").length;
  if (step < 1 || step > mainRequests)
    throw usageError(
      `--from-step ${step}: the recording ${recording.file} has the steps 1 to ${mainRequests}. Show them with: ${options.host.program} replay ${recording.file}`,
    );
  return options.tools === "live" ? runAgain(options) : continueFrom(options);
}

/** Continues with the conversation as it was after the step; files are as they are now. */
function continueFrom({ recording, step, request, host }: StepOptions): Promise<LiveRun> {
  return openRun(request, { ...host, seams: { ...host.seams, messages: messagesAfter(recording, step) } });
}

/** Runs every tool again up to the step; then another model answers the prompt. */
async function runAgain({ recording, step, request, host }: StepOptions): Promise<LiveRun> {
  const replay = new ReplayModel(recording, {
    places: placesOf(request, host.env),
    redact: host.redact ?? ((text) => text),
    onMismatch: "continue",
    note: "",
  });
  let main: string | undefined;
  let answered = 0;
  let prompt: Prompt | undefined;
  const until = (real: Provider): Provider => ({
    get id() {
      return answered < step ? replay.id : real.id;
    },
    async *stream(asked) {
      main ??= asked.agent;
      if (answered >= step) return yield* real.stream(asked);
      if (asked.agent === main && ++answered === step && prompt) run.steer(promptText(prompt));
      yield* replay.stream(asked);
    },
    canSummarise: () => (answered < step ? replay.canSummarise() : (real.canSummarise?.() ?? true)),
  });
  const run = await openRun(request, {
    ...host,
    seams: { ...host.seams, wrapProvider: until },
  });
  const send = run.send.bind(run);
  run.send = (given) => {
    prompt = given;
    return send({ text: firstPrompt(recording) });
  };
  return run;
}

function promptText({ text, data }: Prompt): string {
  return data === undefined ? text : `${text}\n\n${data}`;
}

function firstPrompt({ lines }: Recording): string {
  for (const line of lines) if ("event" in line && line.event.type === "user") return line.event.text;
  return "";
}

function messagesAfter(recording: Recording, step: number): Message[] {
  const whole = wholeRequests(recording);
  const mainIndexes = recording.requests.flatMap(({ agent }, index) => (agent === "main" ? [index] : []));
  const at = mainIndexes[step - 1]!;
  const next = mainIndexes[step];
  const asked = next === undefined ? whole[at]! : whole[next]!;
  const reply = next === undefined ? recording.replies.get(at + 1) : undefined;
  const messages = asked.messages.map(({ role, parts }): Message => ({ role, parts: parts.map(messagePart) }));
  // The prompt that began the next turn is not part of the step.
  if (next !== undefined && isPromptOnly(messages.at(-1))) messages.pop();
  const last = reply?.parts.map(({ deltas: _, ...part }) => part as Part) ?? [];
  // Models refuse a conversation that has a call without its result.
  const partsWithoutCalls = last.filter((part) => part.type !== "tool_call");
  return partsWithoutCalls.length > 0 ? [...messages, { role: "assistant", parts: partsWithoutCalls }] : messages;
}

function isPromptOnly(message: Message | undefined): boolean {
  return message?.role === "user" && !message.parts.some((part) => part.type === "tool_result");
}

function messagePart(part: KeptPart): Part {
  if (part.type === "image")
    return { type: "text", text: `[A picture that is not part of the recording: ${part.mime}]` };
  if (part.type !== "tool_result") return part;
  const { images: _, ...result } = part;
  return result;
}
