// Control lines: what a host in another process and a run say to each other beside prompts and events. Version 1.
// A host that never says `hello` meets none of them.
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
 * What a host can do. `attend`: a person is in front of the run, as at the terminal. `trust`: be asked for it before `init`.
 * `hold_calls`: no call runs before the host has said so.
 */
export const hostAbilities = ["answer", "attend", "trust", "tool_output", "subagents", "hold_calls"] as const;
export type HostAbility = (typeof hostAbilities)[number];

/** From the host. `id`: what a reply, or the end of its turn, names; prompts need none. */
export type ControlLine =
  /** `request`: what the run shall be, where the command line says that it comes from here. */
  | { type: "hello"; version: number; can: HostAbility[]; request?: RunRequest }
  /** A person came in front of the run. */
  | { type: "attend" }
  | { type: "steer"; text: string; id?: string }
  | { type: "withdraw"; prompt: string; id?: string }
  | { type: "interrupt"; reason?: string }
  | { type: "mode"; mode: PermissionMode }
  | { type: "model"; model: string; effort?: ReasoningEffort; id?: string }
  | { type: "answer"; question: string; hash: string; answer: Answer }
  | { type: "background"; call: string; id?: string }
  /** A call that was held may run. `agent`: the subagent that made it. */
  | { type: "run_call"; call: string; agent?: string }
  | { type: "compact" | "context" | "names"; id?: string }
  | { type: "rewind"; turn: number; id?: string }
  | { type: "aside"; text: string; id?: string };

/** To the host; on the wire `{"type": "control", "subtype": …}`. */
export type ControlNotice =
  /** Answers `hello`. `event_number`: of `init`, which may have been written before it was known that numbers are wanted. */
  | { subtype: "hello"; version: number; session_id: string; event_number?: number }
  | { subtype: "question"; question: Question }
  /** Nobody waits for its answer any more. */
  | { subtype: "question_closed"; question: string }
  /** The prompt with this id is over: `told`, answered by the last result before this line; `dropped`, never told, and why. */
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

/** What each kind of line may hold. */
const lines: Readonly<Record<ControlLine["type"] | "cancel", Check>> = {
  // What a later version can do is no concern of this one.
  hello: line({ version: number, can: listOf(anything), request: object }, ["version", "can"]),
  attend: line({}),
  steer: line({ text: word }),
  withdraw: line({ prompt: word }),
  interrupt: line({ reason: text }, []),
  /** Its older name. */
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

/** Undefined: it is not a control line. A text: what is wrong with it. */
export function readControlLine(value: unknown): ControlLine | string | undefined {
  if (!isObject(value) || typeof value.type !== "string" || !Object.hasOwn(lines, value.type)) return undefined;
  const fault = lines[value.type as ControlLine["type"]](value);
  if (fault !== undefined) return fault.startsWith('"') ? fault : `a line of the type "${value.type}" ${fault}`;
  if (value.type === "cancel") return { type: "interrupt" };
  if (value.type !== "hello") return value as ControlLine;
  const known = hostAbilities.filter((each) => (value.can as unknown[]).includes(each));
  return { ...value, can: known } as ControlLine;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The host's end: undefined where it is no line of this version, which is then to be passed over. */
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
