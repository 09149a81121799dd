// Control lines: the messages between a run and a host in another process, besides prompts and events. Version 1. A host that
// never sends `hello` receives none.
import {
  anything,
  type Check,
  either,
  type FieldTable,
  fields,
  flag,
  listOf,
  number,
  object,
  oneOf,
  positive,
  text,
} from "../json/checks.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import {
  type Answer,
  type PermissionMode,
  type Question,
  type ReasoningEffort,
  type RunRequest,
  reasoningEfforts,
} from "./run.ts";

export const controlVersion = 1;

/**
 * What a host can do. `attend`: a person is present, as at the terminal. `trust`: the host is asked for trust before `init`.
 * `hold_calls`: no call runs before the host releases it.
 */
export const hostAbilities = ["answer", "attend", "trust", "tool_output", "subagents", "hold_calls"] as const;
export type HostAbility = (typeof hostAbilities)[number];

/** A line from the host. `id` is echoed by the reply or by the end of the turn; prompts need none. */
export type ControlLine =
  /** Opens the conversation with the host. `request` describes the run, if the command line leaves that to the host. */
  | { type: "hello"; version: number; can: HostAbility[]; request?: RunRequest }
  /** A user is present from now on. */
  | { type: "attend" }
  | { type: "steer"; text: string; id?: string }
  | { type: "withdraw"; prompt: string; id?: string }
  | { type: "interrupt"; reason?: string }
  | { type: "mode"; mode: PermissionMode }
  | { type: "model"; model: string; effort?: ReasoningEffort; id?: string }
  | { type: "answer"; question: string; hash: string; answer: Answer }
  | { type: "background"; call: string; id?: string }
  /** Lets a held tool call run. `agent` is the subagent that made it. */
  | { type: "run_call"; call: string; agent?: string }
  | { type: "compact" | "context" | "names"; id?: string }
  | { type: "rewind"; turn: number; id?: string }
  | { type: "aside"; text: string; id?: string };

/** A line to the host; on the wire `{"type": "control", "subtype": …}`. */
export type ControlNotice =
  /** Answers `hello`. `event_number` is that of `init`, which may have been written before the host asked for numbers. */
  | { subtype: "hello"; version: number; session_id: string; event_number?: number }
  | { subtype: "question"; question: Question }
  /** The question needs no answer any more. */
  | { subtype: "question_closed"; question: string }
  /**
   * The prompt with this id is over: `told`, answered by the last result before this line; `dropped`, never sent to the model,
   * with the reason.
   */
  | { subtype: "ended"; id: string; state: "told" | "dropped"; error?: string; error_code?: string }
  | { subtype: "reply"; id: string; value?: unknown; error?: string; error_code?: string };

export function controlNotice(notice: ControlNotice): object {
  return { type: "control", ...notice };
}

const word: Check = (value) => (isText(value) ? undefined : "must be a string that is not empty");
const mode = oneOf(...(["default", "force", "plan", "ask"] satisfies PermissionMode[]));
const effort = oneOf(...reasoningEfforts);

const answer = either(
  fields({ type: oneOf("yes"), always: flag, grant: oneOf("run", "project", "user", "sandbox"), wider: flag }, [
    "type",
  ]),
  fields({ type: oneOf("no"), reason: text }, ["type"]),
  fields({ type: oneOf("choices"), answers: listOf(object) }, ["type", "answers"]),
);

const line = (table: FieldTable, required: readonly string[] = Object.keys(table)) =>
  fields({ type: anything, id: word, ...table }, required);

const lines: Readonly<Record<ControlLine["type"] | "cancel", Check>> = {
  // Ignore unknown abilities, which belong to a later version.
  hello: line({ version: number, can: listOf(anything), request: object }, ["version", "can"]),
  attend: line({}),
  steer: line({ text: word }),
  withdraw: line({ prompt: word }),
  interrupt: line({ reason: text }, []),
  /** An older name of `interrupt`. */
  cancel: line({}),
  mode: line({ mode }),
  model: line({ model: word, effort }, ["model"]),
  answer: line({ question: word, hash: word, answer }),
  background: line({ call: word }),
  run_call: line({ call: word, agent: word }, ["call"]),
  compact: line({}),
  context: line({}),
  names: line({}),
  rewind: line({ turn: (value) => (Number.isInteger(value) ? positive(value) : "must be the number of a turn") }),
  aside: line({ text: word }),
};

/** Parses a control line from stdin: undefined if the value is not one, an error text if it is an invalid one. */
export function readControlLine(value: unknown): ControlLine | string | undefined {
  if (!isObject(value) || typeof value.type !== "string" || !Object.hasOwn(lines, value.type)) return undefined;
  const fault = lines[value.type as ControlLine["type"]](value);
  if (fault !== undefined) return fault.startsWith('"') ? fault : `a line of the type "${value.type}" ${fault}`;
  if (value.type === "cancel") return { type: "interrupt" };
  if (value.type !== "hello") return value as ControlLine;
  const knownAbilities = hostAbilities.filter((each) => (value.can as unknown[]).includes(each));
  return { ...value, can: knownAbilities } as ControlLine;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Parses a control line on the host's side. Returns undefined for lines unknown to this version, which the host skips. */
export function readControlNotice(line: JsonObject): ControlNotice | undefined {
  const { type: _type, ...notice } = line;
  const { subtype, id, question } = notice;
  switch (subtype) {
    case "hello":
      return typeof notice.version === "number" && isText(notice.session_id) ? (notice as ControlNotice) : undefined;
    case "question":
      return isObject(question) && isText(question.id) && isText(question.hash) && isText(question.type)
        ? (notice as ControlNotice)
        : undefined;
    case "question_closed":
      return isText(question) ? { subtype, question } : undefined;
    case "ended":
      return isText(id) && (notice.state === "told" || notice.state === "dropped")
        ? (notice as ControlNotice)
        : undefined;
    case "reply":
      return isText(id) ? (notice as ControlNotice) : undefined;
    default:
      return undefined;
  }
}
