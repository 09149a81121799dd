// Lists protected names, for the policy and for the sandbox, which must also name paths that must not be created.
import { list } from "../text/words.ts";

/** Folders in which everything is protected, at any depth. */
export const protectedFolders = list(".vscode .idea .zed .claude .codex .gemini .opencode .devcontainer .husky");
export const protectedFiles = list(`
  .mcp.json .envrc .cursorignore .cursorindexingignore .devcontainer.json .npmrc .gitmodules`);

/** Folders in .cursor with instructions for agents, which users let agents write. */
export const openInCursor = ["rules", "commands", "skills", "agents"];

/** Files in the home folder that are protected. */
export const homeFiles = list(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
  .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsessionrc .pam_environment .gitconfig`);

/** Protected folders in the home directory. `~/.cursor` is the agent's own configuration. */
export const homeFolders = list(`
  .ssh .config/fish .config/git .config/environment.d .config/autostart .config/systemd`);

/** All protected paths in the home folder, for the sandbox. */
export const homeSettings = [...homeFiles, ".cursor", ...homeFolders];

export const systemFiles = list(`
  /etc/profile /etc/profile.d /etc/bash.bashrc /etc/bashrc /etc/zsh /etc/zshrc /etc/zshenv /etc/zprofile /etc/environment
  /etc/fish`);

/** Folders at the top of a repository that hold settings, or other repositories with their own. */
export const gitFolders = ["hooks", "info", "modules", "worktrees"];

/** Files at the top of a repository: `config*` names programs, `commondir` another repository. */
export function isGitFile(name: string): boolean {
  return name.startsWith("config") || name === "commondir";
}

/** Checks a name at the top of a repository, in any case. The sandbox blocks all of these; the policy checks further. */
export function isGitSetting(name: string): boolean {
  const folded = name.toLowerCase();
  return gitFolders.includes(folded) || isGitFile(folded);
}

/** Checks a lowercase path inside `.git`: hooks, config and attributes name programs; a `.git` file names the folder that holds them. */
export function isProtectedInGit(rest: readonly string[]): boolean {
  if (rest.length === 0) return true;
  // Submodules and worktrees have the same layout; their names may contain slashes.
  if (rest[0] !== "modules" && rest[0] !== "worktrees") return isSetting(rest);
  return rest.some((_, index) => isSetting(rest.slice(index)));
}

function isSetting([first, second, third]: readonly string[]): boolean {
  return (
    first === "hooks" ||
    // This file names other repositories, whose objects then count as this one's.
    (first === "objects" && second === "info" && third === "alternates") ||
    isGitFile(first!) ||
    // This file may contain commands, which `git rebase --continue` runs.
    (first === "rebase-merge" && second?.startsWith("git-rebase-todo") === true) ||
    (first === "info" && (second === undefined || second === "attributes"))
  );
}
