// Builds the request that would be sent today in place of a recorded one, from the workspace as it is now, and compares them.
import type { Agent } from "../agent/agent.ts";
import { askQuestion } from "../agent/tools/ask-question.ts";
import { builtInTools } from "../agent/tools/index.ts";
import type { Prompt, RunRequest } from "../protocol/run.ts";
import { chooseTools, closedTools } from "../run/choose-tools.ts";
import type { RunHost } from "../run/host.ts";
import { loadInstructions } from "../run/instructions.ts";
import { type Setup, setUp } from "../run/setup.ts";
import type { RunState } from "../run/state.ts";
import {
  changedSince,
  partsDifference,
  type Sides,
  systemDifference,
  toolsDifference,
  wholeRequests,
} from "./compare.ts";
import { createDescriber, type DescribedRequest } from "./describe.ts";
import { createNormaliser, normaliseEnvironment, placesOf } from "./normalise.ts";
import type { Recording, SystemPart } from "./recording.ts";
import { fileDifference, filesIn } from "./text-difference.ts";

/** Describes how a request differs. `prompt` is given for the first request of a turn. */
export type RunCheck = (request: number, prompt: Prompt | undefined) => Promise<string | undefined>;

export async function createCheck(
  recording: Recording,
  { request, host }: { request: RunRequest; host: RunHost },
): Promise<RunCheck> {
  const { header } = recording;
  const settled = await setUp(request, host, { gate: false });
  const isResumed = header.request.chat?.type === "resume";
  const mode = isResumed && settled.mode === "default" ? header.mode : settled.mode;
  // Nothing is executed in a check, so trust the workspace as the recorded run did.
  const setup: Setup = { ...settled, trusted: header.trusted, mode };
  const now = createNormaliser(placesOf(setup.request, host.env));
  const sides = { recorded: createNormaliser(header.places), now };
  const describer = createDescriber(now, host.redact ?? ((text) => text));
  // Whether questions can be answered may be known only once the host has spoken, and the system prompt depends on it.
  let making: ReturnType<typeof instructionsNow> | undefined;
  const instructions = async () => {
    await host.ready;
    making ??= instructionsNow(setup, recording);
    return making;
  };
  const whole = wholeRequests(recording);
  const touched = new TouchedPaths(recording, sides);
  return async (number, prompt) => {
    const recorded = whole[number - 1]!;
    const changed = changedSince(recording, number, recorded);
    if (changed !== undefined) return changed;
    if (prompt === undefined) {
      const { agent, purpose } = recording.requests[number - 1]!;
      if (agent !== "main" || purpose !== undefined) return undefined;
      const { forPath } = await instructions();
      return touched.difference(recorded, setup.workspace, forPath);
    }
    const current = await instructions();
    const described = describer.request({ system: current.system, tools: current.tools, messages: [] });
    const expanded = await current.expand(prompt, recorded);
    const isAppended = header.request.appendSystemPrompt === request.appendSystemPrompt;
    const system = isAppended ? withoutHooks(recorded.system, described.system, sides) : recorded.system;
    const message = describer.message({ role: "user", parts: expanded });
    return (
      systemDifference(system, described.system, sides) ??
      toolsDifference(ownTools(recorded.tools), described.tools, current.tools) ??
      promptDifference(recorded, message.parts, sides)
    );
  };
}

/** Returns the system prompt and the tools that the agent would use today. */
async function instructionsNow(setup: Setup, recording: Recording) {
  const { header } = recording;
  const hasServers = setup.request.browser === true || setup.request.mcpConfigs !== undefined;
  const all = chooseTools(setup.request, { mode: setup.mode, hasServers });
  const hiddenTools = [...(setup.asking.canAnswer ? [] : [askQuestion.name]), ...closedTools(setup, setup.mode)];
  const tools = all.filter(({ name }) => !hiddenTools.includes(name));
  const state = { mode: setup.mode, model: { ...header.model } as Agent["model"] } as RunState;
  const { answerSchema } = setup.request;
  const answer =
    answerSchema === undefined ? {} : { answer: (await import("../run/answer-schema.ts")).answerSchema(answerSchema) };
  const loaded = await loadInstructions(setup, { state, tools: all, now: Date.now(), warn: () => {}, ...answer });
  const never = new AbortController().signal;
  return {
    system: loaded.system(),
    tools,
    forPath: loaded.forPath,
    async expand(prompt: Prompt, recorded: DescribedRequest) {
      // The prompt of an MCP server is only available while the server runs.
      if (/^\/[\w.-]+:\S/.test(prompt.text) && recorded.messages.length > 0) {
        const texts = recorded.messages.at(-1)!.parts.filter((part) => part.type === "text");
        return texts.map(({ text }) => ({ type: "text" as const, text }));
      }
      return (await loaded.expand(prompt, "", never)).parts;
    },
  };
}

/** Hooks add to the end of the system prompt, and none runs here. */
function withoutHooks(recorded: readonly SystemPart[], now: readonly SystemPart[], sides: Sides) {
  const texts = [recorded, now].map((parts) => normaliseEnvironment(parts.at(-1)?.text ?? "")) as [string, string];
  return sides.recorded(texts[0]).startsWith(`${sides.now(texts[1])}\n\n`) ? now : recorded;
}

/** Leaves out the tools of servers and of a browser, which are known only while these run. */
function ownTools(recorded: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recorded).filter(([name]) => builtInTools.some((tool) => tool.name === name)),
  );
}

/** Compares two prompts, allowing for text that hooks may have added. */
function promptDifference(
  recorded: DescribedRequest,
  now: DescribedRequest["messages"][number]["parts"],
  sides: Sides,
): string | undefined {
  const index = recorded.messages.length - 1;
  const recordedParts = recorded.messages[index]?.parts ?? [];
  const difference = partsDifference(recordedParts.slice(0, now.length), now, sides);
  return difference && `messages[${index}] (user)${difference.words}`;
}

const readers = new Set(["read", "ls", "grep", "glob", "semSearch"]);

/** Compares rules of nested folders and rules with patterns, which are sent with the results of calls that touch a path. */
class TouchedPaths {
  readonly #sides: Sides;
  /** The calls in the recording, by id. */
  readonly #calls = new Map<string, { tool?: string; path?: unknown; command?: unknown }>();
  readonly #compared = new Set<string>();
  /** Paths and commands of calls that may have changed files in the recorded run. The check changes nothing. */
  #changed = "";

  constructor({ lines }: Recording, sides: Sides) {
    this.#sides = sides;
    for (const line of lines)
      if ("event" in line && line.event.type === "tool_start")
        this.#calls.set(line.event.callId, { ...(line.event.args as object), tool: line.event.tool });
  }

  difference(
    { messages }: DescribedRequest,
    workspace: string,
    forPath: (path: string) => string | undefined,
  ): string | undefined {
    const index = messages.length - 1;
    const parts = messages[index]?.parts ?? [];
    const results = parts.filter((part) => part.type === "tool_result");
    // The same conversation may be sent again, and each rule is sent once.
    const calls = results.filter(({ id }) => !this.#compared.has(id)).map(({ id }) => this.#calls.get(id) ?? {});
    if (calls.length === 0) return undefined;
    for (const { id } of results) this.#compared.add(id);
    const textParts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
    const now = calls.flatMap(({ path }) => {
      if (typeof path !== "string") return [];
      return forPath(this.#sides.recorded(path).replace("<workspace>", () => workspace)) ?? [];
    });
    for (const { tool = "", path, command } of calls)
      if (!readers.has(tool)) this.#changed += `\n${path ?? ""}\n${command ?? ""}`;
    const found = fileDifference(
      this.#unchangedFiles(filesIn(this.#sides.recorded(textParts.join("\n")))),
      this.#unchangedFiles(filesIn(this.#sides.now(now.join("\n")))),
    );
    return found && `messages[${index}], ${found.file}: ${found.words}`;
  }

  #unchangedFiles(files: Map<string, string>): Map<string, string> {
    const names = [...files].filter(([file]) => !this.#changed.includes(file.slice(file.lastIndexOf("/") + 1)));
    return new Map(names);
  }
}
