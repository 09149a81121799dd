// Asks the user on a plain terminal, one question at a time.
import type {
  Answer,
  ChoiceItem,
  ChoicesQuestion,
  Human,
  PermissionQuestion,
  PlanQuestion,
  Question,
  QuestionAnswer,
} from "../protocol/run.ts";
import { visible } from "../text/visible.ts";
import { cardName } from "../view/call-words.ts";
import { createQueue, type TerminalLines } from "./terminal-question.ts";

type Terminal = { lines: TerminalLines; show(line: string): void; signal: AbortSignal };

export function terminalHuman(lines: TerminalLines, show: (line: string) => void): Human {
  const inTurn = createQueue();
  return { ask: (asked, signal) => inTurn(() => askOne(asked, { lines, show, signal })) };
}

async function askOne(question: Question, terminal: Terminal): Promise<Answer> {
  switch (question.type) {
    case "permission":
      return permission(question, terminal);
    case "choices":
      return { type: "choices", answers: await choose(question, terminal) };
    case "plan":
      return acceptPlan(question, terminal);
    case "trust":
      terminal.show(
        `Workspace Trust Required\n\n  ${visible(question.workspace)}\n\nThe agent reads and changes files here and follows this project's instructions.\n`,
      );
      return yesOrNo("Trust this directory? [a]lways, [q]uit: ", /^(a|always|y|yes)$/i, terminal);
    case "server":
      terminal.show(`${visible(`${question.file} is new or has changed. It would ${question.start}`)}`);
      return yesOrNo(
        `Start the MCP server ${visible(question.name)} from now on? [y]es, [n]o: `,
        /^(y|yes)$/i,
        terminal,
      );
    case "hooks":
      for (const { file, hooks } of question.files) {
        const runs = hooks.map(({ event, command, prompt }) => `  ${event}: ${command ?? `(asks a model) ${prompt}`}`);
        terminal.show([`${file} is new or has changed. It would run:`, ...runs].map(visible).join("\n"));
      }
      return yesOrNo("Run these hooks from now on? [y]es, [n]o: ", /^(y|yes)$/i, terminal);
  }
}

async function yesOrNo(text: string, yes: RegExp, { lines, signal }: Terminal): Promise<Answer> {
  const typed = (await lines.ask(text, signal))?.trim() ?? "";
  return yes.test(typed) ? { type: "yes" } : { type: "no", reason: "The user said no." };
}

async function permission(
  { tool, needs, reasons, offersSandbox }: PermissionQuestion,
  terminal: Terminal,
): Promise<Answer> {
  const what = needs.map(({ kind, target, cwd }) => `${kind}: ${target}${cwd === undefined ? "" : `\nin ${cwd}`}`);
  // Put a bar before each line of the model's text, so that none of it looks like a reason.
  const asked = what.join("\n").split("\n");
  const lines = [...asked.map((line) => `│ ${line}`), ...reasons.map((reason) => reason.replace(/\n/g, " "))];
  terminal.show(`\n${cardName(tool)} wants permission\n${lines.map((line) => `  ${visible(line)}`).join("\n")}`);
  while (true) {
    const sandbox = offersSandbox ? ", [s]andbox: run commands of this project in it without asking" : "";
    const typed = await terminal.lines.ask(`Allow? [y]es, [n]o, [a]lways${sandbox}: `, terminal.signal);
    const answer = typed?.trim().toLowerCase();
    if (answer === undefined || /^(n|no)$/.test(answer)) return { type: "no", reason: "The user said no." };
    if (/^(a|always)$/.test(answer)) return { type: "yes", always: true };
    if (/^(y|yes)$/.test(answer)) return { type: "yes" };
    if (offersSandbox && /^(s|sandbox)$/.test(answer)) return { type: "yes", grant: "sandbox" };
  }
}

/** Returns no answers for skipped questions. If the input is closed or the run was stopped, none are invented. */
async function choose(
  { title, questions }: ChoicesQuestion,
  { lines, show, signal }: Terminal,
): Promise<QuestionAnswer[]> {
  if (title !== "") show(`\n${visible(title)}`);
  const answers: QuestionAnswer[] = [];
  for (const asked of questions) {
    show(`\n${choiceLines(asked).join("\n")}`);
    const typed = await lines.ask(choicePrompt(asked), signal);
    if (typed === undefined) return [];
    const answer = parseChoiceAnswer(asked, typed.trim());
    if (answer) answers.push(answer);
  }
  return answers;
}

async function acceptPlan({ name, text, file }: PlanQuestion, { lines, show, signal }: Terminal): Promise<Answer> {
  show(`\nPlan: ${visible(name)}\n${withBar(text)}\n  (to be saved as ${visible(file)})`);
  while (true) {
    const typed = (await lines.ask("Accept this plan? [y]es, [n]o: ", signal))?.trim() ?? "no";
    if (/^(y|yes)$/i.test(typed)) return { type: "yes" };
    if (/^(n|no)$/i.test(typed)) return { type: "no", reason: "The user said no." };
    // Use the words that the user typed as the reason for the refusal.
    if (typed.length > 3) return { type: "no", reason: typed };
  }
}

/** Puts a bar before each line of the model's text, so that none of it looks like the program's own. */
function withBar(text: string): string {
  return text
    .trim()
    .split("\n")
    .map((line) => `  │ ${visible(line)}`)
    .join("\n");
}

function choiceLines({ prompt, options }: ChoiceItem): string[] {
  return [withBar(prompt), ...options.map(({ label }, index) => `  ${index + 1}. ${visible(label)}`)];
}

function choicePrompt({ options, allowMultiple }: ChoiceItem): string {
  if (options.length === 0) return "Answer (empty to skip): ";
  return `${allowMultiple ? "Numbers, such as 1 3" : "Number"}, or your own words (empty to skip): `;
}

/** Numbers choose options; anything else is a free-text answer. Returns undefined if the question is skipped. */
export function parseChoiceAnswer(
  { id, options, allowMultiple }: ChoiceItem,
  typed: string,
): QuestionAnswer | undefined {
  if (typed === "") return undefined;
  const numbers = typed.split(/[\s,]+/).map((word) => (/^\d+$/.test(word) ? Number(word) : 0));
  const chosen = numbers.flatMap((number) => options[number - 1]?.id ?? []);
  const isChoice = chosen.length === numbers.length && (allowMultiple || chosen.length === 1);
  const byLabel = options.find(({ label }) => label.trim().toLowerCase() === typed.toLowerCase());
  if (isChoice) return { questionId: id, selectedOptionIds: [...new Set(chosen)] };
  if (byLabel) return { questionId: id, selectedOptionIds: [byLabel.id] };
  return { questionId: id, selectedOptionIds: [], freeformText: typed };
}
