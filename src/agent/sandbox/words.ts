// Describes the sandbox's restrictions to the model: before it starts, and again when something looks refused.
import type { SandboxPlan } from "./plan.ts";

type Limits = Pick<SandboxPlan, "writable" | "temporary" | "network">;

/** "only the workspace and /tmp (private to commands) can be written, protected paths cannot, and there is no network" */
export function sandboxLimits({ writable, temporary, network }: Limits): string {
  const places = [
    ...(writable.length > 0 ? ["the workspace"] : []),
    ...(temporary ? ["/tmp (private to commands)"] : []),
  ];
  const writing = places.length > 0 ? `only ${places.join(" and ")} can be written` : "nothing can be written";
  const isOpen = network.type === "proxy" && network.default === "allow";
  const reached = isOpen ? "public hosts can be reached over HTTP" : "only permitted hosts can be reached, over HTTP";
  const hosts = network.type === "none" ? "there is no network" : reached;
  return `${writing}, protected paths cannot, and ${hosts}`;
}

/** Checked even on success, since a pipeline can succeed although its first command was refused. */
const refused =
  /\b(EAI_AGAIN|ENOTFOUND|ENETUNREACH|EROFS|EPERM|EACCES|Could(?: not|n't) resolve|(?:Temporary )?failure in name resolution|Name or service not known|No address associated|Network is unreachable|no such host|dns error|Read-only file system|Operation not permitted|Permission denied)\b/i;

/** Explains a refusal, so that the model does not blame the command. `rules` are those that allow it, if it was confined anyway. */
export function refusalNote(plan: Limits, output: string, succeeded: boolean, rules: readonly string[] = []): string[] {
  if (succeeded && !refused.test(output)) return [];
  const limits = sandboxLimits(plan);
  if (rules.length === 0) return [`it ran in the sandbox: ${limits}`];
  const line = `"permissions": {"unconfined": ${JSON.stringify(rules)}}`;
  return [
    `it ran in the sandbox, because this chat changes the workspace: ${limits}, and keys are hidden. If it must run outside, the user adds to cli-config.json: ${line}`,
  ];
}
