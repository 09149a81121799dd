// Control lines: what a host in another process and a run say to each other beside prompts and events. Version 1.
// A host that never says `hello` meets none of them.
import { isObject, type JsonObject } from "../json/object.ts";
import type { Answer, PermissionMode, Question, ReasoningEffort } from "./run.ts";

export const controlVersion = 1;

/** What a host can do. `trust`: be asked for it before `init`. `hold_calls`: no call runs before the host has said so. */
export const hostAbilities = ["answer", "trust", "tool_output", "subagents", "hold_calls"] as const;
export type HostAbility = (typeof hostAbilities)[number];

/** From the host. `id`: what a reply, or the end of its turn, names; prompts need none. */
export type ControlLine =
  | { type: "hello"; version: number; can: HostAbility[] }
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

type Check = (line: JsonObject) => ControlLine | string;

const modes: readonly unknown[] = ["default", "force", "plan", "ask"] satisfies PermissionMode[];
const efforts: readonly unknown[] = ["low", "medium", "high"] satisfies ReasoningEffort[];

/** Each kind of line: itself as data, or what it lacks. */
const lines: Readonly<Record<ControlLine["type"] | "cancel", Check>> = {
  hello({ version, can }) {
    if (typeof version !== "number" || !Array.isArray(can)) return '"version" must be a number, "can" a list';
    // What a later version can do is no concern of this one.
    return { type: "hello", version, can: hostAbilities.filter((each) => can.includes(each)) };
  },
  steer: ({ text, id }) => (isText(text) ? { type: "steer", text, ...idOf(id) } : '"text" must be a string'),
  withdraw: ({ prompt, id }) =>
    isText(prompt) ? { type: "withdraw", prompt, ...idOf(id) } : '"prompt" must be the id of a prompt',
  interrupt: ({ reason }) => ({ type: "interrupt", ...(isText(reason) && { reason }) }),
  /** Its older name. */
  cancel: () => ({ type: "interrupt" }),
  mode: ({ mode }) =>
    modes.includes(mode) ? { type: "mode", mode: mode as PermissionMode } : `"mode" must be one of ${modes.join(", ")}`,
  model({ model, effort, id }) {
    if (!isText(model)) return '"model" must be a string';
    if (effort !== undefined && !efforts.includes(effort)) return `"effort" must be one of ${efforts.join(", ")}`;
    return { type: "model", model, ...(effort !== undefined && { effort: effort as ReasoningEffort }), ...idOf(id) };
  },
  answer({ question, hash, answer }) {
    if (!isText(question) || !isText(hash)) return '"question" and "hash" must be those of the question';
    const read = answerOf(answer);
    return read ? { type: "answer", question, hash, answer: read } : '"answer" must be of type yes, no or choices';
  },
  background: ({ call, id }) =>
    isText(call) ? { type: "background", call, ...idOf(id) } : '"call" must be the id of a call',
  run_call: ({ call, agent }) =>
    isText(call) ? { type: "run_call", call, ...(isText(agent) && { agent }) } : '"call" must be the id of a call',
  compact: ({ id }) => ({ type: "compact", ...idOf(id) }),
  context: ({ id }) => ({ type: "context", ...idOf(id) }),
  names: ({ id }) => ({ type: "names", ...idOf(id) }),
  rewind: ({ turn, id }) =>
    typeof turn === "number" && Number.isInteger(turn) && turn > 0
      ? { type: "rewind", turn, ...idOf(id) }
      : '"turn" must be the number of a turn',
  aside: ({ text, id }) => (isText(text) ? { type: "aside", text, ...idOf(id) } : '"text" must be a string'),
};

/** Undefined: it is not a control line. A text: what is wrong with it. */
export function readControlLine(line: unknown): ControlLine | string | undefined {
  if (!isObject(line) || typeof line.type !== "string" || !Object.hasOwn(lines, line.type)) return undefined;
  return lines[line.type as ControlLine["type"]](line);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function idOf(id: unknown): { id?: string } {
  return isText(id) ? { id } : {};
}

function isGrant(value: unknown): value is "run" | "project" | "user" {
  return value === "run" || value === "project" || value === "user";
}

function answerOf(value: unknown): Answer | undefined {
  if (!isObject(value)) return undefined;
  switch (value.type) {
    case "yes":
      return {
        type: "yes",
        ...(value.always === true && { always: true }),
        ...(isGrant(value.grant) && { grant: value.grant }),
      };
    case "no":
      return { type: "no", ...(isText(value.reason) && { reason: value.reason }) };
    case "choices":
      return Array.isArray(value.answers) && value.answers.every(isObject)
        ? ({ type: "choices", answers: value.answers } as unknown as Answer)
        : undefined;
    default:
      return undefined;
  }
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
