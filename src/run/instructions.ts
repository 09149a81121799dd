// Loads the instructions of a run: the system prompt for each mode, skills, subagents, and prompts with expanded mentions.
import { release } from "node:os";
import { resolve } from "node:path";
import { findGit } from "../agent/instructions/environment.ts";
import {
  buildSystemPrompt,
  createPathInstructions,
  createSkillRegistry,
  type ExpandedPrompt,
  expandPrompt,
  listCommands,
  withSkills,
} from "../agent/instructions/index.ts";
import { callableSubagents, findSubagents, subagentSection } from "../agent/subagents/definitions.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { TurnPrompt } from "../agent/turn.ts";
import type { Part } from "../protocol/message.ts";
import type { CallableName, Prompt } from "../protocol/run.ts";
import { oneLine } from "../text/one-line.ts";
import type { RecentWork } from "../worktrees/recent-work.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import { readImage } from "./images.ts";
import type { RunServers } from "./mcp.ts";
import { commandWords, unlistedCommands } from "./sandbox.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";
import { perMode, type RunState } from "./state.ts";

type InstructionParts = {
  state: RunState;
  tools: readonly Tool[];
  mcp?: Pick<RunServers, "expand">;
  answer?: AnswerSchema;
  now: number;
  /** Uncommitted changes and recent commits, read since the run began. */
  work?: Promise<RecentWork | undefined>;
  warn(message: string): void;
};

export type RunInstructions = Awaited<ReturnType<typeof loadInstructions>>;

export async function loadInstructions(setup: Setup, parts: InstructionParts) {
  const { workspace, roots, configDir, home, request, host, asking, trusted } = setup;
  const { state, tools, mcp, answer, warn } = parts;
  const { loadHidden } = await import("../policy/hidden.ts");
  const isIgnored = await loadHidden(setup);
  const files = { workspace, roots, configDir, home, isIgnored, plugins: setup.plugins };
  const skills = createSkillRegistry({ ...files, trusted });
  const { subagents, warnings: wrong } = findSubagents({ ...files, trusted });
  const surroundings = {
    ...files,
    headless: !asking.canAnswer,
    platform: process.platform,
    osRelease: release(),
    shell: host.env["SHELL"] ?? "/bin/bash",
    today: new Date(parts.now),
    work: await parts.work,
    commands: await commandWords(setup, unlistedCommands(setup)),
    systemPrompt: request.systemPrompt,
    appendSystemPrompt: request.appendSystemPrompt,
    sections: [skills.section, tools.some((tool) => tool.wire === "task") ? subagentSection(subagents) : ""],
  };
  const appendSystemPrompt = [request.appendSystemPrompt, answer?.instruction].filter(Boolean).join("\n\n");
  const first = buildSystemPrompt({ ...surroundings, mode: state.mode, appendSystemPrompt });
  const { loaded } = first;
  for (const warning of [...first.warnings, ...skills.takeWarnings(), ...wrong]) warn(warning);
  const byPath = withSkills(createPathInstructions(files, loaded), skills);
  return {
    files,
    loaded,
    surroundings,
    skills,
    subagents,
    system: perMode(
      state,
      (mode) => buildSystemPrompt({ ...surroundings, mode, appendSystemPrompt }, loaded).system,
      first.system,
    ),
    /** Returns instructions for a touched path; each text is returned once. */
    forPath: (path: string) => byPath.forPath(resolve(workspace, path)),
    takeWarnings: () => byPath.takeWarnings(),
    async expand(prompt: Prompt, requestId: string, signal: AbortSignal): Promise<TurnPrompt> {
      const callable = [skills, callableSubagents(subagents)];
      const expanded =
        (await mcp?.expand(prompt.text, signal)) ??
        expandPrompt(prompt.text, { ...files, instructions: byPath, callable });
      for (const warning of expanded.warnings) warn(warning);
      return { ...promptParts(prompt, expanded), requestId };
    },
    names: (): CallableName[] => [
      ...listCommands(files).map((each) => ({ ...each, kind: "command" as const })),
      ...skills.list().map((each) => ({ ...each, kind: "skill" as const })),
      ...subagents.map(({ name, description }) => ({
        name,
        kind: "subagent" as const,
        ...(description !== undefined && { description: oneLine(description, 200) }),
      })),
    ],
  };
}

/** How many milliseconds to wait for the list of changed files and commits. */
const recentWorkMs = 1500;
/** A chat resumed within this time repeats the same text: vendors cache the start of a request for about this long. */
const sameForMs = 60 * 60 * 1000;

/** Reads recent work only in a trusted workspace, since its text goes into the prompt. */
export async function readRecentWork(
  { workspace, trusted, host }: Setup,
  { state, saveState }: Pick<RunSession, "state" | "saveState">,
): Promise<RecentWork | undefined> {
  if (!trusted || !findGit(workspace)) return undefined;
  const savedWork = state("recentWork") as { at: number; work: RecentWork } | undefined;
  if (savedWork && Date.now() - savedWork.at < sameForMs) return savedWork.work;
  const { recentWork } = await import("../worktrees/recent-work.ts");
  const work = await recentWork({ cwd: workspace, env: host.env }, recentWorkMs);
  if (work) saveState("recentWork", { at: Date.now(), work });
  return work;
}

/** Returns what the user typed, what the model gets, and the attachments for hooks. */
function promptParts({ text, data, images = [] }: Prompt, { parts, attachments }: ExpandedPrompt) {
  const pictures = images.map(
    (image): Part => ({ type: "image", ...(typeof image === "string" ? readImage(image) : image) }),
  );
  const piped: Part[] = data === undefined ? [] : [{ type: "text", text: data }];
  const files = attachments.flatMap(({ type, path }) =>
    type === "rule" || type === "file" ? [{ type, path } as const] : [],
  );
  const imageMentions = images.flatMap((image) =>
    typeof image === "string" ? [{ type: "file" as const, path: image }] : [],
  );
  return {
    text: data === undefined ? text : `${text}\n\n${data}`,
    parts: [...parts, ...piped, ...pictures],
    attachments: [...files, ...imageMentions],
  };
}
