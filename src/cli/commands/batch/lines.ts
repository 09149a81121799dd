// Parses the lines of a batch, one run each. All are checked before the first run starts; only their positions in the file are
// kept, so that a long batch needs no more memory than its file.
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { type Check, fields, listOf } from "../../../json/checks.ts";
import { isObject } from "../../../json/object.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import type { Prompt, RunRequest } from "../../../protocol/run.ts";
import { readRunRequest } from "../../../protocol/run-request.ts";
import type { RunSpec } from "../../../serve/fleet.ts";
import { image, modeFields, placementOf, runFields } from "../../../serve/run-fields.ts";
import { readSource, type SourceChoice } from "../../../serve/send-files.ts";
import { firstLines } from "../../../text/first-of.ts";

/** `id` is given in the line or derived from its text. `number` is the line number, from 1. */
export type BatchItem = { id: string; number: number; start: number; end: number };

/** A line of the batch file. `request` contains only fields that the line itself sets. */
export type BatchRun = Pick<RunSpec, "cli" | "placement" | "onWorkerLoss"> & {
  name?: string;
  prompt: Prompt;
  request: Partial<RunRequest>;
  source?: SourceChoice;
};

const identifier: Check = (value) =>
  (typeof value === "string" && value !== "") || typeof value === "number" ? undefined : "must be a text or a number";

/** Fields that a batch line may have in addition to those of a RunRequest. */
const ownFields = { ...runFields, id: identifier, images: listOf(image) };

const checkOwn = fields(ownFields, ["prompt"]);

export type BatchContext = {
  /** The folder that relative paths in the batch file are resolved against. */
  folder: string;
  /** The workspace of lines that name none; `cli` is the default agent in the same way. */
  workspace: string;
  cli: RunSpec["cli"];
};

export function readLine(line: string, { folder, workspace, cli: usualCli }: BatchContext): BatchRun {
  const value = parse(line);
  const lineFields = Object.fromEntries(Object.entries(value).filter(([name]) => name in ownFields));
  const fault = checkOwn(lineFields);
  if (fault !== undefined) throw usageError(`${fault.startsWith('"') ? "" : "It "}${fault}.`);
  // biome-ignore lint/suspicious/noExplicitAny: checkOwn has checked every field
  const { id: _id, prompt, images, cli, name, source, pool, labels, priority, onWorkerLoss, mode } = lineFields as any;
  const rest = Object.fromEntries(Object.entries(value).filter(([field]) => !(field in ownFields)));
  const place = typeof value["workspace"] === "string" ? resolve(folder, value["workspace"]) : workspace;
  const request = { ...rest, ...modeFields(mode), ...(value["workspace"] !== undefined && { workspace: place }) };
  readRunRequest({ ...request, workspace: place });
  const asked: Prompt = typeof prompt === "string" ? { text: prompt } : prompt;
  const pictures = [...(asked.images ?? []), ...(images ?? [])].map(
    (each: string | { mime: string; base64: string }) => (typeof each === "string" ? resolve(folder, each) : each),
  );
  return {
    cli: cli ?? usualCli,
    prompt: { ...asked, ...(pictures.length > 0 && { images: pictures }) },
    request,
    ...(name !== undefined && { name }),
    ...(source !== undefined && { source: typeof source === "string" ? readSource(source, '"source"') : source }),
    ...placementOf({ pool, labels, priority }),
    ...(onWorkerLoss && { onWorkerLoss }),
  };
}

function parse(line: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw usageError(`It is not JSON: ${(error as Error).message}.`);
  }
  if (!isObject(value)) throw usageError('It must be an object, such as {"prompt": "…"}.');
  return value;
}

const maxFaults = 10;

/** Parses the lines of a batch; `check` may throw for further reasons. Throws one UserError that names every invalid line. */
export function readItems(bytes: Buffer, context: BatchContext, check: (run: BatchRun) => void): BatchItem[] {
  const items: BatchItem[] = [];
  const numbers = new Map<string, number>();
  const faults: string[] = [];
  for (const { number, start, end } of splitBatchLines(bytes)) {
    const line = bytes.toString("utf8", start, end);
    try {
      check(readLine(line, context));
      const lineId = (JSON.parse(line) as { id?: string | number }).id;
      const same = lineId === undefined ? undefined : numbers.get(String(lineId));
      if (same !== undefined) throw usageError(`Its id ${JSON.stringify(lineId)} is that of line ${same}.`);
      const id = lineId === undefined ? madeId(line, numbers) : String(lineId);
      numbers.set(id, number);
      items.push({ id, number, start, end });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      faults.push(`line ${number}: ${error.message}`);
    }
  }
  if (faults.length > 0) throw faultyLinesError(faults);
  if (items.length === 0) throw usageError('There are no runs in it. A line is a run: {"prompt": "…"}');
  return items;
}

function faultyLinesError(faults: readonly string[]): UserError {
  const lines = firstLines(faults, maxFaults).join("\n");
  const count = faults.length === 1 ? "A line is wrong" : `${faults.length} lines are wrong`;
  return usageError(`${count}, and no run was begun:\n${lines}`);
}

/** Derives an id from the line's text. Identical lines are separate runs and get different ids. */
function madeId(line: string, taken: ReadonlyMap<string, number>): string {
  const id = createHash("sha256").update(line.trim()).digest("hex").slice(0, 12);
  for (let count = 1; ; count++) {
    const each = count === 1 ? id : `${id}-${count}`;
    if (!taken.has(each)) return each;
  }
}

function* splitBatchLines(bytes: Buffer): Generator<{ number: number; start: number; end: number }> {
  let start = bytes.subarray(0, 3).toString("latin1") === "\u00ef\u00bb\u00bf" ? 3 : 0;
  for (let number = 1; start < bytes.length; number++) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    if (bytes.toString("utf8", start, end).trim() !== "") yield { number, start, end };
    start = end + 1;
  }
}
