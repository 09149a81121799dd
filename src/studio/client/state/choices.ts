// What the last run was started with: the next one begins from there.
import { signal } from "@preact/signals";

export type Mode = "agent" | "plan" | "ask";

export type Choices = {
  cli: string;
  workspace: string;
  model: string;
  mode: Mode;
  permission: "ask" | "force";
  isWorktree: boolean;
  /** It is started, and the page stays where it is. */
  isAside: boolean;
  /** Over a fleet: where the files come from, and which workers. */
  repository: string;
  pool: string;
};

const name = "courser.new-run";

const first: Choices = {
  ...{ cli: "courser", workspace: "", model: "", mode: "agent", permission: "ask" },
  ...{ isWorktree: false, isAside: false, repository: "", pool: "" },
};

export const choices = signal<Choices>({ ...first, ...saved(), permission: "ask" });

export function choose(change: Partial<Choices>): void {
  choices.value = { ...choices.value, ...change };
}

/** Kept when a run was started with it. That everything is allowed is said for each run anew. */
export function keepChoices(): void {
  const { permission: _, ...rest } = choices.value;
  localStorage.setItem(name, JSON.stringify(rest));
}

function saved(): Partial<Choices> {
  try {
    const { mode, ...rest } = JSON.parse(localStorage.getItem(name) ?? "{}") as Partial<Choices>;
    return { ...rest, ...(/^(agent|plan|ask)$/.test(mode ?? "") && { mode }) } as Partial<Choices>;
  } catch {
    return {};
  }
}
