// Variables whose value becomes code: for the shell itself, or for what it starts.

/** Variables whose value programs run. */
const programVariable =
  /(COMMAND|EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|DIFF|OPEN|CLOSE|SHELL|PROGRAM|^(BASH_)?ENV|SSH|PROXY_COMMAND|CC|CXX|LD|_WRAPPER|_LAUNCHER|_RUNNER|^GIT_CONFIG_VALUE_\d+)$/;
/** Variables that the shell expands once more when it shows them. */
const promptVariable = /^(PS[0-4]|PROMPT|RPROMPT|BASH_ENV|ENV)$/;
/** What names mean, as variables. */
export const renamingLists = /^BASH_(ALIASES|CMDS)$/;
/** Variables that make a shell run a file first. */
export const firstFile = /^(BASH_)?ENV$/;

const endOfPrompt = "END_OF_PROMPT";

/** Texts that may be commands. Each is only a guess. */
export function commandsInVariable(name: string, value: string): string[] {
  const texts: string[] = [];
  if (programVariable.test(name) || renamingLists.test(name)) texts.push(value.replace(/^[!|]+/, ""));
  // As in a here-document: what is in quotes there is expanded all the same.
  if (promptVariable.test(name) && /[$`]/.test(value)) texts.push(`: <<${endOfPrompt}\n${value}\n${endOfPrompt}`);
  // Functions that come with the environment, and settings that git takes from it.
  if (/^BASH_FUNC_/.test(name)) texts.push(value.replace(/^\(\)\s*/, ""));
  if (name === "GIT_CONFIG_PARAMETERS") texts.push(...value.split(/[='!]+/).filter((part) => /\w/.test(part)));
  return texts;
}
