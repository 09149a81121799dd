// Asks the agent's questions: options chosen by number, several where allowed, or a free-text answer.
import type { Answer, ChoiceItem, ChoicesQuestion, QuestionAnswer } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import { blanks, join, linesOf, nothing, type Painted, widthOf, wrap } from "../painted.ts";
import { linePanel } from "../panels/line.ts";
import { createPanel } from "../panels/panel.ts";
import { frameRows, menuMoves, openUntil } from "./question-panel.ts";

/** Asks the model's questions one after the other; skipped ones get no answer. Returns undefined if `signal` aborts. */
export async function askChoices(
  { title, questions }: ChoicesQuestion,
  signal: AbortSignal,
  desk: Desk,
): Promise<Answer | undefined> {
  const answers: QuestionAnswer[] = [];
  for (const [index, question] of questions.entries()) {
    if (signal.aborted) return undefined;
    const place = questions.length > 1 ? `${index + 1} of ${questions.length}` : "";
    const answer = await askOne(question, { title, place, signal, desk });
    if (answer === "stop") return undefined;
    if (answer) answers.push(answer);
  }
  return { type: "choices", answers };
}

/** Where and how a question is asked. If there are several, `place` is its number, such as "1 of 3". */
type Asking = { title: string; place: string; signal: AbortSignal; desk: Desk };

/** Asks one question. Returns undefined if the user skips it, and "stop" if the signal aborts it. */
async function askOne(question: ChoiceItem, asking: Asking): Promise<QuestionAnswer | "stop" | undefined> {
  const { desk, signal } = asking;
  const { id: questionId, options, prompt } = question;
  while (!signal.aborted) {
    const chosen = options.length === 0 ? "words" : await choose(question, asking);
    if (chosen === undefined) break;
    if (chosen !== "words") return { questionId, selectedOptionIds: chosen };
    const own = linePanel(desk.palette, { title: `${linesOf(prompt)[0]}`, hint: "your answer" });
    const words = (await openUntil(signal, own, desk))?.trim();
    if (words) return { questionId, selectedOptionIds: [], freeformText: words };
    if (options.length === 0) break;
  }
  return signal.aborted ? "stop" : undefined;
}

async function choose(
  { prompt, options, allowMultiple }: ChoiceItem,
  { title, place, signal, desk }: Asking,
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
    keys: "↑↓ enter · esc skips",
    view({ columns, rows }) {
      const bar = join(blanks(2), palette.soft("│ "));
      const asked = [
        ...(title + place === ""
          ? []
          : [join(palette.bold(`  ${title}`), palette.soft(title === "" ? place : place && ` · ${place}`))]),
        ...linesOf(prompt.trim()).flatMap((line) => wrap(join(bar, palette.plain(line)), columns - 1, bar)),
      ];
      const items = [...options, { id: "", label: "your own answer" }].map(({ id, label }, index) => {
        const isOption = index < options.length;
        const sign = index === at ? palette.accent("  › ") : palette.plain("    ");
        const box = allowMultiple && isOption ? palette.plain(taken.has(id) ? "[x] " : "[ ] ") : nothing;
        const key = isOption ? (index < 9 ? `${index + 1}` : " ") : "o";
        const lead = join(sign, palette.both("bold", "accent")(`${key}  `), box);
        const name = index === at ? palette.both("bold", "accent") : palette.plain;
        return wrap(join(lead, name(label)), columns - 1, blanks(widthOf(lead)));
      });
      const help = allowMultiple ? "space marks · enter selects" : "";
      const room = Math.max(2, rows - frameRows - 3);
      const head = asked.slice(0, Math.max(1, Math.min(asked.length, room >> 1)));
      const shown = around(items, at, Math.max(1, room - head.length));
      const row = shown.length < items.length ? `${at + 1} of ${items.length}` : "";
      const hints = [row, help].filter(Boolean).join(" · ");
      return {
        lines: [...head, nothing, ...shown.flat(), ...(hints === "" ? [] : [nothing, palette.soft(`    ${hints}`)])],
      };
    },
    press(key) {
      if (key.type === "paste") return false;
      const number = /^[1-9]$/.test(key.name) ? Number(key.name) - 1 : -1;
      const move = menuMoves[key.name];
      const rows = options.length + 1;
      if (move) at = (at + move + rows) % rows;
      else if (key.name === "space" && allowMultiple) toggle(at);
      else if (number >= 0 && options[number]) allowMultiple ? toggle(number) : close([options[number].id]);
      else if (key.name === "o" || (key.name === "enter" && at === options.length)) close("words");
      else if (key.name === "enter") close(allowMultiple && taken.size > 0 ? [...taken] : [options[at]!.id]);
      else if (key.name === "escape" || key.name === "ctrl+c") close(undefined);
      else return false;
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
