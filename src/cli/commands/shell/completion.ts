// Prints a completion script, made from the tables of commands and flags.
import { usageError } from "../../../protocol/error-codes.ts";
import { type Flag, flags } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { answer } from "../answer.ts";
import type { Command } from "../index.ts";

export type ShellName = "bash" | "zsh" | "fish";

export const shells: readonly ShellName[] = ["zsh", "bash", "fish"];

const programs = ["courser", "cursor-agent", "agent"];

export async function completion({ line, name }: Invocation, commands: readonly Command[]): Promise<number> {
  const [shell, second] = line.words;
  const existing = shells.find((each) => each === shell);
  if (!existing || second !== undefined) {
    throw usageError(
      `completion takes the name of a shell: ${name} completion ${shells.join("|")}. To install it: ${name} install-shell-integration`,
    );
  }
  return answer(scriptFor(existing, commands));
}

export function scriptFor(shell: ShellName, commands: readonly Command[]): string {
  const tree = commands
    .filter((each) => each.load || each.commands)
    .map(({ name, summary, commands: inner = [], flags: own = [] }) => ({
      name,
      summary,
      inner,
      flags: own.filter(isShown),
    }));
  return scripts[shell](tree, flags.filter(isShown));
}

type CommandNode = {
  name: string;
  summary: string;
  inner: readonly { name: string; summary: string }[];
  flags: readonly Flag[];
};

function isShown({ hidden }: Flag): boolean {
  return !hidden;
}

const scripts: Readonly<Record<ShellName, (tree: readonly CommandNode[], general: readonly Flag[]) => string>> = {
  bash(tree, general) {
    const cases = tree.map(
      ({ name, inner, flags: own }) =>
        `      ${name}) words="${[...inner.map((each) => each.name), ...own.map(longName)].join(" ")}" ;;`,
    );
    const valued = [...general, ...tree.flatMap((each) => each.flags)].filter(({ choices }) => choices);
    const choices = [...new Map(valued.map((flag) => [flag.name, flag])).values()].map(
      ({ name, choices: values = [] }) =>
        `    --${name}) COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$current")); return ;;`,
    );
    return `# Completion for ${programs.join(", ")} in bash.
_courser() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${choices.join("\n")}
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then
    words="${tree.map(({ name }) => name).join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac
  fi
  if [[ "$current" == -* ]]; then words="$words ${general.map(longName).join(" ")}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _courser ${programs.join(" ")}
`;
  },
  zsh(tree, general) {
    const described = (items: readonly { name: string; summary: string }[]) =>
      items.map(({ name, summary }) => `'${name}:${escapeSingleQuotes(summary).replaceAll(":", "\\:")}'`).join(" ");
    const argument = ({ name, help, value, choices, repeat }: Flag) => {
      const takes = value === undefined ? "" : choices ? `:${name}:(${choices.join(" ")})` : `:${name}:_files`;
      return `'${repeat ? "*" : ""}--${name}[${escapeSingleQuotes(help).replace(/[[\]]/g, "\\$&").replaceAll(":", "\\:")}]${takes}'`;
    };
    const inner = tree
      .filter((each) => each.inner.length > 0)
      .map(
        ({ name, inner: commands }) =>
          `        ${name}) local -a inner=(${described(commands)}); _describe command inner ;;`,
      );
    return `#compdef ${programs.join(" ")}
# Completion for ${programs.join(", ")} in zsh.
_courser() {
  local -a commands=(${described(tree)})
  _arguments -C ${general.map(argument).join(" ")} '1: :->first' '*: :->rest'
  case $state in
    first) _describe command commands; _files ;;
    rest)
      case $words[2] in
${inner.join("\n")}
        *) _files ;;
      esac ;;
  esac
}
if [ "$funcstack[1]" = "_courser" ]; then _courser "$@"; else compdef _courser ${programs.join(" ")}; fi
`;
  },
  fish(tree, general) {
    const lines = programs.flatMap((program) => [
      `complete -c ${program} -f -n __fish_use_subcommand -a "${tree.map(({ name }) => name).join(" ")}"`,
      ...tree.map(
        ({ name, summary }) =>
          `complete -c ${program} -n __fish_use_subcommand -a ${name} -d '${escapeSingleQuotes(summary)}'`,
      ),
      ...tree.flatMap(({ name, inner }) =>
        inner.map(
          (each) =>
            `complete -c ${program} -f -n '__fish_seen_subcommand_from ${name}' -a ${each.name} -d '${escapeSingleQuotes(each.summary)}'`,
        ),
      ),
      ...general.map(
        ({ name, short, help, value, choices }) =>
          `complete -c ${program} -l ${name}${short ? ` -s ${short}` : ""}${value ? " -r" : ""}${choices ? ` -a '${choices.join(" ")}'` : ""} -d '${escapeSingleQuotes(help)}'`,
      ),
    ]);
    return `# Completion for ${programs.join(", ")} in fish.\n${lines.join("\n")}\n`;
  },
};

function longName({ name }: Flag): string {
  return `--${name}`;
}

function escapeSingleQuotes(text: string): string {
  return text.replaceAll("'", "’").replace(/\s+/g, " ");
}
