// Models that need no server: replies that a test writes down, and runs that were recorded.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadScript } from "../../model/scripted.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import type { Usage } from "../../protocol/event.ts";
import { readRecording } from "../recording.ts";
import { temporaryFolder } from "./temporary.ts";

/** `model`: what to give as `--model`, or as `model` to the SDK. */
export interface TestModel extends Disposable {
  readonly model: string;
  /** For a command line: `--model` and what belongs to it. */
  readonly args: readonly string[];
  /** What a scripted one says, for agents of other makers. */
  readonly replies: readonly ScriptedReply[];
  /** Removes what was written for it. Without this it goes when the process ends. */
  remove(): void;
}

type ScriptedCall = { name: string; args?: object | string; id?: string };
type ScriptedError = { code: ErrorCode; message?: string; retryAfterMs?: number };

export type ScriptedStep =
  | { text: string | readonly string[] }
  | { thinking: string | readonly string[] }
  | { call: ScriptedCall }
  | { delayMs: number }
  | { error: ScriptedError };

/** As docs/scripted-model.md describes them. */
export type ScriptedReply = {
  text?: string | readonly string[];
  thinking?: string | readonly string[];
  calls?: readonly ScriptedCall[];
  steps?: readonly ScriptedStep[];
  error?: ScriptedError;
  /** Each must occur in what was sent since the last answer. */
  expect?: string | readonly string[];
  delayMs?: number;
  usage?: Partial<Usage>;
  summary?: boolean;
  aside?: boolean;
};

/**
 * Plays the replies, one for each time the agent asks; a string is a reply of text. Follow-ups, repairs and resumed runs of a
 * chat go on where it is; every new chat begins at the first. Throws what is wrong with a reply.
 */
export function scriptedModel(
  replies: readonly (ScriptedReply | string)[],
  { loop = false }: { loop?: boolean } = {},
): TestModel {
  const script = {
    replies: replies.map((reply) => (typeof reply === "string" ? { text: reply } : reply)),
    loop,
    continue: true,
  };
  const text = JSON.stringify(script);
  loadScript(text, "of scriptedModel()");
  const folder = temporaryFolder("courser-script-");
  const file = join(folder.path, "script.json");
  writeFileSync(file, text);
  return {
    ...testModel(`script:${file}`),
    replies: script.replies,
    remove: folder.remove,
    [Symbol.dispose]: folder.remove,
  };
}

export type ReplayOptions = {
  /** `live`: tools run for real, only the model is replayed. */
  tools?: "recorded" | "live";
  /** What to do where the run differs from the recording. */
  onMismatch?: "stop" | "continue";
};

/** Answers from a file that `--record` wrote. Throws when it is not one. */
export function replayModel(file: string, { tools, onMismatch }: ReplayOptions = {}): TestModel {
  const path = resolve(file);
  readRecording(path);
  const more = [
    ...(tools ? ["--replay-tools", tools] : []),
    ...(onMismatch ? ["--replay-on-mismatch", onMismatch] : []),
  ];
  // Nothing was written for it.
  return { ...testModel(`replay:${path}`, more), replies: [], remove() {}, [Symbol.dispose]() {} };
}

function testModel(model: string, more: readonly string[] = []): Pick<TestModel, "model" | "args"> {
  return { model, args: ["--model", model, ...more] };
}
