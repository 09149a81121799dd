// Defines a need (what a call must be permitted to do before it runs) and the decision about it.
import type { Rule } from "../protocol/permission-rule.ts";

/**
 * `Delete` follows Write rules, but asks the user where an edit would be allowed. `WebSearch` is the address of the configured search
 * engine, and follows WebFetch rules. Paths are as given in the call, not yet resolved.
 */
export type Need = {
  kind: "Shell" | "Read" | "Write" | "Delete" | "WebFetch" | "WebSearch" | "Mcp";
  target: string;
  cwd?: string;
  /** For a write: it builds on the current contents and reveals them, so a file that may not be read is not changed either. */
  reads?: true;
  /** Whether the command runs in the background, so that it continues beside later calls. */
  background?: true;
  /** For an MCP tool: its description has changed since it was approved, so its rules do not apply. */
  changed?: true;
  /** For an MCP server: whoever started the run approved it with its tools, for this run. */
  consented?: true;
};

const onlyLooking: ReadonlySet<Need["kind"]> = new Set(["Read", "WebFetch", "WebSearch"]);

/** Returns whether a need changes nothing on this machine. */
export function onlyLooks({ kind }: Need): boolean {
  return onlyLooking.has(kind);
}

/** The decision about a call. */
export type Verdict = "allow" | "ask" | "deny";

/** The decision for a whole call: the strictest of its parts, with a sentence for each reason. */
export type Decision = {
  verdict: Verdict;
  reasons: string[];
  /** Whether the call only reads in the workspace, so that an attended run does not ask about it. */
  reading?: true;
  /** Whether the call is allowed only in the sandbox. A user who is asked can allow it without. */
  confined?: true;
  /**
   * Rules allow it, but it is sandboxed with the network open, because the chat has changed what it may run. Holds the texts of those
   * rules, which the user can list as unconfined to run it without the sandbox.
   */
  withNetwork?: string[];
  /** Rules allow it outside the sandbox, in a run where a change of the workspace would confine it. */
  leaves?: true;
  /** Whether the call is allowed only if a snapshot contains the files it deletes. */
  ifKept?: true;
  /** A command that may change the workspace, as far as that can be known. */
  changes?: true;
  /** Whether --force allowed the call, without checking rules. */
  forced?: true;
  /** Whether only a person may approve: the call touches a protected path or runs as another user. */
  personOnly?: true;
  /** Where each path of the call resolved to when it was judged; a path that resolves differently when it is used is refused. */
  approved?: ReadonlyMap<string, string>;
  /** The rule that denies the call, if there is one. */
  rule?: Pick<Rule, "text" | "source">;
  /** Returns false for files below an allowed folder that a deny rule or an ignore file hides. */
  mayRead?(path: string): boolean;
};

/** The decision about one need of a call. */
export type Judgement = Omit<Decision, "approved" | "rule" | "mayRead">;

const judged =
  (verdict: Verdict) =>
  (reason: string): Judgement => ({ verdict, reasons: [reason] });
export const allow = judged("allow");
export const ask = judged("ask");
export const deny = judged("deny");
