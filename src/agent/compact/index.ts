// Compacts a conversation that no longer fits: first old tool results, then older turns, by a summary. The user's words stay verbatim, the
// newest turn stays unchanged while it fits, and every call keeps its result.
import type { ModelInfo } from "../../model/provider.ts";
import type { AgentEvent, Usage } from "../../protocol/event.ts";
import { isPrompt, type Message } from "../../protocol/message.ts";
import {
  cutNewest,
  cutOldest,
  materialOf,
  removedSteps,
  shortenOld,
  splitIntoTurns,
  userMessages,
  withMemory,
} from "./cut-history.ts";
import { countTokens, estimateTokens } from "./estimate.ts";

export { estimateTokens } from "./estimate.ts";

/** The size of the conversation before compaction, as passed to the `preCompact` hook. */
export type CompactionSize = {
  trigger: "auto" | "manual";
  tokens: number;
  windowTokens: number;
  messages: number;
  /** The number of messages before the newest turn. */
  messagesToCompact: number;
};

/** Cost and events of the summary request. `modelInfo` describes the model that answers from then on, if it changed. */
type SummaryReport = { usage?: Usage; events?: AgentEvent[]; modelInfo?: ModelInfo };

/** A summary of removed messages; `text` has at most the requested number of characters. */
export type Summary = SummaryReport & { text: string };

export type CompactOptions = {
  /** How many tokens the conversation may take after compaction. */
  room: number;
  /** Who requested the compaction; "auto" (the default) is the agent itself. */
  trigger?: CompactionSize["trigger"];
  /** True when no turn is running. The newest turn may then be shortened like the others. */
  isIdle?: boolean;
  windowTokens: number;
  /** Asks the user's model for a summary; absent when it cannot be asked. Failures are ignored. */
  summarise?(transcript: string, longest: number): Promise<Summary>;
  beforeCompact?(size: CompactionSize): Promise<void> | void;
};

export type Compacted = SummaryReport & {
  /** The compacted messages, or the original ones if they could not be shortened. */
  messages: readonly Message[];
  how: "unchanged" | "shortened" | "summarised";
  /** The size before compaction in estimated tokens; `after` is the size after it. */
  before: number;
  after: number;
};

/** Aims below what fits, so that the next reply does not need compaction again. */
const goalShare = 0.6;
/** The minimum length in characters that a summary needs to be useful. */
const shortestSummary = 400;
const longestSummary = 8000;

export async function makeRoom(messages: readonly Message[], options: CompactOptions): Promise<Compacted> {
  const before = estimateTokens(messages);
  const newest = options.isIdle ? messages.length : messages.findLastIndex(isPrompt);
  const older = messages.slice(0, Math.max(0, newest));
  const latest = messages.slice(Math.max(0, newest));
  await options.beforeCompact?.({
    trigger: options.trigger ?? "auto",
    tokens: before,
    windowTokens: options.windowTokens,
    messages: messages.length,
    messagesToCompact: older.length,
  });

  const goal = Math.floor(options.room * goalShare);
  const light = shortenOld(older);
  const asked = await summariseOlderTurns(light, { latest, goal, options });
  let shorter = asked.older ?? cutOldest(light, goal - countTokens(latest));
  shorter = [...shorter, ...latest];
  let report = asked.report;
  let isSummarised = asked.older !== undefined;
  if (estimateTokens(shorter) > options.room) {
    const cut = cutNewest(shorter, goal);
    // Request only one summary: skip this one if the older turns were just summarised.
    const memory = isSummarised
      ? { report: report }
      : await summariseRemovedSteps(removedSteps(shorter, cut), { kept: cut, options });
    ({ report: report } = memory);
    isSummarised ||= memory.text !== undefined;
    shorter = memory.text === undefined ? cut : withMemory(cut, memory.text);
  }

  const after = estimateTokens(shorter);
  if (after >= before) return { ...report, messages, how: "unchanged", before, after: before };
  return { ...report, messages: shorter, how: isSummarised ? "summarised" : "shortened", before, after };
}

/** Summarises the removed steps of this turn; returns no text when there are none or the model cannot be asked. */
async function summariseRemovedSteps(
  gone: readonly Message[],
  { kept, options }: { kept: readonly Message[]; options: CompactOptions },
): Promise<{ text?: string; report: SummaryReport }> {
  const free = options.room - estimateTokens(kept);
  const longest = Math.min(free * 3, Math.floor(estimateTokens(gone)), longestSummary);
  return gone.length === 0 || longest < shortestSummary ? { report: {} } : requestSummary(gone, longest, options);
}

/** Requests a summary and drops one that is too long. Failures are ignored. */
async function requestSummary(
  messages: readonly Message[],
  longest: number,
  { summarise, windowTokens }: CompactOptions,
): Promise<{ text?: string; report: SummaryReport }> {
  if (!summarise) return { report: {} };
  try {
    const { text, ...report } = await summarise(materialOf(messages, windowTokens * 2), longest);
    return text.trim() === "" || text.length > longest ? { report: report } : { text: text.trim(), report: report };
  } catch {
    return { report: {} };
  }
}

type SummaryAttempt = { older?: Message[]; report: SummaryReport };

/** Replaces older turns with the user's prompts and a summary. The result has no `older` if that is not needed or not possible. */
async function summariseOlderTurns(
  older: readonly Message[],
  { latest, goal, options }: { latest: readonly Message[]; goal: number; options: CompactOptions },
): Promise<SummaryAttempt> {
  if (estimateTokens([...older, ...latest]) <= goal) return { report: {} };
  const words = splitIntoTurns(older).flatMap(userMessages);
  const replaced = estimateTokens(older) - estimateTokens(words);
  const room = Math.min(goal - estimateTokens([...words, ...latest]), Math.floor(replaced / 2));
  const longest = Math.min(room * 3, longestSummary);
  if (longest < shortestSummary) return { report: {} };
  const { text, report } = await requestSummary(older, longest, options);
  if (text === undefined) return { report: report };
  return {
    older: [...words, { role: "assistant", parts: [{ type: "text", text: summaryNote + text }] }],
    report: report,
  };
}

const summaryNote = "[What was done before, in short; the details were removed to save space.]\n";
