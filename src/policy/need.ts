// Need: what a call must be permitted to do before it runs.
import type { Rule } from "../protocol/permission-rule.ts";

/**
 * `Delete` obeys Write rules, but a person is asked where an edit would pass. `WebSearch` is the address of the engine that the user
 * configured, and obeys WebFetch rules. Paths are as the call gave them, not yet resolved.
 */
export type Need = {
  kind: "Shell" | "Read" | "Write" | "Delete" | "WebFetch" | "WebSearch" | "Mcp";
  target: string;
  cwd?: string;
  /** Of a change: it starts from what is there, and tells about it. What may not be read is then not changed either. */
  reads?: true;
  /** Of an MCP tool: it is described differently than when it was approved. Rules were made for what it was. */
  changed?: true;
  /** Of an MCP server: whoever started the run approved it for this run, with what its tools do. */
  consented?: true;
};

const onlyLooking: ReadonlySet<Need["kind"]> = new Set(["Read", "WebFetch", "WebSearch"]);

/** Nothing on this machine is another after it. */
export function onlyLooks({ kind }: Need): boolean {
  return onlyLooking.has(kind);
}

export type Verdict = "allow" | "ask" | "deny";

/** The answer for a whole call: the strictest of its parts, with a sentence for each reason. */
export type Decision = {
  verdict: Verdict;
  reasons: string[];
  /** It only reads, in the workspace: nobody in front of the run is asked about it. */
  reading?: true;
  /** Allowed inside the sandbox only. Who says yes to a question says yes to the call as it is, unconfined. */
  confined?: true;
  /**
   * Rules allow it, and it is confined all the same, with the network open, because the chat has changed what it may run. These are
   * the texts of the rules, to be listed as unconfined by whoever wants it to run as it is.
   */
  withNetwork?: string[];
  /** Allowed only if a snapshot holds what it deletes. */
  ifKept?: true;
  /** A command that may leave the workspace another than it was, as far as that can be known. */
  changes?: true;
  /** It is --force that allows it; whether a rule would was not asked. */
  forced?: true;
  /** Where it is asked, only a person may say yes: a protected path, a change of who runs it. */
  personOnly?: true;
  /** Where each path of the call led when it was judged: a path that leads elsewhere when it is used is refused. */
  approved?: ReadonlyMap<string, string>;
  /** The rule that denies it, where one does. */
  rule?: Pick<Rule, "text" | "source">;
  /** False for files below an allowed folder that a deny rule or an ignore file hides. */
  mayRead?(path: string): boolean;
};

/** The answer for one need. */
export type Judgement = Pick<
  Decision,
  "verdict" | "reasons" | "reading" | "confined" | "withNetwork" | "changes" | "ifKept" | "forced" | "personOnly"
>;

export function allow(reason: string): Judgement {
  return { verdict: "allow", reasons: [reason] };
}

export function ask(reason: string): Judgement {
  return { verdict: "ask", reasons: [reason] };
}

export function deny(reason: string): Judgement {
  return { verdict: "deny", reasons: [reason] };
}
