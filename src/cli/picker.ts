// Lets the user choose one line of a list on a terminal: with keys, or by number if the terminal can only print.
import { hasScreen } from "./has-screen.ts";

export type Choice = {
  /** The line shown for this item, cut at the terminal's width. */
  text: string;
  /** The text that the user's search words are matched against. */
  words: string;
};

/** Returns the index of the choice from 0, or undefined if nothing was chosen. */
export async function pick(
  choices: readonly Choice[],
  question: string,
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  const { stdin: input, stdout: output } = process;
  if (!hasScreen(env) || output.columns < 20 || output.rows < 4) return pickByNumber(choices, question);
  const { chooseOne } = await import("../terminal/choose-one.ts");
  const items = choices.map(({ text, words }, index) => ({ value: index, label: text, words }));
  return chooseOne({ title: question, items }, { input, output, env });
}

/** Longer lists are cut: this many can still be read at a glance. */
const maxNumbers = 30;

async function pickByNumber(choices: readonly Choice[], question: string): Promise<number | undefined> {
  const { promptShown } = await import("./prompt-hidden.ts");
  const { writeStderr } = await import("./stdout.ts");
  const numberedChoices = choices.slice(0, maxNumbers);
  for (const [index, { text }] of numberedChoices.entries()) writeStderr(`${String(index + 1).padStart(4)}  ${text}\n`);
  if (numberedChoices.length < choices.length)
    writeStderr(`      … and ${choices.length - numberedChoices.length} older ones\n`);
  while (true) {
    const typed = (await promptShown(`${question} Number, or Enter to quit: `)).trim();
    if (typed === "") return undefined;
    if (/^\d+$/.test(typed) && choices[Number(typed) - 1]) return Number(typed) - 1;
    writeStderr(`'${typed}' is not in the list.\n`);
  }
}
