// Creates new runs: their ids, the check of their specifications, and what an agent's next run takes over from its last.
import { anything, type Check, either, fields, flag, oneOf, positive, text } from "../json/checks.ts";
import { type UserError, usageError } from "../protocol/error-codes.ts";
import type { PermissionMode, Prompt, RunRequest } from "../protocol/run.ts";
import { readRunRequest } from "../protocol/run-request.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { cliNames, type NewRun, priorities, type RunRecord, type RunSpec, specVersion } from "./fleet.ts";
import { labels, prompt, repositories } from "./run-fields.ts";

export function newRun(spec: RunSpec, { agent = newAgentId(), name }: { agent?: string; name?: string } = {}): NewRun {
  return { id: `run-${randomUuid()}`, agent, spec: newSpec(spec), ...(name !== undefined && { name }) };
}

export function newAgentId(): string {
  return `bc-${randomUuid()}`;
}

/** Adds the format version to a run specification. Throws a UserError for `ephemeral`, because a run in the background is stored for its readers. */
export function newSpec(spec: RunSpec): RunSpec {
  if (spec.request.ephemeral)
    throw usageError(
      "A run that is to keep nothing (--no-persist) cannot run in the background or in a batch: its prompt and its answer are stored for those who follow it. Run it with -p.",
    );
  return { version: specVersion, ...spec };
}

/** Creates the agent's next run, which resumes its session with the same request. `attended`: a person wrote the prompt. */
export function followUp(
  { agent, spec }: RunRecord,
  sessionId: string | undefined,
  prompt: Prompt,
  attended = spec.attended === true,
): NewRun {
  const { chat: _chat, trust: _trust, ...request } = spec.request;
  const chat = sessionId === undefined ? {} : { chat: { type: "resume", id: sessionId } as const };
  const next = { ...spec, ...(attended && { attended }), request: { ...request, ...chat }, prompt };
  return newRun(next, { agent });
}

/** Returns an error for a mode that a user may not set in a run. `force` can be set only at the start. */
export function refusedMode(mode: PermissionMode, { force }: Pick<RunRequest, "force">): UserError | undefined {
  if (mode !== "force" || force) return undefined;
  return usageError("Only whoever starts a run can give it force. Start another one with --force.");
}

const checkSpec = fields(
  {
    version: positive,
    cli: oneOf(...cliNames),
    request: anything,
    prompt,
    source: either(...repositories, fields({ type: oneOf("archive"), object: text, run: text }, ["type", "object"])),
    placement: fields({ pool: text, labels, priority: oneOf(...priorities) }),
    onWorkerLoss: oneOf("continue", "interrupt"),
    attended: flag,
  } satisfies Record<keyof RunSpec, Check>,
  ["cli", "request", "prompt"],
);

/**
 * Checks a run specification that a worker received, and returns it. Throws a UserError that names unknown fields, because a run
 * must not start without a limit or rule that was requested.
 */
export function readSpec(spec: RunSpec): RunSpec {
  const fault = checkSpec(spec);
  if (fault !== undefined) throw usageError(`The record of the run ${fault}.`);
  readRunRequest(spec.request);
  return spec;
}
