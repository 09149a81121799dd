// Proposes rules that would allow a call: only narrow ones, and only if they are sufficient.
import { parseRule, type Rule } from "../protocol/permission-rule.ts";
import { hasWildcard } from "../text/glob.ts";
import { decide, type Situation } from "./decide.ts";
import { type ExplainedCommand, type Explanation, explain } from "./explain.ts";
import { lint } from "./lint/index.ts";
import type { Need } from "./need.ts";
import { absolutePath, shownPath } from "./paths.ts";
import { words } from "./programs/command-names.ts";

/** Programs with subcommands: the rule names `git push` rather than `git`. */
const withSubcommands = words(`
  git npm pnpm yarn bun cargo go docker podman kubectl helm gh pip pip3 poetry uv apt brew systemctl terraform aws gcloud az dotnet
  composer bundle rails mvn gradle make`);

/** `wide` also covers similar commands. `any` also allows a first Write rule, which changes what other edits need. */
export type RemedyWidth = "narrow" | "wide" | "any";

/** Returns the texts of allow rules, or none if only a person may approve the call. */
export async function remedyFor(need: Need, situation: Situation, width: RemedyWidth = "narrow"): Promise<string[]> {
  const explanation = await explain(need, situation);
  if (explanation.personOnly || explanation.reading || (explanation.verdict !== "ask" && !explanation.confined))
    return [];
  for (const all of listProposals(need, explanation, { situation, width })) {
    // `Shell(git push a)` also covers `git push a b`.
    const texts = [...new Set(all)].filter((text) => !all.some((each) => text.startsWith(`${each.slice(0, -1)} `)));
    if (await wouldAllow(texts, need, situation)) return texts;
  }
  return [];
}

async function wouldAllow(texts: readonly string[], need: Need, situation: Situation): Promise<boolean> {
  const rules: Rule[] = [];
  for (const text of texts) {
    const parsed = parseRule(text, { verdict: "allow", scope: "user", source: "proposed" });
    // A file may be named `a*`, which as a rule would cover more than this file.
    if (!("rule" in parsed) || hasWildcard(parsed.rule.pattern)) return false;
    rules.push(parsed.rule);
  }
  if (lint(rules, situation).some(({ kind }) => kind !== "dead")) return false;
  const then = await decide([need], { ...situation, rules: [...situation.rules, ...rules] });
  return then.verdict === "allow" && !then.confined;
}

/** Lists the proposals, narrower ones first. */
function listProposals(
  need: Need,
  { commands = [], writes = [], path }: Explanation,
  { situation, width }: { situation: Situation; width: RemedyWidth },
): string[][] {
  // With the first Write rule, every edit it does not cover is asked about: do not propose one as a side effect.
  const hasWrites =
    width === "any" || situation.rules.some((rule) => rule.kind === "Write" && rule.verdict === "allow");
  const file = path?.real ?? need.target;
  if (need.kind === "Read") return [[`Read(${file})`]];
  if (need.kind === "Mcp") return [[`Mcp(${need.target})`]];
  if (need.kind === "WebFetch" || need.kind === "WebSearch") return [[`WebFetch(${new URL(need.target).host})`]];
  if (need.kind !== "Shell") return hasWrites ? [[writeRule(file, situation)]] : [];
  const wide = commands.flatMap((command) => shellRules(command, programRule));
  const narrow = commands.flatMap((command) => shellRules(command, exactRule));
  const files = writes.flatMap(({ real, rule }) => (real && !rule ? [writeRule(real, situation)] : []));
  return (width === "wide" || new Set(narrow).size > 8 ? [wide] : [narrow, wide]).flatMap((shell) =>
    hasWrites ? [shell, [...shell, ...files]] : [shell],
  );
}

function shellRules(
  { verdict, runs, program }: ExplainedCommand,
  ruleOf: (program: readonly string[]) => string,
): string[] {
  const inner = runs.flatMap((run) => shellRules(run, ruleOf));
  return verdict !== "ask" || program === undefined ? inner : [ruleOf(program), ...inner];
}

/** Names the command with all its words, if a rule can spell them. */
function exactRule(program: readonly string[]): string {
  const isPlain = program.every((word) => word !== "" && !/[\s:()\\]/.test(word) && !hasWildcard(word));
  return isPlain ? `Shell(${program.join(" ")})` : programRule(program);
}

/** Names the program with any arguments; for programs with subcommands, the subcommand too. */
function programRule([name, first]: readonly string[]): string {
  const named = first !== undefined && withSubcommands.has(name!) && /^[a-z][\w:-]*$/.test(first);
  return named ? `Shell(${name} ${first})` : `Shell(${name})`;
}

function writeRule(path: string, { workspace, home }: Situation): string {
  const displayPath = shownPath(path, workspace);
  // `~/x` below the workspace would be read as a path in the home directory.
  return `Write(${absolutePath(displayPath, { workspace, home }) === path ? displayPath : path})`;
}
