// The studio's routes for the user's settings: lists them as `config` does, and changes them as `config set` does.
import * as v from "valibot";
import { type Route, route } from "../http/route.ts";
import { ownProgram } from "../own-program.ts";
import { failures } from "./rest-shapes.ts";

const settingShape = v.looseObject({
  name: v.string(),
  value: v.unknown(),
  source: v.string(),
  default: v.unknown(),
  meaning: v.string(),
  file: v.string(),
  /** `takes` describes a valid value in words; `words` lists all values if there are only a few. */
  takes: v.string(),
  words: v.optional(v.array(v.string())),
  /** The command that changes the setting, if `config set` does not. */
  changedBy: v.optional(v.string()),
});

export type ListedSetting = v.InferOutput<typeof settingShape>;

const name = v.pipe(v.string(), v.regex(/^\w[^\0\n]{0,199}$/, "is not the name of a setting."));

export const studioSettingRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/api/settings",
    summary: "The user's settings, as `config` lists them: value, source and meaning",
    replies: { 200: { description: "Settings", schema: v.object({ items: v.array(settingShape) }) }, ...failures(409) },
    handle: async ({ context }) => ({
      status: 200,
      body: { items: JSON.parse(await ownProgram(context, ["config", "list", "--format", "json"])) },
    }),
  }),
  route({
    method: "patch",
    path: "/api/settings",
    summary: "Change a setting as `config set` does; null removes it, so that the default holds again",
    body: v.strictObject({ name, value: v.nullable(v.pipe(v.string(), v.maxLength(10_000))) }),
    replies: {
      200: { description: "Saved, with the response", schema: v.object({ text: v.string() }) },
      ...failures(400, 409),
    },
    async handle({ context, body: { name, value } }) {
      const words = value === null ? ["config", "unset", name] : ["config", "set", name, "--", value];
      return { status: 200, body: { text: await ownProgram(context, words) } };
    },
  }),
];
