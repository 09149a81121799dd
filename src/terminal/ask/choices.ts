// Asks the agent's questions: options chosen by number, several where allowed, or a free-text answer.
import type { Answer, ChoiceItem, ChoicesQuestion, QuestionAnswer } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import { blanks, join, linesOf, nothing, type Painted, widthOf, wrap } from "../painted.ts";
import { linePanel } from "../panels/line.ts";
import { createPanel } from "../panels/panel.ts";
import { frameRows, openUntil } from "./question-panel.ts";

/** Returns undefined if `signal` aborts. Questions that the user skips get no answer. */
export async function askChoices(
  { title, questions }: ChoicesQuestion,
  signal: AbortSignal,
  desk: Desk,
): Promise<Answer | undefined> {
  const answers: QuestionAnswer[] = [];
  for (const question of questions) {
    if (signal.aborted) return undefined;
    const answer = await askOne(question, { title, signal, desk });
    if (answer === "stop") return undefined;
    if (answer) answers.push(answer);
  }
  return { type: "choices", answers };
}

type Asking = { title: string; signal: AbortSignal; desk: Desk };

/** Returns undefined if the user skips this question, and "stop" if the signal aborts it. */
async function askOne(question: ChoiceItem, asking: Asking): Promise<QuestionAnswer | "stop" | undefined> {
  const { desk, signal } = asking;
  const id = { questionId: question.id };
  const chosen = question.options.length === 0 ? "words" : await choose(question, asking);
  if (chosen === undefined) return signal.aborted ? "stop" : undefined;
  if (chosen !== "words") return { ...id, selectedOptionIds: chosen };
  const words = await desk.open(
    linePanel(desk.palette, { title: `${linesOf(question.prompt)[0]}`, hint: "your answer" }),
  );
  if (words === undefined) return undefined;
  return words.trim() === "" ? undefined : { ...id, selectedOptionIds: [], freeformText: words.trim() };
}

async function choose(
  { prompt, options, allowMultiple }: ChoiceItem,
  { title, signal, desk }: Asking,
): Promise<string[] | "words" | undefined> {
  const { palette } = desk;
  const taken = new Set<string>();
  let at = 0;
  const toggle = (index: number) => {
    const option = options[index];
    if (!option) return;
    at = index;
    if (!taken.delete(option.id)) taken.add(option.id);
  };
  const opened = createPanel<string[] | "words">((close) => ({
    isQuestion: true,
    view({ columns, rows }) {
      const bar = join(blanks(2), palette.soft("│ "));
      const asked = [
        ...(title === "" ? [] : [palette.bold(`  ${title}`)]),
        ...linesOf(prompt.trim()).flatMap((line) => wrap(join(bar, palette.plain(line)), columns - 1, bar)),
      ];
      const items = options.map(({ id, label }, index) => {
        const sign = index === at ? palette.accent("  › ") : palette.plain("    ");
        const box = allowMultiple ? palette.plain(taken.has(id) ? "[x] " : "[ ] ") : nothing;
        const lead = join(sign, palette.accent(`${index + 1} `), box);
        const name = index === at ? palette.bold : palette.plain;
        return wrap(join(lead, name(label)), columns - 1, blanks(widthOf(lead)));
      });
      const help = `${allowMultiple ? "space marks · " : ""}enter selects · o own answer · esc skips`;
      const room = Math.max(2, rows - frameRows - 3);
      const head = asked.slice(0, Math.max(1, Math.min(asked.length, room >> 1)));
      const shown = around(items, at, Math.max(1, room - head.length));
      const place = shown.length < items.length ? `${at + 1} of ${items.length} · ` : "";
      return { lines: [...head, nothing, ...shown.flat(), nothing, palette.soft(`    ${place}${help}`)] };
    },
    press(key) {
      if (key.type === "paste") return;
      const number = /^[1-9]$/.test(key.name) ? Number(key.name) - 1 : -1;
      if (key.name === "up") at = Math.max(0, at - 1);
      else if (key.name === "down" || key.name === "tab") at = Math.min(options.length - 1, at + 1);
      else if (key.name === "space" && allowMultiple) toggle(at);
      else if (number >= 0 && options[number]) allowMultiple ? toggle(number) : close([options[number].id]);
      else if (key.name === "enter") close(allowMultiple && taken.size > 0 ? [...taken] : [options[at]!.id]);
      else if (key.name === "o") close("words");
      else if (key.name === "escape" || key.name === "ctrl+c") close(undefined);
    },
  }));
  return openUntil(signal, opened, desk);
}

/** Returns the items that fit around the chosen one, preferring those before it. */
function around(items: readonly Painted[][], at: number, rows: number): readonly Painted[][] {
  let [from, to] = [at, at + 1];
  let left = rows - (items[at]?.length ?? 0);
  while (from > 0 && items[from - 1]!.length <= left) left -= items[--from]!.length;
  while (to < items.length && items[to]!.length <= left) left -= items[to++]!.length;
  return items.slice(from, to);
}
