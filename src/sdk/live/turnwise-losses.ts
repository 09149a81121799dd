// What a session cannot do where each turn has a process of its own, and why. No call of it passes in silence.

import { UserError } from "../../protocol/error-codes.ts";
import type { LiveRun, PermissionMode } from "../../protocol/run.ts";
import type { RunLoss, SdkPermissionMode } from "../drivers/driver.ts";
import type { LiveOptions } from "./session.ts";

const impossible = {
  background: "A command of a running turn cannot be reached from outside.",
  compact: "Its conversation cannot be made shorter from outside.",
  rewind: "Its conversation and files cannot be taken back from outside.",
  aside: "It cannot be asked beside its conversation.",
  context: "It does not tell what fills the window of its model.",
  names: "It does not tell which commands, skills and subagents it has.",
} satisfies Partial<Record<keyof LiveRun, string>>;

/** Before anything is done: what the options ask for in vain, and what calls there is no use for. */
export function turnwiseLosses({ human, subagents, toolOutput }: LiveOptions): RunLoss[] {
  return [
    { option: "steer", reason: "A running turn cannot be told anything: it becomes the next prompt." },
    ...Object.entries(impossible).map(([option, reason]) => ({ option, reason })),
    ...(human
      ? [{ option: "human", reason: "It asks nobody: what it would ask about is decided by its own rules." }]
      : []),
    ...(subagents === false ? [] : [{ option: "subagents", reason: "The steps of its subagents are not told apart." }]),
    ...(toolOutput === false
      ? []
      : [{ option: "toolOutput", reason: "The output of commands is told when they end." }]),
  ];
}

export function cannot(verb: keyof typeof impossible, program: string): UserError {
  return new UserError("NOT_BUILT", `${verb} is not possible with ${program}. ${impossible[verb]}`);
}

const modes: Readonly<Record<PermissionMode, SdkPermissionMode | undefined>> = {
  default: "default",
  force: "force",
  plan: "plan",
  ask: undefined,
};

export function modeFor(mode: PermissionMode, program: string): SdkPermissionMode {
  const known = Object.hasOwn(modes, mode) ? modes[mode] : undefined;
  if (known === undefined)
    throw new UserError(
      "NOT_BUILT",
      `${program} has no mode '${mode}' here. The nearest is 'plan', in which nothing is changed.`,
    );
  return known;
}
