// Adds a script to the hosts' hook files and removes it again. Everything else in them is kept.

import { unifiedDiff } from "../../../agent/diff.ts";
import { commandFor, type InstallHost, installHosts, matcherFor, toolEvents } from "../../../bridge/install/hosts.ts";
import { ConfigShapeError, planInstall, planUninstall, type WantedHook } from "../../../bridge/install/plan.ts";
import type { JsonObject } from "../../../json/object.ts";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import {
  type HookFileChange,
  type HookFileTexts,
  isUnchanged,
  previewHookFile,
  saveHookFile,
} from "../../../store/hook-edit.ts";
import { approveHooks, isApproved } from "../../../store/hook-trust.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import {
  configFileOf,
  eventsWanted,
  furtherEvents,
  type HooksContext,
  hooksContext,
  hostsWanted,
  onlyWord,
  shownFile,
  type WantedEvent,
} from "./context.ts";
import { isInstalledByUs, scriptOf, scriptPaths, scriptWanted } from "./script.ts";

type InstalledHost = {
  host: InstallHost;
  file: string;
  texts: HookFileTexts;
  added: string[];
  kept: string[];
  removed: string[];
};

export async function installHook(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "the hooks that watch them");
  const word = onlyWord(words, "install");
  const context = hooksContext(invocation);
  const { flags } = invocation.line;
  const scope = flags.has("global") ? "user" : "project";
  const hosts = hostsWanted(invocation, context);
  const matcher = matcherOf(flagText(flags, "matcher"));
  const events = eventsWanted(invocation);
  const script = scriptWanted(invocation, context, { word, isGlobal: scope === "user" });
  const plans = hosts.map((host) => {
    const hooks = wantedOn(host, events, matcher);
    const command = commandFor(host, script);
    const plan = (content: JsonObject | undefined) => planInstall(host, content, { command, hooks });
    return { host, hooks, change: { file: configFileOf(host, context, scope), scope, plan } satisfies HookFileChange };
  });
  // Validate all hook files before the first one is written.
  for (const { change } of plans) explainEditErrors(previewHookFile, change);
  const done = plans.map(({ host, hooks, change }): InstalledHost => {
    const wanted = hooks.map(({ event }) => event);
    let added: string[] = [];
    const plan = (content: JsonObject | undefined) => {
      const edits = change.plan(content);
      added = edits.flatMap((edit) => (edit.type === "append" ? String(edit.path[1]) : []));
      return edits;
    };
    const texts = explainEditErrors(flags.has("dry-run") ? previewHookFile : saveHookFile, { ...change, plan });
    return {
      host,
      file: change.file,
      texts,
      added,
      kept: wanted.filter((event) => !added.includes(event)),
      removed: [],
    };
  });
  if (!flags.has("dry-run") && scope === "project") approve(done, context);
  const notes = [...notesOnEvents(done, events), ...(flags.has("dry-run") ? [] : nextSteps(done, invocation, context))];
  return report(invocation, context, done, notes, { script });
}

export async function uninstallHook(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "the hooks that watch them");
  const word = onlyWord(words, "uninstall");
  const context = hooksContext(invocation);
  const { flags } = invocation.line;
  const scope = flags.has("global") ? "user" : "project";
  // A hook script that is to be removed need not exist any more.
  const named = word === undefined ? undefined : scriptPaths(word, context);
  const hosts = flags.has("hosts") ? hostsWanted(invocation, context) : installHosts;
  const done: InstalledHost[] = [];
  for (const host of hosts) {
    const file = configFileOf(host, context, scope);
    let removed: string[] = [];
    const plan = (content: JsonObject | undefined) => {
      if (!content) return [];
      const planned = planUninstall(host, content, (hook) => {
        const path = scriptOf(hook.command, host, context);
        return named ? path !== undefined && named.includes(path) : isInstalledByUs(hook, host, context);
      });
      removed = planned.removed.map(({ event }) => event);
      return planned.edits;
    };
    const texts = explainEditErrors(flags.has("dry-run") ? previewHookFile : saveHookFile, { file, scope, plan });
    if (removed.length > 0) done.push({ host, file, texts, added: [], kept: [], removed });
  }
  if (!flags.has("dry-run") && scope === "project") approve(done, context);
  const notes = done.length === 0 ? ["The hosts' files contain nothing of ours; nothing was changed."] : [];
  return report(invocation, context, done, notes, {});
}

function explainEditErrors(work: (change: HookFileChange) => HookFileTexts, change: HookFileChange): HookFileTexts {
  try {
    return work(change);
  } catch (error) {
    if (!(error instanceof ConfigShapeError)) throw error;
    throw new UserError("CONFIG_INVALID", `${change.file}: ${error.message}. Fix it first; the file was not changed.`);
  }
}

function matcherOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "" || text === "*") return undefined;
  try {
    new RegExp(text);
    return text;
  } catch (error) {
    throw usageError(`option '--matcher' is not a valid pattern: ${(error as Error).message}.`);
  }
}

function wantedOn(host: InstallHost, events: readonly WantedEvent[], matcher: string | undefined): WantedHook[] {
  return events.flatMap((event): WantedHook[] => {
    if (typeof event === "object") return host.further.includes(event.only) ? [{ event: event.only }] : [];
    const native = host.events[event];
    if (native === undefined) return [];
    const matches = matcher !== undefined && toolEvents.includes(event);
    return [{ event: native, ...(matches && { matcher: matcherFor(host, matcher) }) }];
  });
}

/** Approves what the command wrote, since the user typed it; a file that was unapproved before stays so. */
function approve(installedHosts: readonly InstalledHost[], context: HooksContext): void {
  const ofCourser = installedHosts.filter(
    ({ host, texts }) => isReadHere(host) && texts.after !== undefined && !isUnchanged(texts),
  );
  const approved = ofCourser.filter(
    ({ file, texts }) => texts.before === undefined || isApproved(context, file, withoutByteOrderMark(texts.before)),
  );
  approveHooks(
    context,
    approved.map(({ file, texts }) => ({ file, text: withoutByteOrderMark(texts.after!) })),
  );
}

function isReadHere({ name }: InstallHost): boolean {
  return name === "cursor" || name === "claude";
}

/** Whether the file waits for approval, so that Courser runs nothing in it. */
function isWaiting({ host, file, texts }: InstalledHost, context: HooksContext): boolean {
  if (!isReadHere(host) || !file.startsWith(context.workspace)) return false;
  return texts.after !== undefined && !isApproved(context, file, withoutByteOrderMark(texts.after));
}

function withoutByteOrderMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}

function notesOnEvents(installedHosts: readonly InstalledHost[], events: readonly WantedEvent[]): string[] {
  const notes: string[] = [];
  for (const { host } of installedHosts) {
    const missing = events.filter((event) =>
      typeof event === "object" ? !host.further.includes(event.only) : host.events[event] === undefined,
    );
    if (missing.length > 0)
      notes.push(
        `${host.title} has no ${missing.map((event) => (typeof event === "object" ? event.only : event)).join(", ")}: skipped there.`,
      );
  }
  const further = events.filter((event) => typeof event === "string" && furtherEvents.includes(event));
  if (further.length > 0 && installedHosts.some(({ host }) => host.name === "cursor"))
    notes.push(`For ${further.join(", ")} on Cursor the script must call run(hooks, { events: "all" }).`);
  return notes;
}

function nextSteps(installedHosts: readonly InstalledHost[], { name }: Invocation, context: HooksContext): string[] {
  const notes: string[] = [];
  const has = (host: string) => installedHosts.some((each) => each.host.name === host && each.added.length > 0);
  if (has("cursor") && !context.trusted)
    notes.push(`Courser runs hooks of a project only where you trust it: ${name} --trust`);
  const waiting = installedHosts.filter((each) => each.added.length > 0 && isWaiting(each, context));
  if (context.trusted && waiting.length > 0) {
    const files = waiting.map(({ file }) => shownFile(file, context)).join(" and ");
    notes.push(`${files} contains hooks that you have not approved: review it, then type: ${name} --trust`);
  }
  if (has("codex")) notes.push("Codex silently skips new hooks until you trust them: start codex and type /hooks.");
  if (has("gemini")) notes.push("Gemini CLI runs hooks of a project only in folders that you trust there.");
  if (has("claude") && has("cursor"))
    notes.push(
      "Cursor reads Claude's settings too and calls the script twice; the strictest answer wins. Courser calls it once.",
    );
  if (installedHosts.some((each) => each.added.length > 0))
    notes.push(
      `Try it: ${name} hooks test preToolUse${installedHosts.every(({ host }) => host.name === "codex") ? " --host codex" : ""}`,
    );
  return notes;
}

async function report(
  invocation: Invocation,
  context: HooksContext,
  done: readonly InstalledHost[],
  notes: readonly string[],
  more: object,
): Promise<number> {
  const dryRun = invocation.line.flags.has("dry-run");
  const diffs = await Promise.all(
    done.map(async ({ file, texts }) =>
      texts.after === undefined
        ? ""
        : (await unifiedDiff({ path: shownFile(file, context), before: texts.before, after: texts.after })).text,
    ),
  );
  if (wantsJson(invocation)) {
    const hosts = done.map(({ host, file, texts, added, kept, removed }, index) => ({
      host: host.name,
      file,
      changed: !isUnchanged(texts),
      added,
      kept,
      removed,
      ...(dryRun && { diff: diffs[index] }),
    }));
    return answerJson({ ...more, dryRun, hosts, notes });
  }
  const lines = dryRun ? diffs.filter((diff) => diff !== "").map((diff) => diff.trimEnd()) : [];
  for (const each of done) {
    const file = shownFile(each.file, context);
    if (isUnchanged(each.texts)) lines.push(`${file}: it is already there.`);
    else if (!dryRun)
      lines.push(
        `✓ ${file}: ${each.added.length > 0 ? `added ${each.added.join(", ")}` : `removed ${each.removed.join(", ")}`}`,
      );
  }
  return answer(`${[...lines, ...notes].join("\n")}\n`);
}
