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
  /** The arguments that select this model on the command line, beginning with `--model`. */
  readonly args: readonly string[];
  /** Removes the model's files. Otherwise they are removed when the process ends. */
  remove(): void;
}

/** A model made by `scriptedModel`. */
export interface ScriptedModel extends TestModel {
  readonly replies: readonly ScriptedReply[];
  /** Whether the script starts again after its last reply. */
  readonly loop: boolean;
}

type ScriptedCall = { name: string; args?: object | string; id?: string };
type ScriptedError = { code: ErrorCode; message?: string; retryAfterMs?: number };

/** A step within a scripted reply. */
export type ScriptedStep =
  | { text: string | readonly string[] }
  | { thinking: string | readonly string[] }
  | { call: ScriptedCall }
  | { delayMs: number }
  | { error: ScriptedError };

/** A scripted reply, as docs/scripted-model.md describes it. */
export type ScriptedReply = {
  text?: string | readonly string[];
  thinking?: string | readonly string[];
  calls?: readonly ScriptedCall[];
  steps?: readonly ScriptedStep[];
  error?: ScriptedError;
  /** Texts that must occur in what was sent to the model since its last answer. */
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
  /** Whether tools are replayed too (`recorded`), or run (`live`) so that only the model is replayed. */
  tools?: "recorded" | "live";
  /** What happens when the run differs from the recording. */
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
  // This model created no files, so there is nothing to remove.
  return { ...testModel(`replay:${path}`, more), remove() {}, [Symbol.dispose]() {} };
}

function testModel(model: string, more: readonly string[] = []): Pick<TestModel, "model" | "args"> {
  return { model, args: ["--model", model, ...more] };
}
