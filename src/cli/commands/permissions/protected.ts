// Describes, for people, what stays protected in every mode, as paths.ts defines it.

export type ProtectedPathGroup = { what: string; level: "never" | "protected" };

export const protectedPathGroups: readonly ProtectedPathGroup[] = [
  { what: "the agent's own configuration: <config> and ~/.cursor", level: "never" },
  {
    what: "folders of the system (/, /etc, /usr, /boot, /var/lib, …) and home directories, removed, moved or emptied as a whole; disks and kernel switches in /dev, /proc and /sys",
    level: "never",
  },
  { what: ".cursor/**, except rules, commands, skills and agents in it", level: "protected" },
  {
    what: ".git itself, and in it hooks, config*, info/attributes, objects/info/alternates, the list of a rebase, also of submodules and worktrees; HEAD, except by git itself",
    level: "protected",
  },
  { what: ".vscode/**, .idea/**, .zed/**, *.code-workspace, .devcontainer/**", level: "protected" },
  { what: ".mcp.json, .claude/**, .codex/**, .gemini/**, .opencode/**", level: "protected" },
  { what: ".envrc, .cursorignore, .npmrc, .gitmodules, .husky/**", level: "protected" },
  { what: "start-up files of shells in your home directory and in /etc", level: "protected" },
  { what: "~/.ssh, ~/.gitconfig, ~/.config/git", level: "protected" },
  { what: "/etc/passwd, shadow, group, gshadow, sudoers and ld.so.preload", level: "protected" },
];

export const beyondForce: readonly string[] = [
  "deny rules, of every file",
  "files that .cursorignore hides, and devices, pipes and /proc",
  "protected paths: need confirmation in a terminal, rejected in print mode",
  "system folders and home directories: never removed, moved or emptied as a whole",
  "commands of this program that change permissions",
  "commands that cannot be parsed or whose programs are not known in advance, if there are Shell deny rules",
  "reading files whose names are computed, if there are Read deny rules",
  "private and local network addresses",
];
