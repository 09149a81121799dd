// Checks the options of `courser-agent/fleet` at run time, for callers without type checking.
import {
  callback,
  either,
  type FieldTable,
  fields,
  flag,
  object,
  oneOf,
  positive,
  signal,
  text,
  words,
} from "../../json/checks.ts";
import { type CheckedCall, checkOptions } from "../../protocol/check-options.ts";
import { requestChecks } from "../../protocol/run-request.ts";
import { runFields, source } from "../run-fields.ts";

const follow = {
  signal,
  onQuestion: callback,
  from: (value: unknown) => (typeof value === "number" && value >= 0 ? undefined : "must be a position"),
};

const { worktree: _worktree, ...request } = requestChecks;

const tables = {
  fleet: { env: object, program: words, concurrency: positive },
  run: {
    ...request,
    ...runFields,
    ...follow,
    workspace: text, // the workspace may be a relative path
    source: either(source, fields({ type: oneOf("upload"), isWhole: flag }, ["type"])),
    onSent: callback,
  },
  follow,
} satisfies Record<string, FieldTable>;

const calls: Record<keyof typeof tables, CheckedCall> = {
  fleet: { example: "url, { … }" },
  run: { example: "{ prompt: '…' }", required: "prompt" },
  follow: { example: "id, { … }" },
};

/** Option names of `start` and of the command line, mapped to the names used here. */
const habits: ReadonlyMap<string, string> = new Map([
  ["cwd", "workspace"],
  ["tool", "cli"],
  ["agent", "cli"],
  ["permissionMode", "mode"],
  ["yolo", "mode: 'force'"],
  ["resume", "chat: { type: 'resume', id }"],
  ["budget", "limits: { maxTurns, maxTimeMs, maxCost }"],
  ["timeoutMs", "limits: { maxTimeMs }"],
  ["timeout", "limits: { maxTimeMs }"],
  ["maxTurns", "limits: { maxTurns }"],
  ["label", "labels: { name: 'value' }"],
  ["canUseTool", "onQuestion"],
  ["addDirs", "roots"],
  ["repository", "source: 'git:URL#REF'"],
]);

/** Throws a UserError when an option is unknown or invalid. */
export function checkCall(name: keyof typeof tables, options: unknown): void {
  checkOptions(name, options, tables[name], { ...calls[name], habits });
}
