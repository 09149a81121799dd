// Runs that are to be: their ids, what they may hold, and what the next run of an agent takes over from the last.
import { anything, type Check, either, fields, flag, listOf, object, oneOf, positive, text } from "../json/checks.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { PermissionMode, Prompt, RunRequest } from "../protocol/run.ts";
import { readRunRequest } from "../protocol/run-request.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { cliNames, type NewRun, priorities, type RunRecord, type RunSpec, specVersion } from "./fleet.ts";

export function newRun(spec: RunSpec, { agent = newAgentId(), name }: { agent?: string; name?: string } = {}): NewRun {
  return { id: `run-${randomUuid()}`, agent, spec: newSpec(spec), ...(name !== undefined && { name }) };
}

export function newAgentId(): string {
  return `bc-${randomUuid()}`;
}

/** As it is stored. Throws UserError for what cannot be: what runs by itself is written down, for whoever looks at it later. */
export function newSpec(spec: RunSpec): RunSpec {
  if (spec.request.unkept)
    throw new UserError(
      "USAGE",
      "A run that is to keep nothing (--no-persist) cannot run in the background or in a batch: its prompt and its answer are stored for those who follow it. Run it with -p.",
    );
  return { version: specVersion, ...spec };
}

/** The same agent goes on with its session, by what it was started with. `attended`: a person says the prompt. */
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

/** A person who looks at a run may switch between agent, plan and ask; force is given at the start, or not at all. */
export function refusedMode(mode: PermissionMode, { force }: Pick<RunRequest, "force">): UserError | undefined {
  if (mode !== "force" || force) return undefined;
  return new UserError("USAGE", "Only whoever starts a run can give it force. Start another one with --force.");
}

const labels: Check = (value) => object(value) ?? listOf(text)(Object.values(value as object));

const checkSpec = fields(
  {
    version: positive,
    cli: oneOf(...cliNames),
    request: anything,
    prompt: fields({ text, data: text, images: listOf(either(text, fields({ mime: text, base64: text }))) }, ["text"]),
    source: either(
      fields({ type: oneOf("git"), from: text, ref: text }, ["type", "from"]),
      fields({ type: oneOf("folder"), path: text }, ["type", "path"]),
      fields({ type: oneOf("archive"), object: text, run: text }, ["type", "object"]),
    ),
    placement: fields({ pool: text, labels, priority: oneOf(...priorities) }),
    onWorkerLoss: oneOf("continue", "interrupt"),
    attended: flag,
  } satisfies Record<keyof RunSpec, Check>,
  ["cli", "request", "prompt"],
);

/** A record as a worker found it. Throws UserError that names what it does not know: no run goes without a limit or a rule that it was to have. */
export function readSpec(spec: RunSpec): RunSpec {
  const fault = checkSpec(spec);
  if (fault !== undefined) throw new UserError("USAGE", `The record of the run ${fault}.`);
  readRunRequest(spec.request);
  return spec;
}
