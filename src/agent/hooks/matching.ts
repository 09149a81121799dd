// Does a hook's matcher speak of this event? In doubt yes: a guard that runs once too often does no harm.
import type { JsonObject } from "../../json/object.ts";
import { hookEvents } from "../../protocol/hook-events.ts";
import type { Hook } from "../../store/hook-files.ts";
import { type PatternTest, patternTest } from "../../text/pattern-in-time.ts";

/** Longer texts are not searched: the hook runs. */
const longestSubject = 20_000;

export type Matcher = (subjects: readonly string[], isName: boolean) => boolean;

/** What matchers are compared with; undefined where they do not apply. `isName`: names are compared as a whole. */
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

/** Claude's matchers apply to more. */
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
