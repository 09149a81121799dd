// Models that need no server: scripted replies, and recorded runs.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadScript } from "../../model/scripted.ts";
import type { ErrorCode } from "../../protocol/error-codes.ts";
import type { Usage } from "../../protocol/event.ts";
import { readRecording } from "../recording.ts";
import { temporaryFolder } from "./temporary.ts";

/** `model` is the value for `--model`, or for `model` in the SDK. */
export interface TestModel extends Disposable {
  readonly model: string;
  /** Command line arguments: `--model` and what belongs to it. */
  readonly args: readonly string[];
  /** Removes the model's files. Otherwise they are removed when the process ends. */
  remove(): void;
}

/** A model made by `scriptedModel`. */
export interface ScriptedModel extends TestModel {
  readonly replies: readonly ScriptedReply[];
  /** Whether it starts over after the last reply. */
  readonly loop: boolean;
}

type ScriptedCall = { name: string; args?: object | string; id?: string };
type ScriptedError = { code: ErrorCode; message?: string; retryAfterMs?: number };

/** A step of a scripted reply. */
export type ScriptedStep =
  | { text: string | readonly string[] }
  | { thinking: string | readonly string[] }
  | { call: ScriptedCall }
  | { delayMs: number }
  | { error: ScriptedError };

/** The replies that docs/scripted-model.md describes. */
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
 * Plays the replies, one per request; a string is a text reply. Follow-ups, repairs and resumed runs of a chat continue the
 * sequence; every new chat begins at the first. Throws if a reply is invalid.
 */
export function scriptedModel(
  replies: readonly (ScriptedReply | string)[],
  { loop = false }: { loop?: boolean } = {},
): ScriptedModel {
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
    loop,
    remove: folder.remove,
    [Symbol.dispose]: folder.remove,
  };
}

/** The options of `replayModel`. */
export type ReplayOptions = {
  /** `live` runs the tools for real and replays only the model. */
  tools?: "recorded" | "live";
  /** What to do if the run differs from the recording. */
  onMismatch?: "stop" | "continue";
};

/** Answers from a file that `--record` wrote. Throws if it is not one. */
export function replayModel(file: string, { tools, onMismatch }: ReplayOptions = {}): TestModel {
  const path = resolve(file);
  readRecording(path);
  const more = [
    ...(tools ? ["--replay-tools", tools] : []),
    ...(onMismatch ? ["--replay-on-mismatch", onMismatch] : []),
  ];
  // It has no files to remove.
  return { ...testModel(`replay:${path}`, more), remove() {}, [Symbol.dispose]() {} };
}

function testModel(model: string, more: readonly string[] = []): Pick<TestModel, "model" | "args"> {
  return { model, args: ["--model", model, ...more] };
}
