// The table of RunRequest fields: the valid values of each, whether it restricts a run or grants something, and how two requests
// are merged. Every entry point reads this table, so a new field is known to all of them.
import { anything, type Check, either, fields, flag, listOf, oneOf, positive, text } from "../json/checks.ts";
import { definedFields } from "../json/object.ts";
import { usageError } from "./error-codes.ts";
import { ruleFault } from "./permission-rule.ts";
import { profileNames } from "./profiles.ts";
import { endpointTypes, failReasons, type RunRequest, reasoningEfforts } from "./run.ts";

/** Which of two merged requests may grant permissions. */
type Granting = "base" | "more";

type Field<Effect extends string, Value> = {
  check: Check;
  /** `restricts`: both sides add up. `grants`: only one side counts. `neutral`: the later value wins. */
  effect: Effect;
  join(base: Value | undefined, more: Value | undefined, granting: Granting): Value | undefined;
};

const neutral = <Value>(check: Check): Field<"neutral", Value> => ({
  check,
  effect: "neutral",
  join: (base, more) => more ?? base,
});

const grants = <Value>(check: Check): Field<"grants", Value> => ({ check, effect: "grants", join: mergeGrant });

const restricts = <Value>(check: Check, join: Field<"restricts", Value>["join"]): Field<"restricts", Value> => ({
  check,
  effect: "restricts",
  join,
});

function mergeGrant<Value>(base: Value | undefined, more: Value | undefined, granting: Granting): Value | undefined {
  return granting === "more" ? (more ?? base) : base;
}

function uniteLists<Item>(base?: readonly Item[], more?: readonly Item[]): readonly Item[] | undefined {
  return base && more ? [...new Set([...base, ...more])] : (base ?? more);
}

/** For these fields, the restricting value applies whichever request has it. All other values are grants. */
const strict =
  <Value>(restricting: Value): Field<string, Value>["join"] =>
  (base, more, granting) =>
    base === restricting || more === restricting ? restricting : mergeGrant(base, more, granting);

const modes = ["agent", "plan", "ask"] as const;

const path: Check = (value) =>
  typeof value === "string" && /^([/\\]|[a-z]:[/\\])/i.test(value) ? undefined : "must be an absolute path";
const amount: Check = (value) => (typeof value === "number" && value >= 0 ? undefined : "must be a number from 0 on");
const count: Check = (value) => (Number.isSafeInteger(value) ? positive(value) : "must be a positive integer");

/** Rejects an id that a driven CLI would parse as a flag, except `-1` (the latest chat), `-2` (the one before), and so on. */
const chatId: Check = (value) =>
  typeof value === "string" && /^(?:-\d+$|[^-\s])/.test(value)
    ? undefined
    : "must be the id of a chat, which does not start with a dash";

const chat = either(
  fields({ type: oneOf("new"), id: chatId, name: text }, ["type"]),
  fields({ type: oneOf("resume"), id: chatId, orNew: flag, fork: flag, newId: chatId, name: text }, ["type", "id"]),
);

export const requestFields = {
  workspace: neutral(path),
  worktree: neutral(fields({ name: text, base: text, skipSetup: flag })),
  roots: grants(listOf(path)),
  chat: neutral(chat),
  ephemeral: restricts(flag, strict(true)),
  mode: restricts(oneOf(...modes), (base, more) => modes.findLast((mode) => mode === base || mode === more)),
  force: grants(flag),
  trust: grants(flag),
  model: neutral(text),
  effort: neutral(oneOf(...reasoningEfforts)),
  fallbackModels: neutral(listOf(text)),
  endpoint: grants(text),
  endpointType: grants(oneOf(...endpointTypes)),
  systemPrompt: neutral(text),
  appendSystemPrompt: neutral(text),
  allowedTools: restricts(listOf(text), (base, more) => (base && more ? inBoth(base, more) : (base ?? more))),
  disallowedTools: restricts(listOf(text), uniteLists),
  permissions: restricts(
    fields({ allow: listOf(ruleFault), deny: listOf(ruleFault) }),
    (base, more, granting) =>
      (base || more) &&
      definedFields({
        allow: mergeGrant(base?.allow, more?.allow, granting),
        deny: uniteLists(base?.deny, more?.deny),
      }),
  ),
  browser: grants(flag),
  mcpConfigs: grants(listOf(text)),
  approvedServers: grants(either(oneOf("all"), listOf(text))),
  approvedServerCalls: { ...grants(oneOf("allow", "ask")), join: strict("ask") },
  pluginDirs: restricts(listOf(path), uniteLists),
  hooks: restricts(listOf(text), uniteLists),
  withoutLocalHooks: grants(flag),
  sandbox: restricts(oneOf("enabled", "disabled"), strict("enabled")),
  unlistedCommands: restricts(oneOf("sandbox", "ask"), (base, more) =>
    base === "ask" || more === "ask" ? "ask" : (base ?? more),
  ),
  autoReview: grants(flag),
  askCommand: grants(text),
  single: neutral(flag),
  failOn: restricts(listOf(oneOf(...failReasons)), uniteLists),
  requiredServers: restricts(listOf(text), uniteLists),
  // The price can only be granted, since a lower one raises the effective cost limit.
  price: grants(fields({ input: amount, output: amount }, ["input", "output"])),
  limits: restricts(fields({ maxTurns: count, maxTimeMs: positive, maxCost: positive }), (base, more) =>
    base && more
      ? definedFields({
          maxTurns: lesserOf(base.maxTurns, more.maxTurns),
          maxTimeMs: lesserOf(base.maxTimeMs, more.maxTimeMs),
          maxCost: lesserOf(base.maxCost, more.maxCost),
        })
      : (base ?? more),
  ),
  answerSchema: neutral(anything),
  compat: neutral(oneOf(...profileNames)),
} satisfies { [Name in keyof Required<RunRequest>]: Field<"restricts" | "grants" | "neutral", RunRequest[Name]> };

type Fields = typeof requestFields;
export type RestrictingField = {
  [Name in keyof Fields]: Fields[Name]["effect"] extends "restricts" ? Name : never;
}[keyof Fields];

const table: Readonly<Record<string, Field<string, unknown>>> = requestFields as never;

export const requestChecks = Object.fromEntries(
  Object.entries(table).map(([name, { check }]) => [name, check]),
) as Readonly<Record<keyof RunRequest, Check>>;

const checkWhole = fields(requestChecks, ["workspace"]);

/** Checks a run request, and returns it unchanged. Throws a UserError that names an unknown or invalid field. */
export function readRunRequest(value: unknown): RunRequest {
  const fault = checkWhole(value);
  if (fault !== undefined) throw usageError(`The run request ${fault}.`);
  return value as RunRequest;
}

/**
 * Merges `more` into `base`; the result is never weaker than either. Restrictions add up. Grants come from `base`, unless
 * `granting` is "more": then those of `more` replace them. An absent value changes nothing. The modes from loose to strict are
 * force, agent, plan, ask.
 */
export function restrict(base: RunRequest, more: Partial<RunRequest>, granting: Granting = "base"): RunRequest {
  const { mode, ...loose } = more;
  // `more` requests force, which it may not grant
  const isLoose = mode === "agent" && more.force && granting === "base";
  const sides = [withoutForce(base), withoutForce(isLoose ? loose : more)] as const;
  const isForbidden = sides.some(({ force }) => force === false);
  const joined = Object.entries(table).map(([name, { join }]) => {
    const [left, right] = sides.map((side) => side[name as keyof RunRequest]);
    return [name, name === "force" && isForbidden ? false : join(left, right, granting)] as const;
  });
  return definedFields(Object.fromEntries(joined)) as RunRequest;
}

/** Forbids force if the request names the mode `agent` without force, which is stricter. */
function withoutForce(request: Partial<RunRequest>): Partial<RunRequest> {
  return request.mode === "agent" && !request.force ? { ...request, force: false } : request;
}

function lesserOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** Returns the tool names that both lists cover. A pattern, `docs:*` or `mcp`, covers the matching names of the other list. */
function inBoth(base: readonly string[], more: readonly string[]): readonly string[] {
  const both = base.flatMap((one) =>
    more.flatMap((other) => (coversTool(other, one) ? [one] : coversTool(one, other) ? [other] : [])),
  );
  return [...new Map(both.map((name) => [name.toLowerCase(), name])).values()];
}

function coversTool(wide: string, narrow: string): boolean {
  const [all, one] = [wide.toLowerCase(), narrow.toLowerCase()];
  return all === one || (all === "mcp" && /[:-]/.test(one)) || (all.endsWith(":*") && one.startsWith(all.slice(0, -1)));
}
