// The person at the terminal: answers questions of the agent by number or in words, and accepts plans.
import type { Interface } from "node:readline";
import type { ChoiceQuestion, Person } from "../agent/person.ts";
import type { QuestionAnswer } from "../protocol/tool-shapes.ts";
import { printable } from "./call-line.ts";
import { type Queue, question } from "./terminal-question.ts";

export function createPerson(terminal: Interface, show: (line: string) => void, inTurn: Queue): Person {
  return {
    choose: (title, questions, signal) =>
      inTurn(async () => {
        if (title !== "") show(`\n${printable(title)}`);
        const answers: QuestionAnswer[] = [];
        for (const asked of questions) {
          show(`\n${linesOf(asked).join("\n")}`);
          const typed = await question(terminal, promptOf(asked), signal);
          // The input is closed, or the run was stopped: nothing is made up.
          if (typed === undefined) return undefined;
          const answer = answerOf(asked, typed.trim());
          if (answer) answers.push(answer);
        }
        return answers.length > 0 ? answers : undefined;
      }),
    refusesPlan: ({ name, text, file }, signal) =>
      inTurn(async () => {
        show(`\nPlan: ${printable(name)}\n${indented(text)}\n  (to be kept in ${printable(file)})`);
        while (true) {
          const typed = (await question(terminal, "Accept this plan? [y]es, [n]o: ", signal))?.trim() ?? "no";
          if (/^(y|yes)$/i.test(typed)) return undefined;
          if (/^(n|no)$/i.test(typed)) return "The user said no.";
          // Words are worth more than a no.
          if (typed.length > 3) return typed;
        }
      }),
  };
}

/** What the model wrote has a bar before each line, so that none of it can pass for ours. */
function indented(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `  │ ${printable(line)}`)
    .join("\n");
}

function linesOf({ prompt, options }: ChoiceQuestion): string[] {
  return [indented(prompt), ...options.map(({ label }, index) => `  ${index + 1}. ${printable(label)}`)];
}

function promptOf({ options, allowMultiple }: ChoiceQuestion): string {
  if (options.length === 0) return "Answer (empty to pass over): ";
  return `${allowMultiple ? "Numbers, such as 1 3" : "Number"}, or your own words (empty to pass over): `;
}

/** Numbers choose; anything else is an answer in words. Undefined: passed over. */
export function answerOf({ id, options, allowMultiple }: ChoiceQuestion, typed: string): QuestionAnswer | undefined {
  if (typed === "") return undefined;
  const numbers = typed.split(/[\s,]+/).map((word) => (/^\d+$/.test(word) ? Number(word) : 0));
  const chosen = numbers.flatMap((number) => options[number - 1]?.id ?? []);
  const isChoice = chosen.length === numbers.length && (allowMultiple || chosen.length === 1);
  const byLabel = options.find(({ label }) => label.trim().toLowerCase() === typed.toLowerCase());
  if (isChoice) return { questionId: id, selectedOptionIds: [...new Set(chosen)] };
  if (byLabel) return { questionId: id, selectedOptionIds: [byLabel.id] };
  return { questionId: id, selectedOptionIds: [], freeformText: typed };
}
