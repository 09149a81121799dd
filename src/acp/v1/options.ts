// Modes and config options of version 1.
import { type PermissionMode, reasoningEfforts } from "../../protocol/run.ts";

export const modes = [
  { id: "agent", name: "Agent", description: "Reads, edits and runs commands" },
  { id: "plan", name: "Plan", description: "Looks and plans, changes nothing" },
  { id: "ask", name: "Ask", description: "Answers questions, changes nothing" },
] as const;

export type ModeId = (typeof modes)[number]["id"];

export const efforts = reasoningEfforts;

/** The option that leaves the effort at the model's own default. */
export const ownEffort = "default";

export type SessionChoices = {
  mode: ModeId;
  model: string;
  effort: string;
  models: readonly { id: string; name: string }[];
};

export function modeIdOf(mode: PermissionMode): ModeId {
  return mode === "plan" || mode === "ask" ? mode : "agent";
}

export function modeState({ mode }: SessionChoices): object {
  return { currentModeId: mode, availableModes: modes };
}

export function configOptions({ mode, model, effort, models }: SessionChoices): object[] {
  const select = (currentValue: string, options: readonly object[]) => ({ type: "select", currentValue, options });
  return [
    {
      id: "mode",
      name: "Mode",
      category: "mode",
      ...select(
        mode,
        modes.map(({ id, name, description }) => ({ value: id, name, description })),
      ),
    },
    {
      id: "model",
      name: "Model",
      category: "model",
      ...select(
        model,
        models.map(({ id, name }) => ({ value: id, name })),
      ),
    },
    {
      id: "effort",
      name: "Effort",
      description: "How much the model thinks",
      category: "thought_level",
      ...select(
        effort,
        [ownEffort, ...efforts].map((value) => ({ value, name: value.charAt(0).toUpperCase() + value.slice(1) })),
      ),
    },
  ];
}
