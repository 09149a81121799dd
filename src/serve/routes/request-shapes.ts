// The RunRequest fields that a client may set: all that restrict a run. Fields that grant something are for the service's owner.
import * as v from "valibot";
import type { JsonObject } from "../../json/object.ts";
import { failReasons } from "../../protocol/run.ts";
import { type RestrictingField, requestFields } from "../../protocol/run-request.ts";
import { cliNames, priorities } from "../fleet.ts";
import { HttpError, type Schema } from "../http/route.ts";

const words = v.array(v.string());

/** A new restricting field does not compile until it is added here. `ephemeral` is refused later, since a service stores its runs. */
const shapes = {
  mode: v.picklist(["agent", "plan", "ask"]),
  allowedTools: words,
  disallowedTools: words,
  permissions: v.strictObject({ deny: v.optional(words) }),
  pluginDirs: words,
  hooks: words,
  sandbox: v.picklist(["enabled"]),
  unlistedCommands: v.picklist(["ask"]),
  failOn: v.array(v.picklist(failReasons)),
  requiredServers: words,
  limits: v.strictObject({
    maxTurns: v.optional(v.number()),
    maxTimeMs: v.optional(v.number()),
    maxCost: v.optional(v.number()),
  }),
  ephemeral: v.boolean(),
} satisfies Record<RestrictingField, Schema>;

/** Combines the schema for the OpenAPI document with the check that all entry points share. */
function withShape<Shape extends Schema>(name: RestrictingField, shape: Shape) {
  return v.optional(
    v.pipe(
      shape,
      v.check(
        (value) => requestFields[name].check(value) === undefined,
        ({ input }) => `${requestFields[name].check(input)}.`,
      ),
    ),
  );
}

type Shapes = typeof shapes;
type Optional = { [Name in keyof Shapes]: v.OptionalSchema<v.GenericSchema<v.InferOutput<Shapes[Name]>>, undefined> };

export const restrictingShapes = Object.fromEntries(
  Object.entries(shapes).map(([name, shape]) => [name, withShape(name as RestrictingField, shape)]),
) as unknown as Optional;

/** For fleets: the source of the files, in the format of `--source`, and which workers may take the run. */
export const placeShapes = {
  workspace: v.optional(v.string()),
  source: v.optional(v.string()),
  labels: v.optional(v.record(v.string(), v.string())),
  priority: v.optional(v.picklist(priorities)),
  onWorkerLoss: v.optional(v.picklist(["continue", "interrupt"])),
  cli: v.optional(v.picklist(cliNames), "courser"),
  name: v.optional(v.pipe(v.string(), v.maxLength(200))),
  /** Whether to allow everything except deny rules and protected paths. */
  force: v.optional(v.boolean()),
};

/** Picks the fields of a request body that restrict a run. */
export function restrictionsIn(body: { [Name in RestrictingField]?: unknown }): object {
  return Object.fromEntries(
    Object.keys(shapes).flatMap((name) => {
      const value = body[name as RestrictingField];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Throws for fields that only the owner of the service may grant. `force` is the one grant that clients may give. */
export function refuseGrants(body: JsonObject): void {
  const named = Object.entries(requestFields).flatMap(([name, { effect }]) =>
    effect === "grants" && name !== "force" && body[name] !== undefined ? [`"${name}"`] : [],
  );
  if (named.length === 0) return;
  throw new HttpError(403, "forbidden", `Only the owner of the service can grant ${named.join(", ")}.`);
}
