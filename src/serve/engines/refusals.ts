// The errors that all engines share, so that their wording is the same; and the default name of an agent.
import { UserError } from "../../protocol/error-codes.ts";
import { collapsed } from "../../text/one-line.ts";
import { programName } from "../../text/program-name.ts";
import { cut } from "../../text/width.ts";
import type { AgentRecord, NewRun } from "../fleet.ts";

export function runNotFound(run: string): UserError {
  return new UserError("RUN_NOT_FOUND", `The run ${run} was not found. To list the runs: ${programName()} runs list`);
}

export function runOver(run: string): UserError {
  return new UserError("RUN_OVER", `The run ${run} has ended. A new run can resume its session.`);
}

export function leaseLost(run: string): UserError {
  return new UserError("LEASE_LOST", `The run ${run} was taken over by another host, or has ended.`);
}

export function questionClosed(): UserError {
  return new UserError("QUESTION_CLOSED", "This question is no longer open: it was answered, withdrawn or replaced.");
}

/** Throws if the agent is archived or already has a run. */
export function refuseRun({ id, isArchived, isBusy }: Pick<AgentRecord, "id" | "isArchived" | "isBusy">): void {
  if (isArchived) throw new UserError("AGENT_ARCHIVED", `The agent ${id} is archived. Unarchive it first.`);
  if (isBusy) throw new UserError("AGENT_BUSY", `The agent ${id} is busy with another run. Wait for it, or cancel it.`);
}

export function refuseToDelete({ id, isBusy }: Pick<AgentRecord, "id" | "isBusy">): void {
  if (isBusy) throw new UserError("AGENT_BUSY", `The agent ${id} is busy with a run. Cancel it first.`);
}

/** Ignores the error for a user who lacks a permission, since others may do the work; throws any other. */
export function ignoreMissingPermission(error: unknown): void {
  if (!(error instanceof UserError) || error.code !== "FLEET_REFUSED") throw error;
}

export function agentName({ name, spec }: NewRun): string {
  return name ?? cut(collapsed(spec.prompt.text), 80);
}
