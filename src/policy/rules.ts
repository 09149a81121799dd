// What a rule covers. Deny rules are matched generously, allow rules to the letter.
import { join, resolve } from "node:path";
import type { Rule, RuleKind } from "../protocol/permission-rule.ts";
import { compilePath, fold, hasWildcard, matchesText } from "./glob.ts";
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

/** A command as rules see it: decoded, without redirects and assignments. */
export type RuleCommand = { name: string; args: readonly string[] };

type RulePaths = Pick<WorkspacePaths, "workspace" | "home">;

export function coversPath(rule: Rule, path: ResolvedPath, paths: RulePaths): boolean {
  const { tests } = compiledRule(rule, paths);
  const candidates = rule.verdict === "allow" ? [path.real] : [path.given, path.real];
  return candidates.some((candidate) => tests.some((test) => test(candidate)));
}

/** Files that rules name and that have further names, by rule: for as long as one question takes. */
export type LinkedFiles = Map<Rule, SecondNames>;

/** As `coversPath`; and a file that has a second name is denied by either. */
export function coversFile(rule: Rule, path: ResolvedPath, paths: RulePaths, linked: LinkedFiles = new Map()): boolean {
  if (coversPath(rule, path, paths)) return true;
  if (rule.verdict === "allow") return false;
  const known = linked.get(rule) ?? secondNamesOf([rule], paths);
  linked.set(rule, known);
  return known.include(path.real);
}

/** Of all the files that the rules name. */
export function secondNamesOf(rules: readonly Rule[], paths: RulePaths): SecondNames {
  const heads = rules.map((rule) => splitPattern(realPattern(absolutePattern(rule.pattern, paths)))[0]);
  return new SecondNames(heads, (path) => rules.some((rule) => coversPath(rule, { given: path, real: path }, paths)));
}

/** Could the rule name something in this folder, at any depth? What its pattern has before the first wildcard tells. */
export function reachesInto(rule: Rule, folder: string, paths: RulePaths): boolean {
  const plain = fold(folder);
  return compiledRule(rule, paths).heads.some((head) => isInside(plain, head) || isInside(head, plain));
}

type PathTest = (path: string) => boolean;

/** `heads`: of each pattern what stands before its first wildcard, folded. */
type CompiledRule = { tests: PathTest[]; heads: string[] };

/** Made once for each set of paths: a command may name a thousand files, a search find more. */
const knownRules = new WeakMap<RulePaths, Map<string, CompiledRule>>();

function compiledRule({ verdict, pattern }: Rule, paths: RulePaths): CompiledRule {
  const known = knownRules.get(paths) ?? new Map<string, CompiledRule>();
  knownRules.set(paths, known);
  const key = `${verdict} ${pattern}`;
  const found = known.get(key);
  if (found) return found;
  const absolute = absolutePattern(pattern, paths);
  const both = [...new Set([absolute, realPattern(absolute)])];
  const tests = verdict === "allow" ? both.map((each) => compilePath(each)) : both.flatMap(denyTests);
  // Braces and brackets are wildcards as well, also where they stretch over several components.
  const heads = both.map((each) => splitPattern(fold(each).replace(/[[{].*/s, "*"))[0]);
  const compiled = { tests, heads };
  known.set(key, compiled);
  return compiled;
}

/** The folder itself and what is below it. */
function denyTests(pattern: string): PathTest[] {
  const below = `${pattern}/**`;
  const plain = compilePath(below, { fold: true });
  // `[ab]` is documented nowhere; who writes it in a deny rule may mean either.
  return pattern.includes("[") ? [plain, compilePath(below, { fold: true, brackets: true })] : [plain];
}

/** Does the rule name exactly this path, without a wildcard? */
export function namesPath(rule: Rule, path: ResolvedPath, paths: RulePaths): boolean {
  if (hasWildcard(rule.pattern) || rule.pattern.endsWith("/")) return false;
  return absolutePattern(rule.pattern, paths) === path.given && path.given === path.real;
}

/** Relative patterns mean the workspace; a trailing slash means what is below. */
export function absolutePattern(pattern: string, { workspace, home }: RulePaths): string {
  const whole = pattern.endsWith("/") ? `${pattern}**` : pattern;
  return resolve(workspace, withHome(whole, home));
}

/** The pattern with the links of its fixed part followed, for rules that name a linked folder. */
function realPattern(pattern: string): string {
  const [head, rest] = splitPattern(pattern);
  try {
    return join(realTarget(head), rest);
  } catch {
    return pattern;
  }
}

/** The fixed part of a pattern, and what begins with the first wildcard. */
export function splitPattern(pattern: string): [head: string, rest: string] {
  const segments = pattern.split("/");
  const fixed = segments.findIndex((segment) => hasWildcard(segment));
  const end = fixed === -1 ? segments.length : fixed;
  return [segments.slice(0, end).join("/") || "/", segments.slice(end).join("/")];
}

/** The rule that speaks of something which lies below a folder, and what that is: it goes, or changes, with the folder. */
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
    const held = !isNear
      ? undefined
      : rest === "" && isThere(pattern) && covers(pattern)
        ? pattern
        : firstBelow(folder, covers);
    if (held) return `${nameOf(rule)} denies ${held}, which ${folder} holds.`;
  }
  return undefined;
}

/** `server:tool`, with wildcards in either part. */
export function coversMcp(rule: Rule, target: string): boolean {
  if (/^\*+$/.test(rule.pattern)) return true;
  const [server, tool] = halves(rule.pattern);
  const [wantedServer, wantedTool] = halves(target);
  const options = { fold: rule.verdict === "deny" || rule.fold === true };
  return matchesText(server, wantedServer, options) && matchesText(tool, wantedTool, options);
}

function halves(text: string): [string, string] {
  const at = text.indexOf(":");
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** `any`; `tokens`: whole leading words; `glob`: a name and a pattern for the arguments as one text. */
type ShellPattern =
  | { form: "any" }
  | { form: "tokens"; tokens: string[] }
  | { form: "glob"; name: string; glob: string };

export function shellPattern(pattern: string): ShellPattern {
  if (/^\*+(:\*+)?$/.test(pattern)) return { form: "any" };
  const end = pattern.search(/[\s:]/);
  if (pattern[end] === ":") return { form: "glob", name: pattern.slice(0, end), glob: pattern.slice(end + 1) };
  // `npm run:*` says no more than `npm run`.
  return { form: "tokens", tokens: pattern.replace(/:\*+$/, "").split(/\s+/).filter(Boolean) };
}

/** To the letter: the name as written, the tokens one by one. */
export function allowsCommand(rule: Rule, { name, args }: RuleCommand): boolean {
  const pattern = shellPattern(rule.pattern);
  if (pattern.form === "any") return true;
  if (pattern.form === "glob") return matchesText(pattern.name, name) && matchesText(pattern.glob, args.join(" "));
  const words = [name, ...args];
  return pattern.tokens.every((token, index) => words[index] !== undefined && matchesText(token, words[index]!));
}

/** Generously: by base name, without case, past options that come before what the rule names. */
export function deniesCommand(rule: Rule, { name, args }: RuleCommand): boolean {
  const pattern = shellPattern(rule.pattern);
  if (pattern.form === "any") return true;
  const wanted = pattern.form === "glob" ? pattern.name : pattern.tokens[0]!;
  if (!sameProgram(wanted, name)) return false;
  if (pattern.form === "glob")
    return startsAfterOptions(args).some((from) => matchesText(pattern.glob, args.slice(from).join(" ")));
  const rest = pattern.tokens.slice(1);
  return (
    rest.filter(isOption).every((option) => hasOption(option, args)) &&
    hasInOrder(
      rest.filter((token) => !isOption(token)),
      args,
    )
  );
}

function sameProgram(wanted: string, name: string): boolean {
  const base = name.slice(name.lastIndexOf("/") + 1).replace(/\.exe$/i, "");
  return (
    matchesText(wanted, name, { fold: true }) ||
    matchesText(wanted.slice(wanted.lastIndexOf("/") + 1), base, { fold: true })
  );
}

function isOption(token: string): boolean {
  return token.startsWith("-") && token.length > 1;
}

/** `-rf` is there as `-fr`, as `-r -f`, and as `-rfv`. */
function hasOption(option: string, args: readonly string[]): boolean {
  if (args.some((arg) => matchesText(option, arg) || (option.startsWith("--") && arg.startsWith(`${option}=`))))
    return true;
  if (!/^-[A-Za-z0-9]+$/.test(option)) return false;
  const given = args.filter((arg) => /^-[A-Za-z0-9]+$/.test(arg)).join("");
  return [...option.slice(1)].every((letter) => given.includes(letter));
}

/** Tokens in order; what stands between may only be an option, or what could be an option's value. */
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

/** Made once for a list: a decision asks for them often, and lists can be long. */
const lists = new WeakMap<readonly Rule[], Map<string, readonly Rule[]>>();

/** The rules of one kind and verdict. */
export function rulesFor(rules: readonly Rule[], kind: RuleKind, verdict: Rule["verdict"]): readonly Rule[] {
  const known = lists.get(rules) ?? new Map<string, readonly Rule[]>();
  lists.set(rules, known);
  const key = `${kind} ${verdict}`;
  const found = known.get(key) ?? rules.filter((rule) => rule.kind === kind && rule.verdict === verdict);
  known.set(key, found);
  return found;
}

/** For reasons: the rule and the file that holds it. */
export function nameOf(rule: Rule): string {
  return rule.source === "built in" ? `${rule.text}, which is built in,` : `${rule.text} in ${rule.source}`;
}
