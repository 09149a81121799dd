// A conversation that no longer fits, made shorter: first what tools said long ago, then the older turns, by a summary.
// What the user said stays word for word, the newest turn stays as it is while it can, every call keeps its result.
import type { ModelInfo } from "../../model/provider.ts";
import type { AgentEvent, Usage } from "../../protocol/event.ts";
import { isPrompt, type Message } from "../../protocol/message.ts";
import {
  cutNewest,
  cutOldest,
  materialOf,
  shortenOld,
  stepsGone,
  turnsOf,
  withMemory,
  wordsOf,
} from "./cut-history.ts";
import { countTokens, estimateTokens } from "./estimate.ts";

export { estimateTokens } from "./estimate.ts";

/** What whoever wants to know is told before anything is changed: the hook `preCompact`. */
export type CompactionSize = {
  trigger: "auto" | "manual";
  tokens: number;
  windowTokens: number;
  messages: number;
  /** Those before the newest turn. */
  messagesToCompact: number;
};

/** What asking the model cost, and what happened meanwhile. `facts`: of the model that answers from then on, where it changed. */
type SummaryReport = { usage?: Usage; events?: AgentEvent[]; facts?: ModelInfo };

/** `text`: at most so many characters as were asked for. */
export type Summary = SummaryReport & { text: string };

export type CompactOptions = {
  /** What the conversation may take, in tokens. */
  room: number;
  /** Who wants it: default the agent itself. */
  trigger?: CompactionSize["trigger"];
  /** The newest turn is over: it may be shortened like the others. */
  isIdle?: boolean;
  /** All that the model takes. */
  windowTokens: number;
  /** Asks the user's own model; absent where it cannot be asked. What goes wrong is no reason to stop. */
  summarise?(transcript: string, longest: number): Promise<Summary>;
  beforeCompact?(facts: CompactionSize): Promise<void> | void;
};

export type Compacted = SummaryReport & {
  /** The same messages when nothing could be gained. */
  messages: readonly Message[];
  how: "unchanged" | "shortened" | "summarised";
  /** In tokens. */
  before: number;
  after: number;
};

/** Less than fits, so that the next reply does not need this again. */
const goalShare = 0.6;
/** A summary that may not be longer than this says nothing. */
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
  const asked = await summarised(light, { latest, goal, options });
  let shorter = asked.older ?? cutOldest(light, goal - countTokens(latest));
  shorter = [...shorter, ...latest];
  let told = asked.told;
  let isSummarised = asked.older !== undefined;
  if (estimateTokens(shorter) > options.room) {
    const cut = cutNewest(shorter, goal);
    // One summary at a time: whoever was just asked about older turns is not asked again.
    const memory = isSummarised ? { told } : await remembered(stepsGone(shorter, cut), { kept: cut, options });
    ({ told } = memory);
    isSummarised ||= memory.text !== undefined;
    shorter = memory.text === undefined ? cut : withMemory(cut, memory.text);
  }

  const after = estimateTokens(shorter);
  if (after >= before) return { ...told, messages, how: "unchanged", before, after: before };
  return { ...told, messages: shorter, how: isSummarised ? "summarised" : "shortened", before, after };
}

/** What the steps of this turn that went have shown; nothing where none did, or nobody can be asked. */
async function remembered(
  gone: readonly Message[],
  { kept, options }: { kept: readonly Message[]; options: CompactOptions },
): Promise<{ text?: string; told: SummaryReport }> {
  const free = options.room - estimateTokens(kept);
  const longest = Math.min(free * 3, Math.floor(estimateTokens(gone)), longestSummary);
  return gone.length === 0 || longest < shortestSummary ? { told: {} } : ask(gone, longest, options);
}

/** A text that is no longer than it may be. What goes wrong is no reason to stop. */
async function ask(
  messages: readonly Message[],
  longest: number,
  { summarise, windowTokens }: CompactOptions,
): Promise<{ text?: string; told: SummaryReport }> {
  if (!summarise) return { told: {} };
  try {
    const { text, ...told } = await summarise(materialOf(messages, windowTokens * 2), longest);
    return text.trim() === "" || text.length > longest ? { told } : { text: text.trim(), told };
  } catch {
    return { told: {} };
  }
}

type SummaryAttempt = { older?: Message[]; told: SummaryReport };

/** The older turns as the user's words and a summary; nothing where that is not needed, or not to be had. */
async function summarised(
  older: readonly Message[],
  { latest, goal, options }: { latest: readonly Message[]; goal: number; options: CompactOptions },
): Promise<SummaryAttempt> {
  if (estimateTokens([...older, ...latest]) <= goal) return { told: {} };
  const words = turnsOf(older).flatMap(wordsOf);
  const replaced = estimateTokens(older) - estimateTokens(words);
  const room = Math.min(goal - estimateTokens([...words, ...latest]), Math.floor(replaced / 2));
  const longest = Math.min(room * 3, longestSummary);
  if (longest < shortestSummary) return { told: {} };
  const { text, told } = await ask(older, longest, options);
  if (text === undefined) return { told };
  return { older: [...words, { role: "assistant", parts: [{ type: "text", text: summaryNote + text }] }], told };
}

const summaryNote = "[What was done before, in short; the details were removed to save space.]\n";
