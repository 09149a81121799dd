// Decides whether a hook's matcher applies to an event. In doubt it does: running a guard once too often does no harm.
import type { JsonObject } from "../../json/object.ts";
import { hookEvents } from "../../protocol/hook-events.ts";
import type { Hook } from "../../store/hook-files.ts";
import { type PatternTest, patternTest } from "../../text/pattern-in-time.ts";

/** A text longer than this is not matched against the hook's pattern; the hook runs. */
const longestSubject = 20_000;

export type Matcher = (subjects: readonly string[], isName: boolean) => boolean;

/** Returns what a matcher is compared with; undefined where matchers do not apply. With `isName`, whole names are compared. */
export function subjectsOf(
  { event, format }: Pick<Hook, "event" | "format">,
  payload: JsonObject,
  names?: readonly string[],
): { subjects: readonly string[]; isName: boolean } | undefined {
  if (names) return { subjects: names, isName: true };
  const { subject } = hookEvents[event];
  const field = subject && "field" in subject ? subject.field : format === "claude" ? claudeFields[event] : undefined;
  if (field !== undefined) return { subjects: [String(payload[field] ?? "")], isName: field !== "command" };
  return subject && "word" in subject ? { subjects: [subject.word], isName: true } : undefined;
}

/** Payload fields that are matched only by hooks in Claude Code's format. */
const claudeFields: Partial<Record<Hook["event"], string>> = {
  sessionStart: "source",
  sessionEnd: "reason",
  preCompact: "trigger",
};

export function createMatcher({ matcher, file, entry }: Hook, warn: (message: string) => void): Matcher {
  if (matcher === undefined) return () => true;
  const isList = /^[\w:-]+(\|[\w:-]+)*$/.test(matcher);
  const names = new Set(isList ? matcher.split("|") : []);
  let test: PatternTest;
  try {
    test = patternTest(matcher);
  } catch (error) {
    warn(`${file}: "${entry}.matcher": ${(error as Error).message}. The hook runs as if it had none.`);
    return () => true;
  }
  return (subjects, isName) => {
    if (isName && isList) return subjects.some((name) => names.has(name) || names.has(name.split(":")[0]!));
    return subjects.some((subject) => {
      if (subject.length > longestSubject) return true;
      const found = test(subject);
      if (found === undefined)
        warn(`${file}: "${entry}.matcher" takes too long on some texts; the hook runs on them all the same.`);
      return found ?? true;
    });
  };
}
