// Programs whose work is to change settings that run code later: hooks of git, start-up files of shells, other agents' servers.

import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own } from "../programs/command-names.ts";

/** `said`: what the words must say for it, joined with blanks. */
type SettingsCommand = { said: RegExp; file: string };

const anything = /^(?!.*--?(help|version)\b)/s;
const installs = /(^|\s)-{0,2}(un)?install(\s|$)/;
const hooks = ".git/hooks";
const startUp = "~/.bashrc";

const settings: Record<string, SettingsCommand> = {
  ...each("pre-commit prek captainhook git-secrets", { said: installs, file: hooks }),
  lefthook: { said: /^(.*\s)?(install|uninstall|add)(\s|$)/s, file: hooks },
  // It names the folder of the hooks.
  husky: { said: anything, file: ".git/config" },
  "simple-git-hooks": { said: anything, file: hooks },
  overcommit: { said: /(^|\s)(-i|-u|--(un)?install)(\s|$)/, file: hooks },
  "git-lfs": { said: /^(install|uninstall|update)(\s|$)/, file: hooks },
  direnv: { said: /^(allow|permit|grant)(\s|$)/, file: ".envrc" },
  ...each("conda opam", { said: /^init(\s|$)/, file: startUp }),
  ...each("mamba micromamba", { said: /^(shell )?init(\s|$)/, file: startUp }),
  pipx: { said: /^ensurepath(\s|$)/, file: startUp },
  ...each("pnpm volta", { said: /^setup(\s|$)/, file: startUp }),
  uv: { said: /^tool update-shell(\s|$)/, file: startUp },
  "rustup-init": { said: anything, file: startUp },
  claude: { said: /^(mcp (add|remove)|config (set|add|remove)|plugin )/, file: ".mcp.json" },
  codex: { said: /^mcp (add|remove)/, file: "~/.codex/config.toml" },
  gemini: { said: /^(mcp|extensions) (add|remove|install|link|enable)/, file: ".gemini/settings.json" },
};

/** The settings that a command changes, by the file that holds them. */
export function changedSettings(run: CommandWords): ShellWord[] {
  const { program, rest } = meant(run);
  const setting = own(settings, program);
  return setting?.said.test(rest.map((arg) => arg.value).join(" ")) ? [literalWord(setting.file)] : [];
}

/** `python -m pre_commit` and `git lfs` are programs of their own. */
function meant({ name, args }: CommandWords): { program: string; rest: readonly ShellWord[] } {
  const base = baseName(name.value).toLowerCase();
  const at = /^python[\d.]*$/.test(base) ? args.findIndex((arg) => arg.value === "-m") + 1 : 0;
  if (at > 0) return { program: (args[at]?.value ?? "").replaceAll("_", "-"), rest: args.slice(at + 1) };
  const isGit = base === "git" && /^(lfs|secrets)$/.test(args[0]?.value ?? "");
  return isGit ? { program: `git-${args[0]!.value}`, rest: args.slice(1) } : { program: base, rest: args };
}
