// The options of the last run, which are the defaults for the next one.
import { signal } from "@preact/signals";

export type Mode = "agent" | "plan" | "ask";

export type Choices = {
  cli: string;
  workspace: string;
  model: string;
  mode: Mode;
  permission: "ask" | "force";
  isWorktree: boolean;
  /** Whether to start the run and stay on the current page. */
  isAside: boolean;
  /** For a fleet: the repository with the files, and the pool of workers. */
  repository: string;
  pool: string;
};

const name = "courser.new-run";

const first: Choices = {
  ...{ cli: "courser", workspace: "", model: "", mode: "agent", permission: "ask" },
  ...{ isWorktree: false, isAside: false, repository: "", pool: "" },
};

export const choices = signal<Choices>({ ...first, ...loadChoices(), permission: "ask" });

export function choose(change: Partial<Choices>): void {
  choices.value = { ...choices.value, ...change };
}

/** Saves the options when a run starts, except for the permission to run everything, which must be chosen for each run. */
export function keepChoices(): void {
  const { permission: _, ...rest } = choices.value;
  localStorage.setItem(name, JSON.stringify(rest));
}

function loadChoices(): Partial<Choices> {
  try {
    const { mode, ...rest } = JSON.parse(localStorage.getItem(name) ?? "{}") as Partial<Choices>;
    return { ...rest, ...(/^(agent|plan|ask)$/.test(mode ?? "") && { mode }) } as Partial<Choices>;
  } catch {
    return {};
  }
}
