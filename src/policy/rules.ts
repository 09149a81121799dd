// Matches rules. Deny rules match broadly, allow rules exactly.
import { join, resolve } from "node:path";
import type { Rule, RuleKind } from "../protocol/permission-rule.ts";
import { compilePath, foldText, hasWildcard, matchesText } from "../text/glob.ts";
import { tryOr } from "../text/try-or.ts";
import { SecondNames } from "./hard-links.ts";
import {
  firstBelow,
  isInside,
  isThere,
  type ResolvedPath,
  realTarget,
  type WorkspacePaths,
  withHome,
} from "./paths.ts";

export { parseRule, type Rule, type RuleKind, ruleKinds } from "../protocol/permission-rule.ts";

/** A command as rules see it: unquoted, without redirects and assignments. */
export type RuleCommand = { name: string; args: readonly string[] };

type RulePaths = Pick<WorkspacePaths, "workspace" | "home">;

export function coversPath(rule: Rule, path: ResolvedPath, paths: RulePaths): boolean {
  const { tests } = compiledRule(rule, paths);
  const candidates = rule.verdict === "allow" ? [path.real] : [path.given, path.real];
  return candidates.some((candidate) => tests.some((test) => test(candidate)));
}

/** Caches, for one decision, the hard-linked files that each rule names. */
export type LinkedFiles = Map<Rule, SecondNames>;

/** Like `coversPath`, but denies a hard-linked file under each of its names. */
export function coversFile(rule: Rule, path: ResolvedPath, paths: RulePaths, linked: LinkedFiles = new Map()): boolean {
  if (coversPath(rule, path, paths)) return true;
  if (rule.verdict === "allow") return false;
  const existing = linked.get(rule) ?? secondNamesOf([rule], paths);
  linked.set(rule, existing);
  return existing.include(path.real);
}

/** Collects the hard-linked files that the rules name. */
export function secondNamesOf(rules: readonly Rule[], paths: RulePaths): SecondNames {
  const heads = rules.map((rule) => splitPattern(realPattern(absolutePattern(rule.pattern, paths)))[0]);
  return new SecondNames(heads, (path) => rules.some((rule) => coversPath(rule, { given: path, real: path }, paths)));
}

/** Returns whether the rule could match in this folder, at any depth, judging by its pattern up to the first wildcard. */
export function reachesInto(rule: Rule, folder: string, paths: RulePaths): boolean {
  const plain = foldText(folder);
  return compiledRule(rule, paths).heads.some((head) => isInside(plain, head) || isInside(head, plain));
}

type PathTest = (path: string) => boolean;

/** `heads` holds the part of each pattern before its first wildcard, case-folded. */
type CompiledRule = { tests: PathTest[]; heads: string[] };

/** Compiled once for each set of paths: a command may name a thousand files, and a search finds more. */
const knownRules = new WeakMap<RulePaths, Map<string, CompiledRule>>();

function compiledRule({ verdict, pattern }: Rule, paths: RulePaths): CompiledRule {
  const existing = knownRules.get(paths) ?? new Map<string, CompiledRule>();
  knownRules.set(paths, existing);
  const key = `${verdict} ${pattern}`;
  const found = existing.get(key);
  if (found) return found;
  const absolute = absolutePattern(pattern, paths);
  const both = [...new Set([absolute, realPattern(absolute)])];
  const tests = verdict === "allow" ? both.map((each) => compilePath(each)) : both.flatMap(denyTests);
  // Braces and brackets are wildcards too, even across several components.
  const heads = both.map((each) => splitPattern(foldText(each).replace(/[[{].*/s, "*"))[0]);
  const compiled = { tests, heads };
  existing.set(key, compiled);
  return compiled;
}

/** Returns tests that match a folder and everything below it. */
function denyTests(pattern: string): PathTest[] {
  const below = `${pattern}/**`;
  const plain = compilePath(below, { fold: true });
  // `[ab]` is undocumented; in a deny rule it may be meant either way, so both readings match.
  return pattern.includes("[") ? [plain, compilePath(below, { fold: true, brackets: true })] : [plain];
}

/** Returns whether the rule names exactly this path, without a wildcard. */
export function namesPath(rule: Rule, path: ResolvedPath, paths: RulePaths): boolean {
  if (hasWildcard(rule.pattern) || rule.pattern.endsWith("/")) return false;
  return absolutePattern(rule.pattern, paths) === path.given && path.given === path.real;
}

/** Relative patterns start at the workspace; a trailing slash means everything below. */
export function absolutePattern(pattern: string, { workspace, home }: RulePaths): string {
  const whole = pattern.endsWith("/") ? `${pattern}**` : pattern;
  return resolve(workspace, withHome(whole, home));
}

/** Resolves links in the fixed part of a pattern, for rules that name a linked folder. */
function realPattern(pattern: string): string {
  const [head, rest] = splitPattern(pattern);
  return tryOr(() => join(realTarget(head), rest), pattern);
}

/** Splits a pattern at its first component with a wildcard. */
export function splitPattern(pattern: string): [head: string, rest: string] {
  const segments = pattern.split("/");
  const fixed = segments.findIndex((segment) => hasWildcard(segment));
  const end = fixed === -1 ? segments.length : fixed;
  return [segments.slice(0, end).join("/") || "/", segments.slice(end).join("/")];
}

/** Finds a rule that denies something below a folder, and what that is: it is removed or changed with the folder. */
export function deniedBelow(
  folder: string,
  situation: WorkspacePaths & { rules: readonly Rule[] },
  isMeant: (path: string) => boolean = () => true,
): string | undefined {
  for (const rule of rulesFor(situation.rules, "Write", "deny")) {
    const pattern = absolutePattern(rule.pattern, situation);
    const [head, rest] = splitPattern(pattern);
    const covers = (path: string) => coversPath(rule, { given: path, real: path }, situation) && isMeant(path);
    const isNear = isInside(head, folder) || (rest !== "" && isInside(folder, head));
    const deniedPath = !isNear
      ? undefined
      : rest === "" && isThere(pattern) && covers(pattern)
        ? pattern
        : firstBelow(folder, covers);
    if (deniedPath) return `${nameOf(rule)} denies ${deniedPath}, which ${folder} holds.`;
  }
  return undefined;
}

/** Matches `server:tool`, with wildcards in either part. */
export function coversMcp(rule: Rule, target: string): boolean {
  if (/^\*+$/.test(rule.pattern)) return true;
  const [server, tool] = splitTarget(rule.pattern);
  const [wantedServer, wantedTool] = splitTarget(target);
  const options = { fold: rule.verdict === "deny" || rule.fold === true };
  return matchesText(server, wantedServer, options) && matchesText(tool, wantedTool, options);
}

function splitTarget(text: string): [string, string] {
  const at = text.indexOf(":");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** `tokens` matches whole leading words; `glob` matches a name and the arguments joined as one text. */
type ShellPattern =
  | { form: "any" }
  | { form: "tokens"; tokens: string[] }
  | { form: "glob"; name: string; glob: string };

export function shellPattern(pattern: string): ShellPattern {
  if (/^\*+(:\*+)?$/.test(pattern)) return { form: "any" };
  const end = pattern.search(/[\s:]/);
  if (pattern[end] === ":") return { form: "glob", name: pattern.slice(0, end), glob: pattern.slice(end + 1) };
  // `npm run:*` has the same meaning as `npm run`.
  return { form: "tokens", tokens: pattern.replace(/:\*+$/, "").split(/\s+/).filter(Boolean) };
}

/** Returns the program that a Shell rule names, or undefined if that part is a pattern. */
export function programIn({ pattern }: Rule): string | undefined {
  return /^[^\s:*?{}[\]]+(?=$|[\s:])/.exec(pattern)?.[0];
}

/** Matches exactly: the name as written, and the tokens one by one. */
export function allowsCommand(rule: Rule, { name, args }: RuleCommand): boolean {
  const pattern = shellPattern(rule.pattern);
  if (pattern.form === "any") return true;
  if (pattern.form === "glob") return matchesText(pattern.name, name) && matchesText(pattern.glob, args.join(" "));
  const words = [name, ...args];
  return pattern.tokens.every((token, index) => words[index] !== undefined && matchesText(token, words[index]!));
}

/** Matches broadly: by base name, ignoring case, and past options that precede what the rule names. */
export function deniesCommand(rule: Rule, { name, args }: RuleCommand): boolean {
  const pattern = shellPattern(rule.pattern);
  if (pattern.form === "any") return true;
  const wanted = pattern.form === "glob" ? pattern.name : pattern.tokens[0]!;
  if (!sameProgram(wanted, name)) return false;
  if (pattern.form === "glob")
    return startsAfterOptions(args).some((from) => matchesText(pattern.glob, args.slice(from).join(" ")));
  const rest = pattern.tokens.slice(1);
  const named = rest.filter((token) => !isOption(token));
  return rest.filter(isOption).every((option) => hasOption(option, args)) && hasInOrder(named, args);
}

function sameProgram(wanted: string, name: string): boolean {
  const [wantedBase, base] = [wanted, name.replace(/\.exe$/i, "")].map((each) => each.slice(each.lastIndexOf("/") + 1));
  return matchesText(wanted, name, { fold: true }) || matchesText(wantedBase!, base!, { fold: true });
}

function isOption(token: string): boolean {
  return token.startsWith("-") && token.length > 1;
}

/** Returns whether an option is given: `-rf` also as `-fr`, `-r -f` or in `-rfv`. */
function hasOption(option: string, args: readonly string[]): boolean {
  if (args.some((arg) => matchesText(option, arg) || (option.startsWith("--") && arg.startsWith(`${option}=`))))
    return true;
  if (!/^-[A-Za-z0-9]+$/.test(option)) return false;
  const shortFlags = args.filter((arg) => /^-[A-Za-z0-9]+$/.test(arg)).join("");
  return [...option.slice(1)].every((letter) => shortFlags.includes(letter));
}

/** Finds the tokens in order; only options and their possible values may be in between. */
function hasInOrder(tokens: readonly string[], args: readonly string[]): boolean {
  let next = 0;
  for (const [index, arg] of args.entries()) {
    if (next === tokens.length) return true;
    if (matchesText(tokens[next]!, arg)) next++;
    else if (!isOption(arg) && !(index > 0 && isOption(args[index - 1]!))) return false;
  }
  return next === tokens.length;
}

function startsAfterOptions(args: readonly string[]): number[] {
  const starts = [0];
  for (const [index, arg] of args.entries()) {
    if (!isOption(arg) && !(index > 0 && isOption(args[index - 1]!))) break;
    starts.push(index + 1);
  }
  return starts;
}

/** Cached per list: a decision needs them often, and lists can be long. */
const lists = new WeakMap<readonly Rule[], Map<string, readonly Rule[]>>();

/** Returns the rules with a kind and a verdict. */
export function rulesFor(rules: readonly Rule[], kind: RuleKind, verdict: Rule["verdict"]): readonly Rule[] {
  const existing = lists.get(rules) ?? new Map<string, readonly Rule[]>();
  lists.set(rules, existing);
  const key = `${kind} ${verdict}`;
  const found = existing.get(key) ?? rules.filter((rule) => rule.kind === kind && rule.verdict === verdict);
  existing.set(key, found);
  return found;
}

/** Names a rule and the file that contains it, for use in a reason. */
export function nameOf(rule: Rule): string {
  return rule.source === "built in" ? `${rule.text}, which is built in,` : `${rule.text} in ${rule.source}`;
}
