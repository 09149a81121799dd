// Builds the system prompt from the base prompt, project instructions and environment; re-exports the rest of the folder.
import { environmentBlock, type RunEnvironment } from "./environment.ts";
import { type InstructionContext, type LoadedInstructions, loadInstructions } from "./project.ts";
import { basePrompt } from "./system-prompt.ts";

export { type CommandSource, listCommands } from "./commands.ts";
export { type ExpandedPrompt, expandPrompt } from "./expand-prompt.ts";
export { createPathInstructions } from "./path-instructions.ts";
export { createSkillRegistry, withSkills } from "./skill-registry.ts";

export type SystemPromptInput = InstructionContext &
  RunEnvironment & {
    headless: boolean;
    /** Replaces the built-in text; environment and project instructions stay. */
    systemPrompt?: string;
    appendSystemPrompt?: string;
    /** Additional sections of the system prompt, about skills and subagents. */
    sections?: readonly string[];
  };

type SystemPrompt = {
  system: string;
  warnings: string[];
  /** The instructions that were loaded; pass them to createPathInstructions so that none is read or sent twice. */
  loaded: LoadedInstructions;
};

export function buildSystemPrompt(input: SystemPromptInput, loaded = loadInstructions(input)): SystemPrompt {
  // Put what changes least first: vendors cache the start of a request.
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
    loaded,
  };
}
