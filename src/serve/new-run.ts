// Runs that are to be: their ids, and what the next run of an agent takes over from the last.
import type { Prompt } from "../protocol/run.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import type { NewRun, RunRecord, RunSpec } from "./fleet.ts";

export function newRun(spec: RunSpec, { agent = newAgentId(), name }: { agent?: string; name?: string } = {}): NewRun {
  return { id: `run-${randomUuid()}`, agent, spec, ...(name !== undefined && { name }) };
}

export function newAgentId(): string {
  return `bc-${randomUuid()}`;
}

/** The same agent goes on with its session. */
export function followUp({ agent, spec }: RunRecord, sessionId: string | undefined, prompt: Prompt): NewRun {
  const { chat: _chat, trust: _trust, ...request } = spec.request;
  const chat = sessionId === undefined ? {} : { chat: { type: "resume", id: sessionId } as const };
  return newRun({ ...spec, request: { ...request, ...chat }, prompt }, { agent });
}
