// The floor, for people: what stays protected in every mode, as paths.ts knows it.

/** `examples`: paths that are protected by it, for whoever wants to see; the workspace is `.`. */
export type ProtectedPlace = { what: string; level: "never" | "protected"; examples: readonly string[] };

export const protectedPlaces: readonly ProtectedPlace[] = [
  {
    what: "the agent's own configuration: <config> and ~/.cursor",
    level: "never",
    examples: ["~/.cursor/cli-config.json", "~/.cursor/rules/a.mdc"],
  },
  {
    what: ".cursor/**, except rules, commands, skills and agents in it",
    level: "protected",
    examples: ["./.cursor/mcp.json", "./.cursor/hooks.json", "./packages/a/.cursor/cli.json"],
  },
  {
    what: ".git itself, and in it hooks, config*, info/attributes, also of submodules and worktrees",
    level: "protected",
    examples: ["./.git", "./.git/hooks/pre-push", "./.git/config", "./.git/modules/a/hooks/x"],
  },
  {
    what: ".vscode/**, .idea/**, *.code-workspace, .devcontainer/**",
    level: "protected",
    examples: ["./.vscode/tasks.json", "./.idea/x", "./a.code-workspace", "./.devcontainer/devcontainer.json"],
  },
  {
    what: ".mcp.json, .claude/**, .codex/**, .gemini/**",
    level: "protected",
    examples: ["./.mcp.json", "./.claude/settings.json", "./.codex/x", "./.gemini/x"],
  },
  { what: ".envrc, .cursorignore", level: "protected", examples: ["./.envrc", "./sub/.cursorignore"] },
  {
    what: "start-up files of shells in your home directory and in /etc",
    level: "protected",
    examples: ["~/.bashrc", "~/.zshenv", "/etc/profile.d/x.sh"],
  },
  {
    what: "~/.ssh, ~/.gitconfig, ~/.config/git",
    level: "protected",
    examples: ["~/.ssh/config", "~/.gitconfig", "~/.config/git/config"],
  },
];

/** What --force leaves as it is. */
export const beyondForce: readonly string[] = [
  "deny rules, of every file",
  "files that .cursorignore hides, and devices, pipes and /proc",
  "protected paths: asked about in a terminal, rejected in print mode",
  "commands of this program that change permissions",
  "lines that cannot be read or whose programs are not known before, where there are Shell deny rules",
  "reading files whose names the line makes up, where there are Read deny rules",
  "private and local network addresses",
];
