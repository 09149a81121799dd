// Flags of a run for a fleet: its source of files, the workers that may take it, and what happens when a worker dies.
import { isAbsolute, resolve } from "node:path";
import { tryParse } from "../json/object.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { Prompt, RunRequest } from "../protocol/run.ts";
import { readRunRequest, restrict } from "../protocol/run-request.ts";
import { readImage } from "../run/images.ts";
import type { Placement, RunSpec } from "../serve/fleet.ts";
import { placementOf } from "../serve/run-fields.ts";
import { readSource, type SourceChoice } from "../serve/send-files.ts";
import { fleetUrl } from "./commands/runs/context.ts";
import { type FlagValues, flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { settledRequest } from "./run-request.ts";

/** Returns where a run's files come from. By default, runs here work in place; runs on a fleet get an upload. */
export function sourceChoice(invocation: Pick<Invocation, "line" | "env">): SourceChoice {
  const sourceFlag = flagText(invocation.line.flags, "source");
  if (sourceFlag !== undefined) return readSource(sourceFlag);
  return { type: fleetUrl(invocation) === undefined ? "none" : "upload" };
}

export function placementFlags(
  invocation: Pick<Invocation, "line" | "env">,
): Pick<RunSpec, "placement" | "onWorkerLoss"> {
  const { flags } = invocation.line;
  const pool = flagText(flags, "pool");
  const labels = labelsOf(flagList(flags, "label"));
  const priority = flagText(flags, "priority") as Placement["priority"];
  if (fleetUrl(invocation) === undefined && (pool !== undefined || labels))
    throw usageError(`--${pool === undefined ? "label" : "pool"} chooses among workers of a fleet: --fleet nats://…`);
  const loss = flagText(flags, "on-worker-loss") as RunSpec["onWorkerLoss"];
  return { ...placementOf({ pool, labels, priority }), ...(loss && { onWorkerLoss: loss }) };
}

export function labelsOf(words: readonly string[]): Record<string, string> | undefined {
  if (words.length === 0) return undefined;
  return Object.fromEntries(
    words.map((word) => {
      const [, key, value] = /^([\w./-]+)=(.*)$/s.exec(word) ?? [];
      if (key === undefined) throw usageError(`--label '${word}' is not key=value. Example: --label os=linux`);
      return [key, value!];
    }),
  );
}

/** Builds a request for a run that others can send prompts to, so it does not end with its first prompt. */
export async function fleetRequest(invocation: Invocation, choice: SourceChoice): Promise<RunRequest> {
  const { single: _single, ...request } = await placedRequest(invocation, choice);
  // The process that hands over the request starts the run, so it may also grant permissions.
  return invocation.line.flags.has("request-on-stdin") ? restrict(request, await handedRequest(), "more") : request;
}

/** Reads the request from another process of this program, which started this one. */
async function handedRequest(): Promise<RunRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return readRunRequest(tryParse(Buffer.concat(chunks).toString("utf8")));
}

/** Prepares a request for a fleet. A workspace on another machine's disk need not exist here. */
async function placedRequest(invocation: Invocation, choice: SourceChoice): Promise<RunRequest> {
  const workspaceFlag = flagText(invocation.line.flags, "workspace");
  const isElsewhere = choice.type === "none" && fleetUrl(invocation) !== undefined && workspaceFlag !== undefined;
  if (!isElsewhere) return settledRequest(invocation, "print");
  if (!isAbsolute(workspaceFlag))
    throw usageError(
      `--workspace '${workspaceFlag}' must be an absolute path with --source none: it lies on the worker's disk.`,
    );
  const flags: FlagValues = new Map([...invocation.line.flags].filter(([name]) => name !== "workspace"));
  return {
    ...(await settledRequest({ ...invocation, line: { ...invocation.line, flags } }, "print")),
    workspace: resolve(workspaceFlag),
  };
}

/** Replaces image paths by their contents, since the files are not on the worker. */
export function withImages({ images, ...prompt }: Prompt): Prompt {
  if (!images) return prompt;
  return { ...prompt, images: images.map((image) => (typeof image === "string" ? readImage(image) : image)) };
}
