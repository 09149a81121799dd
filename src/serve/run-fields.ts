// Checks the fields of a run that are not part of its RunRequest, for the lines of a batch and for programs.
import { type Check, either, fields, listOf, oneOf, text } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import type { RunRequest } from "../protocol/run.ts";
import { cliNames, type Placement, priorities } from "./fleet.ts";

const nonEmpty: Check = (value) => (typeof value === "string" && value.trim() !== "" ? undefined : "must be a text");
export const labels: Check = (value) =>
  isObject(value) && Object.values(value).every((each) => typeof each === "string")
    ? undefined
    : "must be an object of texts";

/** An image, given as a path or as base64 data. */
export const image = either(text, fields({ mime: text, base64: text }, ["mime", "base64"]));

export const repositories = [
  fields({ type: oneOf("git"), from: text, ref: text }, ["type", "from"]),
  fields({ type: oneOf("folder"), path: text }, ["type", "path"]),
];

export const source = either(text, ...repositories);

/** Returns the request's fields for a mode. `default` only means that the run is not forced. */
export function modeFields(mode: string | undefined): Pick<RunRequest, "mode" | "force"> {
  if (mode === "force") return { force: true };
  if (mode === "default") return { force: false };
  return mode === undefined ? {} : { mode: mode as NonNullable<RunRequest["mode"]> };
}

/** Returns an empty object if any worker may take the run. */
export function placementOf({ pool, labels, priority }: { [Name in keyof Placement]: Placement[Name] | undefined }): {
  placement?: Placement;
} {
  if (pool === undefined && !labels && !priority) return {};
  return {
    placement: { ...(pool !== undefined && { pool }), ...(labels && { labels }), ...(priority && { priority }) },
  };
}

export const prompt = fields({ text, data: text, images: listOf(image) }, ["text"]);

export const runFields = {
  prompt: either(nonEmpty, fields({ text: nonEmpty, data: text, images: listOf(image) }, ["text"])),
  cli: oneOf(...cliNames),
  name: text,
  source,
  pool: text,
  labels,
  priority: oneOf(...priorities),
  onWorkerLoss: oneOf("continue", "interrupt"),
  mode: oneOf("default", "force", "plan", "ask", "agent"),
} satisfies Record<string, Check>;
