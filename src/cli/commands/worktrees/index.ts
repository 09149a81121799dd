// The table of `worktrees` commands.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const yes = flag("Workspace", "-y, --yes", "Do not ask for confirmation");

export const worktreeCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List the worktrees of this repository, and what was done in each",
    flags: [flag("Workspace", "-a, --all", "Those of all repositories"), textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./list.ts")).listCommand,
  },
  {
    name: "show",
    summary: "Show what was done in a worktree, as a diff",
    operands: "<name>",
    flags: [flag("Workspace", "--stat", "A line for each file instead")],
    uses: ["workspace"],
    examples: ["worktrees show fix-login", "worktrees show fix-login --stat"],
    load: async () => (await import("./show.ts")).showCommand,
  },
  {
    name: "merge",
    summary: "Take over what was done: as uncommitted changes of the checkout, or as a branch",
    operands: "<name>",
    flags: [yes, flag("Workspace", "--branch <branch>", "As a new branch, with the commits that were made")],
    uses: ["workspace"],
    examples: ["worktrees merge fix-login", "worktrees merge fix-login --branch fix-login"],
    load: async () => (await import("./merge.ts")).mergeCommand,
  },
  {
    name: "remove",
    summary: "Delete worktrees; what was not merged is lost",
    operands: "<name...>",
    flags: [yes],
    uses: ["force", "workspace"],
    examples: ["worktrees remove fix-login", "worktrees remove fix-login --yes"],
    load: async () => (await import("./remove.ts")).removeCommand,
  },
];
