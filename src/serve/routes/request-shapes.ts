// The fields of a RunRequest that a client may give: every one that restricts a run. What grants something is for the owner of the service.
import * as v from "valibot";
import type { JsonObject } from "../../json/object.ts";
import { failReasons } from "../../protocol/run.ts";
import { type RestrictingField, requestFields } from "../../protocol/run-request.ts";
import { HttpError, type Schema } from "../http/route.ts";

const words = v.array(v.string());

/** One that is new does not compile before it is here. `unkept`: what a service runs is stored, so that it is refused. */
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
  unkept: v.boolean(),
} satisfies Record<RestrictingField, Schema>;

/** The shape for the document, and the check that every door has. */
function shaped<Shape extends Schema>(name: RestrictingField, shape: Shape) {
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
  Object.entries(shapes).map(([name, shape]) => [name, shaped(name as RestrictingField, shape)]),
) as unknown as Optional;

/** What of a body says something about the run itself. */
export function restrictionsIn(body: { [Name in RestrictingField]?: unknown }): object {
  return Object.fromEntries(
    Object.keys(shapes).flatMap((name) => {
      const value = body[name as RestrictingField];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Throws for what a run may only be granted by the owner of the service. `force` is the one grant that clients may give. */
export function refuseGrants(body: JsonObject): void {
  const named = Object.entries(requestFields).flatMap(([name, { effect }]) =>
    effect === "grants" && name !== "force" && body[name] !== undefined ? [`"${name}"`] : [],
  );
  if (named.length === 0) return;
  throw new HttpError(403, "forbidden", `Only the owner of the service can grant ${named.join(", ")}.`);
}
