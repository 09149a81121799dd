// Display names of the agents: the name typed in a terminal, and two letters for the mark.

const letters: Readonly<Record<string, string>> = {
  courser: "Co",
  cursor: "Cu",
  claude: "Cl",
  codex: "Cx",
  gemini: "Ge",
  opencode: "Op",
  pi: "Pi",
};

/** Returns the name of an agent CLI as it is typed in a terminal. */
export function agentName(name: string): string {
  return name === "cursor" ? "cursor-agent" : name;
}

export function agentLetters(name: string): string {
  return letters[name] ?? name.slice(0, 2).replace(/^./, (first) => first.toUpperCase());
}
