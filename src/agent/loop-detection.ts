// Detects repetition by the model: call ids that were used before, and the same calls over and over.
import { isObject } from "../json/object.ts";
import type { Part, ToolCallPart } from "../protocol/message.ts";

/**
 * The calls of a turn by id. `repeated` holds calls that were sent again unchanged in a later reply and must not run again, unless the
 * model reuses ids for different calls, as some servers do, so that ids mean nothing.
 */
export type CallIds = { made: Map<string, string>; repeated: Set<string>; areReused: boolean };

export function newCallIds(): CallIds {
  return { made: new Map(), repeated: new Set(), areReused: false };
}

/** Makes call ids unique: a repeated id would run a call twice and leave a result that answers no call. */
export function withUniqueCalls(parts: Part[], ids: CallIds, modelCallId: string): Part[] {
  const seen = new Set<string>();
  const keptParts: Part[] = [];
  for (const part of parts) {
    if (part.type !== "tool_call") {
      keptParts.push(part);
      continue;
    }
    const id = part.id || `call_${modelCallId}_${seen.size}`;
    if (seen.has(id)) continue;
    seen.add(id);
    keptParts.push({ ...part, id: idInTurn({ ...part, id }, ids) });
  }
  return keptParts;
}

function idInTurn(call: ToolCallPart, ids: CallIds): string {
  const callText = JSON.stringify([call.name, call.args]);
  const before = ids.made.get(call.id);
  ids.areReused ||= before !== undefined && before !== callText;
  if (before === undefined) {
    ids.made.set(call.id, callText);
    return call.id;
  }
  const id = `${call.id}_${ids.made.size}`;
  ids.made.set(id, callText);
  if (!ids.areReused) ids.repeated.add(id);
  return id;
}

export type RepeatCounter = {
  readonly count: number;
  add(calls: readonly ToolCallPart[], results: readonly string[]): void;
};

/** A loop may span several replies: A, B, A, B is no progress either. */
const longestCycle = 4;

const newId = /\b[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** Repeated calls that include a pause are polling, not a loop. */
const pause = /(^|[\s;&|(])(sleep|wait|inotifywait)\s/;

function isPause({ name, args }: ToolCallPart): boolean {
  const { command, blockUntilMs } = isObject(args) ? args : {};
  if (name === "Await") return Number(blockUntilMs) > 0;
  return typeof command === "string" && pause.test(command);
}

/** Formats the warning that the model receives when it repeats the same calls, before the run is ended for it. */
export function repeatWarning(count: number): string {
  return `You have made the same calls ${count} times in a row, with the same results. They will not change: try something else, or say what blocks you. To wait for something, put a pause (sleep) into the command.`;
}

/** Replaces a long signature with its hash, since several signatures are kept in memory. */
function hashIfLong(text: string): string {
  if (text.length < 10_000) return text;
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

export function countRepeats(): RepeatCounter {
  const latest: string[] = [];
  /** For each cycle length n, the number of replies in a row that equalled the reply n replies before. */
  const alike = new Array<number>(longestCycle).fill(0);
  return {
    get count() {
      return latest.length === 0
        ? 0
        : 1 + Math.max(...alike.map((replies, index) => Math.floor(replies / (index + 1))));
    },
    add(calls, results) {
      if (calls.some(isPause)) {
        latest.length = 0;
        alike.fill(0);
        return;
      }
      // Values that are new at each call, such as a subagent's id, are not progress.
      const comparable = results.map((result) => result.replace(newId, ""));
      const signature = hashIfLong(JSON.stringify([calls.map((call) => [call.name, call.args]), comparable]));
      for (let index = 0; index < longestCycle; index++) {
        alike[index] = latest[index] === signature ? alike[index]! + 1 : 0;
      }
      latest.unshift(signature);
      latest.splice(longestCycle);
    },
  };
}
