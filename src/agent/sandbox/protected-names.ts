// The names of protected paths, one by one: what must not come to be has to be named. policy/paths.ts judges what there is.

export const protectedFolders = [".vscode", ".idea", ".claude", ".codex", ".gemini", ".devcontainer"];
export const protectedFiles = [".mcp.json", ".envrc", ".cursorignore", ".cursorindexingignore", ".devcontainer.json"];

/** Text for the agent, which people let agents write. */
export const openInCursor = ["rules", "commands", "skills", "agents"];

/** Beside them everything that begins with `config`, and `commondir`. */
export const gitSettings = ["hooks", "info", "modules", "worktrees"];

/** Of what lies at the top of a repository. The policy says the same of paths that have `.git` in them. */
export function isGitSetting(name: string): boolean {
  const folded = name.toLowerCase();
  return gitSettings.includes(folded) || folded.startsWith("config") || folded === "commondir";
}

/** Below the home folder. */
export const homeSettings = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
  ".inputrc",
  ".xprofile",
  ".xinitrc",
  ".xsessionrc",
  ".pam_environment",
  ".gitconfig",
  ".ssh",
  ".cursor",
  ".config/fish",
  ".config/git",
  ".config/environment.d",
  ".config/autostart",
  ".config/systemd",
];
