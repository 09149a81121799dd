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
  /** Set for a command that runs in the background, beside what the chat does next. */
  background?: true;
  /** For an MCP tool: its description has changed since it was approved, so rules for it no longer apply. */
  changed?: true;
  /** For an MCP server: the caller who started the run approved it, with its tools, for this run. */
  consented?: true;
};

const onlyLooking: ReadonlySet<Need["kind"]> = new Set(["Read", "WebFetch", "WebSearch"]);

/** Returns whether the need changes nothing on this machine. */
export function onlyLooks({ kind }: Need): boolean {
  return onlyLooking.has(kind);
}

/** What is done with a call. */
export type Verdict = "allow" | "ask" | "deny";

/** The decision for a whole call: the strictest of its parts, with a sentence for each reason. */
export type Decision = {
  verdict: Verdict;
  reasons: string[];
  /** It only reads in the workspace, so an attended run does not ask about it. */
  reading?: true;
  /** Allowed only in the sandbox. A user who approves a question approves the call without the sandbox. */
  confined?: true;
  /**
   * Rules allow it, but it is sandboxed with the network open, because the chat has changed what it may run. Holds the texts of those
   * rules, which the user can list as unconfined to run it without the sandbox.
   */
  withNetwork?: string[];
  /** Rules allow it outside the sandbox, in a run where a change of the workspace would confine it. */
  leaves?: true;
  /** Allowed only if a snapshot holds the files it deletes. */
  ifKept?: true;
  /** A command that may change the workspace, as far as that can be known. */
  changes?: true;
  /** Allowed by --force; rules were not checked. */
  forced?: true;
  /** Only a person may approve it: it touches a protected path or changes the user it runs as. */
  personOnly?: true;
  /** Where each path of the call resolved to when it was judged; a path that resolves differently when it is used is refused. */
  approved?: ReadonlyMap<string, string>;
  /** The rule that denies it, if any. */
  rule?: Pick<Rule, "text" | "source">;
  /** Returns false for files below an allowed folder that a deny rule or an ignore file hides. */
  mayRead?(path: string): boolean;
};

/** The decision for one need. */
export type Judgement = Omit<Decision, "approved" | "rule" | "mayRead">;

const judged =
  (verdict: Verdict) =>
  (reason: string): Judgement => ({ verdict, reasons: [reason] });
export const allow = judged("allow");
export const ask = judged("ask");
export const deny = judged("deny");
