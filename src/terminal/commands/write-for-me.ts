// Commands that expand to prepared prompts for the agent to write or review something.
import type { SlashCommand } from "./command.ts";

type Row = { name: string; operands?: string; help: string; prompt(rest: string): string };

const about = (rest: string) =>
  rest === "" ? "Ask me what it should be about, then write it." : `It is about: ${rest}`;

const rows: readonly Row[] = [
  {
    name: "init",
    help: "Write an AGENTS.md for this project",
    prompt: () =>
      "Look at this project and write AGENTS.md: what it is, how it is built, tested and run, how its folders fit together, and the conventions that its code follows. Keep it under a page. If there is one already, improve it.",
  },
  {
    name: "review",
    operands: "[what]",
    help: "Review the uncommitted changes",
    prompt: (rest) =>
      `Review ${rest === "" ? "the uncommitted changes of this repository" : rest}: bugs, missed cases, unclear names, missing tests. Look at the code around them too. List what you found by severity, with file and line; change nothing.`,
  },
  {
    name: "create-rule",
    operands: "[about]",
    help: "Write a rule in .cursor/rules",
    prompt: (rest) =>
      `Write a rule for this project as .cursor/rules/<name>.mdc: frontmatter with description, globs (which files it is for) and alwaysApply, then the rule in a few imperative sentences. ${about(rest)}`,
  },
  {
    name: "create-command",
    operands: "[about]",
    help: "Write a /command in .cursor/commands",
    prompt: (rest) =>
      `Write a command for this project as .cursor/commands/<name>.md: a first line that says what it does, then the prompt that /name expands to, with $ARGUMENTS for the words after it. ${about(rest)}`,
  },
  {
    name: "create-skill",
    operands: "[about]",
    help: "Write a skill in .cursor/skills",
    prompt: (rest) =>
      `Write a skill for this project as .cursor/skills/<name>/SKILL.md: frontmatter with name (same as the directory) and description (when to use it, in one sentence), then the steps. Put scripts it needs beside it. ${about(rest)}`,
  },
  {
    name: "create-subagent",
    operands: "[about]",
    help: "Write a subagent in .cursor/agents",
    prompt: (rest) =>
      `Write a subagent for this project as .cursor/agents/<name>.md: frontmatter with name and description (when to hand work to it), then its instructions: its task, its limits, what it reports. ${about(rest)}`,
  },
  {
    name: "create-hook",
    operands: "[about]",
    help: "Write a hook in .cursor/hooks.json",
    prompt: (rest) =>
      `Write a hook for this project: an entry in .cursor/hooks.json ({"version": 1, "hooks": {"<event>": [{"command": ".cursor/hooks/<name>"}]}}) and its executable script, which reads JSON from stdin and answers with JSON. Choose the event that fits. ${about(rest)}`,
  },
];

export const promptCommands: readonly SlashCommand[] = rows.map(({ name, operands, help, prompt }) => ({
  name,
  ...(operands !== undefined && { operands }),
  help,
  run: (desk, rest) => desk.submit(prompt(rest)),
}));
