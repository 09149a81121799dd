// The table of `worktrees` commands.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const yes = flag("Workspace", "-y, --yes", "Do not ask for confirmation");

export const worktreeCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List the worktrees of this repository, with their state",
    flags: [flag("Workspace", "-a, --all", "Include all repositories"), textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./list.ts")).listCommand,
  },
  {
    name: "show",
    summary: "Show the changes in a worktree as a diff",
    operands: "<name>",
    flags: [flag("Workspace", "--stat", "Show one line per file instead")],
    uses: ["workspace"],
    examples: ["worktrees show fix-login", "worktrees show fix-login --stat"],
    load: async () => (await import("./show.ts")).showCommand,
  },
  {
    name: "merge",
    summary: "Merge its changes: uncommitted into the checkout, or as a branch",
    operands: "<name>",
    flags: [yes, flag("Workspace", "--branch <branch>", "Merge into a new branch, keeping the commits")],
    uses: ["workspace"],
    examples: ["worktrees merge fix-login", "worktrees merge fix-login --branch fix-login"],
    load: async () => (await import("./merge.ts")).mergeCommand,
  },
  {
    name: "remove",
    summary: "Delete worktrees; unmerged changes are lost",
    operands: "<name...>",
    flags: [yes],
    uses: ["force", "workspace"],
    meanings: { force: "Also with unmerged changes, without asking" },
    examples: ["worktrees remove fix-login", "worktrees remove fix-login --yes"],
    load: async () => (await import("./remove.ts")).removeCommand,
  },
];
