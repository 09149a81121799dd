// Explains a decision: lists the parts of a call with the rule or reason that decides each.

import { isNamedByWrapper, uncoveredRun } from "./allow-rules.ts";
import { decide, type Situation } from "./decide.ts";
import { inspectShell, type ShellFindings } from "./judge-shell.ts";
import type { Decision, Need, Verdict } from "./need.ts";
import { ownCommands } from "./own-commands.ts";
import { type CommandPosition, commandPositions } from "./parse/command-position.ts";
import type { ShellCommand, ShellRedirect } from "./parse/shell.ts";
import { floorOf, resolvePath, rootOf } from "./paths.ts";
import { allowsCommand, coversMcp, coversPath, deniesCommand, type Rule } from "./rules.ts";
import { baseName, type ProgramStart } from "./starts/wrappers.ts";
import { systemFloor } from "./system-folders.ts";

/** What was decided about a call, and why. */
export type Explanation = Pick<
  Decision,
  "verdict" | "reasons" | "reading" | "confined" | "forced" | "personOnly" | "withNetwork"
> & {
  need: Need;
  /** The matching rules, in the order in which they decide. */
  rules: Rule[];
  /** Whether the command runs in the sandbox once the chat has changed the workspace. */
  confinedLater?: true;
  /** Set for files: the resolved path, and what protects it from writes in every mode. */
  path?: ExplainedPath;
  /** For commands: every program that would be started, as a tree. */
  commands?: ExplainedCommand[];
  /** The files that the line writes, as far as its words name them. */
  writes?: ExplainedPath[];
  /** Parts of the line that are unknown before it runs. */
  unseen?: string[];
};

/** A path that a call uses, and what was decided about it. */
export type ExplainedPath = {
  given: string;
  /** The resolved path; missing if only the shell can resolve it. */
  real?: string;
  inWorkspace?: boolean;
  floor?: string;
  rule?: Rule;
};

/** A command in a line, and what was decided about it. */
export type ExplainedCommand = {
  command: string;
  /** The words as rules compare them; missing if it starts nothing or only the shell knows the program. */
  program?: string[];
  /** Where the command is in the line: `after &&`, `inside $( )`, `run by sudo`, … */
  where: string[];
  /** The verdict about this command alone. */
  verdict: Verdict;
  reason: string;
  rule?: Rule;
  redirects: string[];
  /** The commands that this one starts, or that its arguments contain. */
  runs: ExplainedCommand[];
};

/** Makes the same decision as `decide`, broken down into its parts. */
export async function explain(need: Need, situation: Situation): Promise<Explanation> {
  const { approved: _approved, mayRead: _mayRead, ...decision } = await decide([need], situation);
  const later = decision.confined ? decision : await decide([need], { ...situation, changed: true });
  const answer = { need, ...decision, ...(later.withNetwork && { confinedLater: true as const }) };
  if (need.kind === "Shell") return { ...answer, ...explainShell(need, situation, decision) };
  if (need.kind === "WebFetch" || need.kind === "WebSearch" || need.kind === "Mcp")
    return { ...answer, rules: sortRules(await namedRules(need, situation)) };
  const resolved = resolvePath(need.target, situation, need.cwd);
  if ("problem" in resolved) return { ...answer, rules: [] };
  const kind = need.kind === "Read" ? "Read" : "Write";
  const rules = situation.rules.filter((rule) => rule.kind === kind && coversPath(rule, resolved, situation));
  const floor = kind === "Write" ? (floorOf(resolved, situation) ?? systemFloor(resolved))?.why : undefined;
  const inWorkspace = rootOf(resolved.real, situation) !== undefined;
  return { ...answer, rules: sortRules(rules), path: { ...resolved, inWorkspace, ...(floor && { floor }) } };
}

function sortRules(rules: readonly Rule[]): Rule[] {
  return [...rules.filter((rule) => rule.verdict === "deny"), ...rules.filter((rule) => rule.verdict === "allow")];
}

async function namedRules({ kind, target }: Need, { rules }: Situation): Promise<Rule[]> {
  if (kind === "Mcp") return rules.filter((rule) => rule.kind === "Mcp" && coversMcp(rule, target));
  if (!URL.canParse(target)) return [];
  const { coversUrl } = await import("./network.ts");
  const url = new URL(target);
  return rules.filter((rule) => rule.kind === "WebFetch" && coversUrl(rule, url));
}

type ShellExplanation = Pick<Explanation, "rules" | "commands" | "writes" | "unseen">;

function explainShell(need: Need, situation: Situation, { reading }: Pick<Decision, "reading">): ShellExplanation {
  const directory = resolvePath(need.cwd ?? situation.workspace, situation);
  if ("problem" in directory || need.target.includes("\0")) return { rules: [] };
  const findings = inspectShell(need.target, directory.real, situation);
  const commands = commandTree(findings, { ...situation, reading: reading === true });
  const writes = explainWrites(findings, situation);
  const rules = new Set<Rule>();
  const collect = ({ rule, runs }: ExplainedCommand): void => {
    if (rule) rules.add(rule);
    runs.forEach(collect);
  };
  commands.forEach(collect);
  for (const { rule } of writes) if (rule) rules.add(rule);
  return { rules: sortRules([...rules]), commands, writes, unseen: findings.unseen };
}

type RunSituation = Situation & { reading: boolean };

function commandTree(findings: ShellFindings, situation: RunSituation): ExplainedCommand[] {
  const positions = positionsByCommand(findings);
  const first = new Map<ShellCommand, ExplainedCommand>();
  const roots: ExplainedCommand[] = [];
  const trail: { run: ProgramStart; node: ExplainedCommand }[] = [];
  for (const run of findings.runs.runs) {
    while (trail.length > 0 && trail.at(-1)!.run.depth >= run.depth) trail.pop();
    const starter = trail.at(-1);
    const isFirst = !first.has(run.command);
    const position = positions.get(run.command);
    const within = isFirst ? position?.within : starter ? undefined : run.command;
    const holder = within && first.get(within);
    const node: ExplainedCommand = {
      command: isFirst ? run.command.text : [run.name, ...run.args].map(({ text }) => text).join(" "),
      where: [
        ...(starter && !holder ? [`run by ${baseName(starter.run.name.value)}`] : []),
        ...(isFirst ? (position?.where ?? []) : []),
      ],
      ...programOf(run),
      ...judgeRun(run, { starter: starter?.run, findings, situation }),
      redirects: isFirst ? run.command.redirects.map(redirectText) : [],
      runs: [],
    };
    if (isFirst) first.set(run.command, node);
    (holder ?? starter?.node)?.runs.push(node);
    if (!holder && !starter) roots.push(node);
    trail.push({ run, node });
  }
  return withNameless(roots, findings, first);
}

/** Adds commands without a known program: `x=1`, `> file`, or a program named by a variable. */
function withNameless(
  roots: readonly ExplainedCommand[],
  { runs }: ShellFindings,
  known: ReadonlyMap<ShellCommand, ExplainedCommand>,
): ExplainedCommand[] {
  const outer = runs.lines[0]!.commands;
  const named = roots.filter((root) => !outer.some((command) => known.get(command) === root));
  const explainedCommands = outer.flatMap((command) => {
    const node = known.get(command);
    if (node) return roots.includes(node) ? [node] : [];
    if (command.substituted) return [];
    const redirects = command.redirects.map(redirectText);
    const assignments = command.assignments.map((assignment) => assignment.text);
    const [verdict, reason] =
      assignments.length > 0
        ? (["ask", "It changes the shell itself."] as const)
        : (["allow", "It starts nothing; its redirects count."] as const);
    return [{ command: [...assignments, ...redirects].join(" "), where: [], verdict, reason, redirects, runs: [] }];
  });
  return [...named.map((root) => ({ ...root, where: ["named by a variable"] })), ...explainedCommands];
}

function programOf({ name, args }: ProgramStart): Pick<ExplainedCommand, "program"> {
  return name.dynamic || name.glob ? {} : { program: [name.value, ...args.map((arg) => arg.value)] };
}

type StatedPosition = { where: string[]; within?: ShellCommand };

function positionsByCommand({ runs }: ShellFindings): Map<ShellCommand, StatedPosition> {
  const found = new Map<ShellCommand, StatedPosition>();
  for (const [index, line] of runs.lines.entries()) {
    let positions: CommandPosition[] | undefined;
    for (const [at, command] of line.commands.entries()) {
      // Computed lazily: a line that is too long to be parsed has no commands.
      positions ??= commandPositions(runs.sources[index]!);
      const { where, within } = positions[at] ?? { where: [] };
      found.set(command, { where, ...(within !== undefined && { within: line.commands[within] }) });
    }
  }
  return found;
}

type RunContext = { starter: ProgramStart | undefined; findings: ShellFindings; situation: RunSituation };

function judgeRun(
  run: ProgramStart,
  { starter, findings, situation }: RunContext,
): Pick<ExplainedCommand, "verdict" | "reason" | "rule"> {
  const shellRules = situation.rules.filter((rule) => rule.kind === "Shell");
  const allowing = shellRules.filter((rule) => rule.verdict === "allow");
  const { name } = run;
  const base = baseName(name.value);
  const args = run.args.map((arg) => arg.value);
  if (name.dynamic || name.glob) return { verdict: "ask", reason: "Only the shell knows which program it is." };
  const denying = shellRules.find((rule) => rule.verdict === "deny" && deniesCommand(rule, { name: name.value, args }));
  if (denying) return { verdict: "deny", reason: `${denying.text} denies it.`, rule: denying };
  const [own] = ownCommands([run], findings.directories.paths);
  if (own) return { verdict: "ask", reason: own };
  if (findings.runs.privileged.includes(base.toLowerCase()))
    return { verdict: "ask", reason: `${base} changes who runs the rest.` };
  if (run.inOption) return { verdict: "allow", reason: "The option that names it is judged separately." };
  const uncovered = uncoveredRun(run, allowing, situation);
  if (uncovered && starter && isNamedByWrapper(run, starter, allowing, situation))
    return { verdict: "allow", reason: `The rule for ${baseName(starter.name.value)} names it.` };
  if (uncovered && situation.reading) return { verdict: "allow", reason: "It only reads." };
  if (uncovered) return { verdict: "ask", reason: uncovered };
  const rule = allowing.find((each) => allowsCommand(each, { name: base, args }));
  if (rule) return { verdict: "allow", reason: `${rule.text} allows it.`, rule };
  return { verdict: "allow", reason: "It needs no separate rule." };
}

function explainWrites({ writes }: ShellFindings, situation: Situation): ExplainedPath[] {
  const writing = situation.rules.filter((rule) => rule.kind === "Write");
  return writes.flatMap(({ word, paths }): ExplainedPath[] => {
    if (paths.length === 0) return [{ given: word.text }];
    return paths.map((path) => {
      const floor = (floorOf(path, situation) ?? systemFloor(path))?.why;
      const rule = sortRules(writing.filter((each) => coversPath(each, path, situation)))[0];
      const inWorkspace = rootOf(path.real, situation) !== undefined;
      return { given: word.value, real: path.real, inWorkspace, ...(floor && { floor }), ...(rule && { rule }) };
    });
  });
}

function redirectText({ operator, target, direction, descriptors }: ShellRedirect): string {
  const usual = operator.startsWith("<") ? 0 : 1;
  const descriptor = descriptors[0] === usual ? "" : descriptors[0];
  const words = [`${descriptor}${operator}`, ...(target ? [target.text] : [])];
  return words.join(direction === "copy" ? "" : " ");
}
