// Decides whether a call is allowed, asked about or denied, and why. The strictest of its needs decides.

import type { Rule } from "../protocol/permission-rule.ts";
import { programName } from "../text/program-name.ts";
import { hiddenBy, type IgnoreCheck, ignoreFiles, loadIgnore } from "./hidden.ts";
import { allow, ask, type Decision, deny, type Judgement, type Need, type Verdict } from "./need.ts";
import {
  floorOf,
  holdsWorkspace,
  isInside,
  isThere,
  kernelPath,
  protectedBelow,
  type ResolvedPath,
  resolvePath,
  rootOf,
  specialKind,
  type WorkspacePaths,
} from "./paths.ts";
import {
  absolutePattern,
  coversFile,
  coversMcp,
  coversPath,
  deniedBelow,
  nameOf,
  namesPath,
  rulesFor,
} from "./rules.ts";
import { capitalize } from "./show.ts";
import { keptWhole, systemFloor } from "./system-folders.ts";

/** What a decision depends on, besides the call itself. */
export type Situation = WorkspacePaths & {
  mode: "default" | "force" | "plan" | "ask";
  /** Whether the user can be asked. If not, `ask` means rejected; only the reasons differ. */
  interactive: boolean;
  rules: readonly Rule[];
  /** `unlisted` sandboxes commands that no rule allows; `all` also those that only --force allows. */
  sandbox: "off" | "unlisted" | "all";
  /**
   * Set when a user is watching the run. Commands that only read in the workspace then run without a question, in the sandbox where it
   * works; commands that need to reach beyond the sandbox are asked about instead of failing in it.
   */
  attended?: { sandboxWorks: boolean };
  /** Whether the chat has changed the workspace. If nobody can be asked, allowed commands then run in the sandbox. */
  changed?: boolean;
  /** Whether the run is unattended and saves files before deleting them: see `Decision.ifKept`. */
  keepsDeleted?: boolean;
  /** Whether the user's settings allow web searches without asking. */
  acceptsSearches?: boolean;
  /** The `PATH` that commands get. Without it, no path counts as a program's name, and any folder may hold programs. */
  searchPath?: string;
  /** When this run started, in milliseconds. Files with code that changed since then are read before they may run. */
  startedAt?: number;
};

type NeedJudgement = Judgement & { path?: ResolvedPath };

export const nobodyToAsk = "Nobody can be asked in print mode.";
export const runsInSandbox = "It runs in the sandbox.";
const changedFirst = "This chat has changed the workspace, so it runs in the sandbox, with the network open.";
const changedBeside = "The workspace may change while it runs, so it runs in the sandbox, with the network open.";
const onlyReading = "It only reads, and only in the workspace.";

/** Properties that a decision has if one of the parts that decide it has them. */
const marks = ["reading", "confined", "leaves", "changes", "ifKept", "forced", "personOnly"] as const;
const strictness: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 };

/** Decides about a call. Changes nothing and never throws: an error becomes a denial with its reason. */
export async function decide(needs: readonly Need[], situation: Situation): Promise<Decision> {
  const approved = new Map<string, string>();
  let verdict: Verdict = "allow";
  let deciding: NeedJudgement[] = [];
  const touchesFiles = needs.some((need) => need.kind === "Read" || need.kind === "Write" || need.kind === "Delete");
  const ignored = touchesFiles ? await loadIgnore(situation) : () => undefined;
  const isHidden = hiddenBy(situation, ignored);
  for (const need of needs) {
    const part = await judge(need, situation, ignored);
    if (part.path) approved.set(need.target, part.path.real);
    if (strictness[part.verdict] > strictness[verdict]) [verdict, deciding] = [part.verdict, []];
    if (part.verdict === verdict) deciding.push(part);
  }
  const reasons = fewOf([...new Set(deciding.flatMap((part) => part.reasons))]);
  if (verdict === "ask" && !situation.interactive) reasons.push(nobodyToAsk);
  // A reason that comes from a rule always starts with the rule's name.
  const rule =
    verdict === "deny" && situation.rules.find((each) => reasons.some((why) => why.startsWith(nameOf(each))));
  return {
    verdict,
    reasons,
    ...(rule && { rule }),
    ...Object.fromEntries(marks.filter((mark) => deciding.some((part) => part[mark])).map((mark) => [mark, true])),
    ...deciding.map(({ withNetwork }) => withNetwork && { withNetwork }).find(Boolean),
    approved,
    mayRead: (path) => !isHidden(path),
  };
}

/** Limits the reasons listed: copying a folder can involve dozens of protected files. */
function fewOf(reasons: string[]): string[] {
  const most = 8;
  if (reasons.length <= most) return reasons;
  return [...reasons.slice(0, most - 1), `There are ${reasons.length - most + 1} more reasons of this kind.`];
}

async function judge(need: Need, situation: Situation, ignored: IgnoreCheck): Promise<NeedJudgement> {
  if (need.kind === "Shell") return judgeShell(need, situation);
  if (need.kind === "Mcp") return judgeMcp(need, situation);
  if (need.kind === "WebFetch" || need.kind === "WebSearch") return judgeWeb(need, situation);
  return judgePath(need.kind, need, situation, ignored);
}

function judgePath(
  kind: "Read" | "Write" | "Delete",
  need: Need,
  situation: Situation,
  ignored: IgnoreCheck,
): NeedJudgement {
  const path = resolvePath(need.target, situation, need.cwd);
  if ("problem" in path) return deny(`${capitalize(path.problem)}.`);
  const ruleKind = kind === "Read" ? "Read" : "Write";
  const rules = situation.rules.filter((rule) => rule.kind === ruleKind);
  const isDenying = (rule: Rule) => rule.kind === ruleKind || (need.reads === true && rule.kind === "Read");
  const denying = situation.rules.find(
    (rule) => rule.verdict === "deny" && isDenying(rule) && coversFile(rule, path, situation),
  );
  if (denying) return deny(`${nameOf(denying)} denies ${path.given}.`);
  const reason = kind === "Delete" ? deniedBelow(path.real, situation) : undefined;
  if (reason) return deny(reason);
  const hiding = ignored(path);
  if (hiding) return deny(`${hiding} hides ${path.given} from the agent.`);
  const special = kernelPath(path.given) ?? specialKind(path.real);
  if (special) return deny(`${path.given} is not opened: ${special}.`);
  if (kind !== "Read" && isReadOnly(situation))
    return deny(`${capitalize(situation.mode)} mode only reads: ${path.given} is not changed.`);
  const answer = kind === "Read" ? judgeRead(path, rules, situation) : judgeWrite(kind, path, rules, situation);
  return { ...answer, path };
}

function judgeRead(path: ResolvedPath, rules: readonly Rule[], situation: Situation): NeedJudgement {
  if (rootOf(path.real, situation) !== undefined) return allow("It is inside the workspace.");
  const allowing = rules.find((rule) => rule.verdict === "allow" && coversPath(rule, path, situation));
  if (allowing) return allow(`${nameOf(allowing)} allows it.`);
  if (situation.mode === "force") return allowedByForce();
  return ask(
    `${path.real} is outside the workspace, and no Read rule covers it; allow it with "Read(${path.real})" or --add-dir.`,
  );
}

function judgeWrite(
  kind: "Write" | "Delete",
  path: ResolvedPath,
  rules: readonly Rule[],
  situation: Situation,
): NeedJudgement {
  const allowing = rules.filter((rule) => rule.verdict === "allow");
  const floor = floorOf(path, situation) ?? systemFloor(path);
  if (floor?.level === "never") return deny(`${capitalize(floor.why)}.`);
  if (floor) {
    const lifting = allowing.find((rule) => rule.scope === "user" && namesPath(rule, path, situation));
    if (lifting && rootOf(path.real, situation) !== undefined) return allow(`${nameOf(lifting)} names it.`);
    return onlyPerson(`${capitalize(floor.why)}. Only a rule of yours that names it exactly lifts this.`);
  }
  if (kind === "Delete") {
    const wholeFolderReason = keptWhole(path.real, "remove", situation);
    if (wholeFolderReason) return deny(`${wholeFolderReason}.`);
    if (holdsWorkspace(path.real, situation)) return onlyPerson(`${path.real} contains the workspace.`);
    const protectedPath = protectedBelow(path.real, situation);
    if (protectedPath) return onlyPerson(`${path.given} contains ${protectedPath}, which is protected.`);
  }
  const rule = allowing.find((each) => coversPath(each, path, situation));
  if (rule) return allow(`${nameOf(rule)} allows it.`);
  // A sandboxed command can create a symlink, and tools outside the sandbox must not follow it.
  const leadsOut = () => rootOf(path.given, situation) !== undefined && rootOf(path.real, situation) === undefined;
  if (situation.sandbox === "all" && leadsOut())
    return ask(`${path.given} is a link that leads out of the workspace, to ${path.real}.`);
  if (situation.mode === "force") return allowedByForce();
  if (rootOf(path.real, situation) === undefined) {
    return ask(
      `${path.real} is outside the workspace, and no Write rule covers it; allow it with "Write(${path.real})".`,
    );
  }
  if (kind === "Delete" && !situation.keepsDeleted)
    return ask(`Deleting ${path.given} needs a Write rule that covers it, or --force.`);
  if (allowing.length > 0) return ask(`There are Write rules, and none covers ${path.given}.`);
  if (kind === "Delete") return { ...allow("It is inside the workspace, and a snapshot holds it."), ifKept: true };
  return allow("It is inside the workspace.");
}

async function judgeShell(need: Need, situation: Situation): Promise<NeedJudgement> {
  if (need.target.includes("\0")) return deny("A command cannot contain a NUL character.");
  // The shell grammar is large, and most calls do not need it: load it lazily.
  const { inspectShell, judgeByRules, beyondSandbox, coveringTexts } = await import("./judge-shell.ts");
  const { onlyReads, writesForAnother } = await import("./only-reads.ts");
  const { ownCommands } = await import("./own-commands.ts");
  const directory = resolvePath(need.cwd ?? situation.workspace, situation);
  if ("problem" in directory) return deny(`${capitalize(directory.problem)}.`);
  const findings = inspectShell(need.target, directory.real, situation);
  if (findings.denied.length > 0) return { verdict: "deny", reasons: findings.denied };
  if (isReadOnly(situation)) return deny(`${capitalize(situation.mode)} mode only reads: no commands are run.`);
  const floor = [...findings.floor, ...ownCommands(findings.runs.runs, findings.directories.paths)];
  if (floor.length > 0) return { verdict: "ask", reasons: floor, personOnly: true };

  const { mode, sandbox, rules } = situation;
  const denies = rules.some((rule) => rule.kind === "Shell" && rule.verdict === "deny");
  const hidden = denies ? findings.unseen : [];
  if (mode === "force" && findings.unread.length > 0)
    return { verdict: "ask", reasons: findings.unread, personOnly: true };
  if (mode === "force" && sandbox !== "all" && hidden.length === 0) return allowedByForce();
  const byRules = judgeByRules(need.target, findings, situation);
  if (byRules.verdict !== "ask") {
    const changes = findings.writes.length > 0 && { changes: true as const };
    const isKept = mode === "default" || sandbox === "all";
    if (situation.interactive || sandbox === "off" || !isKept) return { ...byRules, ...changes };
    const isAlone = !need.background && !writesForAnother(need.target, findings.runs);
    if (!situation.changed && isAlone) return { ...byRules, ...changes, leaves: true };
    const unconfined = rules.flatMap((rule) => {
      if (rule.verdict === "unconfined") return [{ ...rule, verdict: "allow" as const }];
      return rule.kind === "Shell" && rule.verdict === "allow" ? [] : [rule];
    });
    const lifted = judgeByRules(need.target, findings, { ...situation, rules: unconfined });
    if (lifted.verdict === "allow") return { ...byRules, ...changes };
    const withNetwork = coveringTexts(findings, situation);
    const why = situation.changed ? changedFirst : changedBeside;
    return { ...byRules, reasons: [...byRules.reasons, why], confined: true, withNetwork, changes: true };
  }
  if (hidden.length > 0) {
    const parts = hidden.map((part) => `${capitalize(part)}.`);
    const reasons = [...parts, "There are Shell deny rules, and they cannot be compared with it."];
    return { verdict: "ask", reasons, personOnly: true };
  }
  const personOnly = findings.runs.privileged.length > 0 && { personOnly: true as const };
  const { attended } = situation;
  if (mode === "default" && attended) {
    const { verdict } = judgeByRules(need.target, findings, situation, { isReading: true });
    if (verdict === "allow" && (attended.sandboxWorks || !hidesFiles(situation))) {
      const answer = { verdict, reading: true } as const;
      if (!attended.sandboxWorks) return { ...answer, reasons: [onlyReading] };
      return { ...answer, reasons: [onlyReading, runsInSandbox], confined: true };
    }
    const beyond = sandbox === "unlisted" ? beyondSandbox(findings, situation) : [];
    if (beyond.length > 0) return { verdict: "ask", reasons: beyond, ...personOnly };
  }
  if (mode === "default" && sandbox === "off") return { ...byRules, ...personOnly };
  const reasons = [...byRules.reasons, runsInSandbox];
  const changes = !onlyReads(need.target, findings.runs) && { changes: true as const };
  return {
    verdict: "allow",
    reasons,
    confined: true,
    ...changes,
    ...(mode === "force" && { forced: true }),
    ...personOnly,
  };
}

async function judgeWeb({ kind, target }: Need, situation: Situation): Promise<NeedJudgement> {
  const { judgeUrl, judgeSearchUrl } = await import("./network.ts");
  const answer = kind === "WebSearch" ? judgeSearchUrl(target, situation) : judgeUrl(target, situation);
  return { ...answer, ...(answer.verdict === "allow" && situation.mode === "force" && { forced: true }) };
}

function judgeMcp({ target, changed, consented }: Need, situation: Situation): NeedJudgement {
  const rules = situation.rules.filter((rule) => rule.kind === "Mcp" && coversMcp(rule, target));
  const denying = rules.find((rule) => rule.verdict === "deny");
  if (denying) return deny(`${nameOf(denying)} denies it.`);
  if (isReadOnly(situation)) return deny(`${capitalize(situation.mode)} mode only reads: MCP tools are not called.`);
  if (changed)
    return onlyPerson(
      `The MCP tool ${target} is described differently than when it was approved. Review it with '${programName()} mcp list-tools', then approve it with '${programName()} mcp enable'.`,
    );
  const allowing = rules.find((rule) => rule.verdict === "allow");
  if (allowing) return allow(`${nameOf(allowing)} allows it.`);
  if (situation.mode === "force") return allowedByForce();
  if (consented) return allow("Its server was approved for this run, with its tools.");
  return ask(`It calls the MCP tool ${target}, and no Mcp rule covers that.`);
}

/** Returns whether hidden files may exist that only a sandbox can keep from a program that reads a whole folder. */
function hidesFiles(situation: Situation): boolean {
  const mayHide = (pattern: string) => !isInside(absolutePattern(pattern, situation), situation.configDir);
  return (
    ignoreFiles(situation).some(({ file }) => isThere(file)) ||
    rulesFor(situation.rules, "Read", "deny").some((rule) => mayHide(rule.pattern))
  );
}

function isReadOnly({ mode }: Situation): boolean {
  return mode === "plan" || mode === "ask";
}

function allowedByForce(): NeedJudgement {
  return { ...allow("--force allows it."), forced: true };
}

function onlyPerson(reason: string): NeedJudgement {
  return { ...ask(reason), personOnly: true };
}
