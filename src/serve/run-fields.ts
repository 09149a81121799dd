// What a user says of a run beside the fields of its RunRequest: in the lines of a batch, and in programs.
import { type Check, either, fields, listOf, oneOf, text } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import type { RunRequest } from "../protocol/run.ts";
import { cliNames, priorities } from "./fleet.ts";

const nonEmpty: Check = (value) => (typeof value === "string" && value.trim() !== "" ? undefined : "must be a text");
const labels: Check = (value) =>
  isObject(value) && Object.values(value).every((each) => typeof each === "string")
    ? undefined
    : "must be an object of texts";

/** A file, or the picture itself. */
export const image = either(text, fields({ mime: text, base64: text }, ["mime", "base64"]));

/** As its address, or in fields. */
export const source = either(
  text,
  fields({ type: oneOf("git"), from: text, ref: text }, ["type", "from"]),
  fields({ type: oneOf("folder"), path: text }, ["type", "path"]),
);

/** `default`: nothing but that it is not force. */
export function modeFields(mode: string | undefined): Pick<RunRequest, "mode" | "force"> {
  if (mode === "force") return { force: true };
  if (mode === "default") return { force: false };
  return mode === undefined ? {} : { mode: mode as NonNullable<RunRequest["mode"]> };
}

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
