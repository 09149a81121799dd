// What the sandbox forbids, in words for the model: said before it begins, and again when something looks refused.
import type { SandboxPlan } from "./plan.ts";

type Limits = Pick<SandboxPlan, "writable" | "temporary" | "network">;

/** "only the workspace and /tmp (private to commands) can be written, protected paths cannot, and there is no network" */
export function sandboxLimits({ writable, temporary, network }: Limits): string {
  const places = [
    ...(writable.length > 0 ? ["the workspace"] : []),
    ...(temporary ? ["/tmp (private to commands)"] : []),
  ];
  const writing = places.length > 0 ? `only ${places.join(" and ")} can be written` : "nothing can be written";
  const hosts = network.type === "none" ? "there is no network" : "only permitted hosts can be reached, over HTTP";
  return `${writing}, protected paths cannot, and ${hosts}`;
}

/** A pipe ends well although its first command was refused, so the exit code alone does not tell. */
const refused =
  /\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH|EROFS|EPERM|EACCES|Could(?: not|n't) resolve|(?:Temporary )?failure in name resolution|Name or service not known|No address associated|Network is unreachable|no such host|dns error|Read-only file system|Operation not permitted|Permission denied)\b/i;

/** So that a refusal is not taken for a fault of the command. */
export function refusalNote(plan: Limits, output: string, succeeded: boolean): string[] {
  return succeeded && !refused.test(output) ? [] : [`it ran in the sandbox: ${sandboxLimits(plan)}`];
}
