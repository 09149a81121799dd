// `runs answer`: answers the questions of background runs, one by one on a terminal, with --yes, --always or --no in scripts.
import { createInterface } from "node:readline";
import { usageError } from "../../../protocol/error-codes.ts";
import type { Answer } from "../../../protocol/run.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { terminalHuman } from "../../terminal-human.ts";
import { terminalLines } from "../../terminal-question.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { chosenRun, withFleet } from "./context.ts";

export async function answerRun(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "what people answer");
  return withFleet(invocation, async (fleet) => {
    const run = words.length > 0 ? (await chosenRun(fleet, words, invocation)).id : undefined;
    const wanted = flagText(invocation.line.flags, "question");
    const open = (await fleet.questions()).filter(
      (each) => (run === undefined || each.run === run) && (wanted === undefined || each.question.id === wanted),
    );
    const flagAnswer = givenAnswer(invocation);
    if (wantsJson(invocation) && !flagAnswer) return answerJson(open);
    if (open.length === 0) return answer("No run asks anything.\n");
    if (flagAnswer) {
      // A script must name the question, because the list may have grown since it looked.
      if (open.length > 1)
        throw usageError(`${open.length} questions are open. Name one: --question ${open[0]!.question.id}`);
      const { run: id, question } = open[0]!;
      await fleet.answer(id, { question: question.id, hash: question.hash, answer: flagAnswer });
      return answer(`✓ Answered ${question.type === "permission" ? question.tool : question.type} (${question.id})\n`);
    }
    const { isatty } = await import("node:tty");
    if (!isatty(0)) throw usageError("'runs answer' needs a terminal, or an answer: --yes, --always or --no <reason>.");
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    try {
      const human = terminalHuman(terminalLines(terminal), (line) => process.stdout.write(`${line}\n`));
      for (const { run: id, question } of open) {
        process.stdout.write(`\n${id}\n`);
        const humanAnswer = await human.ask(question, new AbortController().signal);
        await fleet.answer(id, { question: question.id, hash: question.hash, answer: humanAnswer });
      }
    } finally {
      terminal.close();
    }
    return 0;
  });
}

function givenAnswer({ line: { flags } }: Invocation): Answer | undefined {
  const no = flags.get("no");
  if (no !== undefined) return { type: "no", ...(typeof no === "string" && { reason: no }) };
  if (flags.has("always")) return { type: "yes", always: true };
  return flags.has("yes") ? { type: "yes" } : undefined;
}
