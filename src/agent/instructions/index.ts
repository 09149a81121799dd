// What the agent is told before and beside the prompt: the system prompt, project instructions, expanded prompts.
import { environmentBlock, type RunEnvironment } from "./environment.ts";
import {
  type InstructionContext,
  type InstructionSource,
  type LoadedInstructions,
  loadInstructions,
} from "./project.ts";
import { basePrompt } from "./system-prompt.ts";

export { type CommandSource, listCommands } from "./commands.ts";
export { type ExpandedPrompt, expandPrompt } from "./expand-prompt.ts";
export { createPathInstructions } from "./path-instructions.ts";
export { createSkillBook, withSkills } from "./skill-book.ts";

export type SystemPromptInput = InstructionContext &
  RunEnvironment & {
    headless: boolean;
    /** Takes the place of our own text; environment and project instructions stay. */
    systemPrompt?: string;
    appendSystemPrompt?: string;
    /** What the model may reach for: skills, subagents. */
    sections?: readonly string[];
  };

type SystemPrompt = {
  system: string;
  warnings: string[];
  sources: InstructionSource[];
  /** For createPathInstructions, so that nothing is read or given twice. */
  loaded: LoadedInstructions;
};

export function buildSystemPrompt(input: SystemPromptInput, loaded = loadInstructions(input)): SystemPrompt {
  // What changes least comes first: vendors cache the start of a request.
  const system = [
    input.systemPrompt ?? basePrompt(input),
    loaded.text,
    ...(input.sections ?? []),
    environmentBlock(input, loaded.git),
    input.appendSystemPrompt ?? "",
  ];
  return {
    system: system.filter((text) => text.trim() !== "").join("\n\n"),
    warnings: loaded.warnings,
    sources: loaded.sources,
    loaded,
  };
}
