// Checks a single rule for mistakes.

import type { Rule } from "../../protocol/permission-rule.ts";
import { compilePath, hasWildcard, matchesText } from "../../text/glob.ts";
import { distanceBetween, nearestName } from "../../text/nearest.ts";
import { hostPattern, judgeUrl } from "../network.ts";
import { floorOf, isDirectory, realOrSame, rootOf, specialKind } from "../paths.ts";
import { words } from "../programs/command-names.ts";
import { stateChangers } from "../programs/shell-builtins.ts";
import { absolutePattern, namesPath, programIn, shellPattern, splitPattern } from "../rules.ts";
import { baseName, isShell, startedPrograms } from "../starts/wrappers.ts";
import type { LintContext, LintFinding } from "./index.ts";

/** Names of programs with which possibly misspelt names are compared. */
const knownPrograms = words(`
  ansible apt awk aws az basename bash brew bundle bun bunzip2 bzip2 cargo cat cd chmod chown clang cmake cmp comm composer conda cp
  curl cut date deno df diff dirname docker dotnet du echo egrep env eslint expr false fd fgrep file find firebase flutter fmt fold gcc
  gcloud gem git gofmt gradle grep groups gunzip gzip head helm hostname htop iconv id java javac jest join jq kill kubectl less ln
  locate ls lsof make man md5sum mkdir mktemp mocha more mv mvn mypy ninja nl node nohup npm npx nvim od openssl paste patch perl php
  pip pip3 pnpm podman poetry prettier printenv printf ps psql pushd pwd pytest python python3 rails rake readlink realpath rev rg rm
  rmdir rsync ruby ruff rustc rustup scp sed seq sh sha256sum shuf sleep sort split ssh stat strings sudo swift tac tail tar tee
  terraform test time timeout top touch tr tree true tsc tty type uname uniq unzip uptime vim vitest watch wc wget which who whoami
  xargs xxd yarn yes zcat zip zsh zstd`);

export function impossibleRule(rule: Rule, context: LintContext): LintFinding | undefined {
  if (rule.verdict === "unconfined" && rule.kind !== "Shell")
    return {
      kind: "impossible",
      message: "Only commands are confined.",
      advice: "Name a command, as Shell(…), or remove it.",
    };
  if (rule.kind === "Shell") return impossibleShell(rule) ?? misspeltProgram(rule, context);
  if (rule.kind === "WebFetch") return impossibleHost(rule);
  return rule.kind === "Mcp" ? undefined : impossiblePath(rule, context);
}

function impossibleShell({ pattern, verdict, text }: Rule): LintFinding | undefined {
  const shape = shellPattern(pattern);
  if (shape.form === "any") return undefined;
  const name = shape.form === "glob" ? shape.name : shape.tokens[0]!;
  if (/^[A-Za-z_]\w*=/.test(name)) {
    return neverMatches(
      "variables before a command are not part of its name.",
      `Name the command alone, without ${name}.`,
    );
  }
  if (verdict === "allow" && name.includes("/")) {
    const base = baseName(name);
    return neverMatches("allow rules name programs, not paths.", `Write ${text.replace(name, base)}.`);
  }
  if (shape.form === "glob") return undefined;
  const operator = /[;|<>`]|&&|\$\(|(^|\s)&(\s|$)/.exec(pattern)?.[0].trim();
  if (operator) {
    return neverMatches(
      `every command of a line is matched separately, so ${operator} is never part of one.`,
      "Write a rule for each of the commands.",
    );
  }
  if (/["']/.test(pattern))
    return neverMatches("words are compared without their quotes.", `Write ${text.replace(/["']/g, "")}.`);
  return undefined;
}

function misspeltProgram(rule: Rule, { hasProgram }: LintContext): LintFinding | undefined {
  const name = programIn(rule);
  if (name === undefined || name.includes("/") || knownPrograms.has(name) || stateChangers.has(name)) return undefined;
  // Ignore names of two letters, which resemble too many others.
  if (name.length < 3 || hasProgram?.(name)) return undefined;
  const meant = nearestName(name, [...knownPrograms]);
  if (meant === undefined || !(hasProgram ? isOneSlip(name, meant) : hasSameLetters(name, meant))) return undefined;
  return { kind: "misspelt", message: `Unknown program ${name}.`, advice: `Write ${rule.text.replace(name, meant)}.` };
}

/** If the installed programs are unknown, only the same letters in another order or case count as a misspelling. */
function hasSameLetters(name: string, meant: string): boolean {
  const letters = (word: string) => [...word.toLowerCase()].sort().join("");
  return letters(name) === letters(meant);
}

/** Returns whether one letter is added, missing or different, or two are swapped: `eslint_d` is not a misspelt `eslint`. */
function isOneSlip(name: string, meant: string): boolean {
  return distanceBetween(name.toLowerCase(), meant) <= 1;
}

function impossiblePath(rule: Rule, context: LintContext): LintFinding | undefined {
  const { pattern, text, kind, verdict } = rule;
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(pattern))
    return neverMatches("it is an address, not a path.", `Write WebFetch(…) for addresses.`);
  if (/\$\{?\w/.test(pattern))
    return neverMatches("variables are not expanded in rules.", `Write ~/ for your home, or the whole path.`);
  if (pattern.includes("\\"))
    return neverMatches("paths in rules have slashes.", `Write ${text.replaceAll("\\", "/")}.`);
  if (verdict === "allow" && !hasWildcard(pattern) && !pattern.endsWith("/")) {
    const path = absolutePattern(pattern, context);
    if (isDirectory(path))
      return neverMatches("it names a directory, and covers no file in it.", `Write ${kind}(${pattern}/**).`);
  }
  return undefined;
}

function impossibleHost({ pattern, verdict }: Rule): LintFinding | undefined {
  const { host, port } = hostPattern(pattern);
  if (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535))
    return neverMatches(`${port} is not a port.`, `Write WebFetch(${host}), or a port from 1 to 65535.`);
  const rest = host.replace(/^\*\./, "");
  if (verdict === "allow" && hasWildcard(rest) && !/^\*+$/.test(host))
    return neverMatches("a wildcard must be a whole host, or its subdomains.", `Write WebFetch(*.example.com).`);
  return undefined;
}

function neverMatches(message: string, advice: string): LintFinding {
  return { kind: "impossible", message: `It can never match: ${message}`, advice };
}

/** Finds allow rules that have no effect on their own. */
export function deadRule(rule: Rule, context: LintContext): LintFinding | undefined {
  if (rule.verdict === "deny") return undefined;
  if (rule.kind === "Shell") return deadShell(programIn(rule));
  if (rule.kind === "Read") return deadRead(rule, context);
  if (rule.kind === "Write") return deadWrite(rule, context);
  return rule.kind === "WebFetch" ? deadHost(rule) : undefined;
}

function deadShell(name = ""): LintFinding | undefined {
  if (stateChangers.has(name)) return noEffect(`${name} changes the shell itself: no rule allows that.`);
  const [outer, inner] = startedPrograms(`${name} 1 some-program`).runs;
  if (outer?.transparent && inner) return noEffect(`${name} only runs what it is given, and needs no rule.`);
  return undefined;
}

function deadRead({ pattern }: Rule, context: LintContext): LintFinding | undefined {
  const [head] = splitPattern(absolutePattern(pattern, context));
  if (rootOf(realOrSame(head), context) !== undefined) return noEffect("Reading inside the workspace needs no rule.");
  const special = specialKind(head);
  return special ? noEffect(`It is never opened: ${special}.`) : undefined;
}

/** Finds a Write rule without effect on a protected path: the user can unlock such paths only one by one, by name. */
function deadWrite(rule: Rule, context: LintContext): LintFinding | undefined {
  const path = absolutePattern(rule.pattern, context);
  const both = { given: path, real: path };
  const floor = floorOf(both, context);
  if (!floor) return undefined;
  if (floor.level === "never") return noEffect(`${floor.why}.`);
  const lifts = rule.scope === "user" && namesPath(rule, both, context) && rootOf(path, context) !== undefined;
  if (lifts) return undefined;
  return {
    kind: "dead",
    message: `${floor.why}.`,
    advice: "Only a rule in your own cli-config.json that names one file of the workspace exactly lifts that.",
  };
}

/** Finds a host rule that does not open the host, because its address is closed. */
function deadHost(rule: Rule): LintFinding | undefined {
  if (hasWildcard(rule.pattern)) return undefined;
  const { host, port } = hostPattern(rule.pattern);
  const url = `http://${host}${port === undefined ? "" : `:${port}`}/`;
  const { verdict, reasons } = judgeUrl(url, { mode: "default", rules: [rule] });
  return verdict === "deny"
    ? { kind: "dead", message: reasons.join(" "), advice: "Name host and port in your own file." }
    : undefined;
}

function noEffect(message: string): LintFinding {
  return { kind: "dead", message, advice: "Remove it." };
}

/** Finds allow rules that allow more than they seem to. */
export function wideRule(rule: Rule, context: LintContext): LintFinding | undefined {
  if (rule.verdict === "deny") return undefined;
  const { kind, pattern } = rule;
  if (kind === "Shell") return wideShell(pattern);
  if (kind === "Mcp" && /^\*+(:\*+)?$/.test(pattern))
    return tooWide("Every tool of every server is called without asking.", "Name the servers: Mcp(server:*).");
  if (kind === "WebFetch" && /^\*+(:\d+)?$/.test(pattern))
    return tooWide(
      "Every host is reached without asking, and an address can carry data away.",
      "Name the intended hosts.",
    );
  if (kind === "Mcp" || kind === "WebFetch") return undefined;
  const covers = compilePath(absolutePattern(pattern, context));
  // Try a made-up file name, which only a wildcard matches.
  if (!covers(`${context.home}/any/file`)) return undefined;
  return tooWide("It covers your whole home directory, so nothing there asks.", "Name the intended directories.");
}

function wideShell(pattern: string): LintFinding | undefined {
  const shape = shellPattern(pattern);
  if (shape.form === "any")
    return tooWide("Every command runs without asking, like --force.", "Name the intended programs.");
  const name = shape.form === "glob" ? shape.name : shape.tokens[0]!;
  const wild = hasWildcard(name) && ["bash", "sh", "sudo", "rm"].find((each) => matchesText(name, each));
  if (wild) return tooWide(`It also covers ${wild}.`, "Name the intended programs.");
  if (isShell(name))
    return tooWide(
      `${name} runs any script, also one that the agent has just written.`,
      "Name the programs that the scripts run.",
    );
  if (startedPrograms(`${name} 1 some-program`).privileged.length > 0)
    return tooWide(`${name} changes privileges: it asks each time, whatever a rule says.`, "Remove it.");
  return undefined;
}

function tooWide(message: string, advice: string): LintFinding {
  return { kind: "wide", message, advice };
}
