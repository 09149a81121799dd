// AskQuestion: asks the user. Where no user can be asked, the questions are skipped and never answered for them.
import * as v from "valibot";
import type { AskQuestionToolCallResult, ChoiceItem } from "../../protocol/tool-shapes.ts";
import { tool } from "./define.ts";
import { failure, type ToolResult } from "./tool.ts";

const skipped = "Questions skipped by the user, continue with the information you already have";
const maxQuestions = 10;
const maxOptions = 20;

export const askQuestion = tool({
  name: "AskQuestion",
  wire: "askQuestion",
  aliases: ["AskUserQuestion", "ask_question", "question"],
  description: "Ask the user, only when a wrong guess would be costly.",
  readOnly: true,
  once: true,
  args: v.object({
    title: v.optional(v.string()),
    questions: v.array(
      v.object({
        id: v.optional(v.string()),
        prompt: v.string(),
        options: v.array(v.object({ id: v.optional(v.string()), label: v.string() })),
        allow_multiple: v.optional(v.boolean()),
      }),
    ),
  }),
  reshape(input) {
    const { questions } = input;
    return Array.isArray(questions) ? { ...input, questions: questions.map(normalizeQuestions) } : input;
  },
  wireArgs: (args) => ({
    title: args.title ?? "",
    questions: questionsOnWire(args.questions),
    runAsync: false,
    asyncOriginalToolCallId: "",
  }),
  needs: () => [],
  async run({ title = "", questions }, { turn, signal }): Promise<ToolResult> {
    if (questions.length === 0 || questions.length > maxQuestions)
      throw failure(`Ask between 1 and ${maxQuestions} questions at once.`);
    if (questions.some(({ options }) => options.length > maxOptions))
      throw failure(`A question may have at most ${maxOptions} options.`);
    const asked = questionsOnWire(questions);
    const respond = async (): Promise<{ result: AskQuestionToolCallResult }> => {
      const answers = await turn?.person?.choose(title, asked, signal);
      return { result: answers ? { success: { answers } } : { rejected: { reason: skipped } } };
    };
    const args = { title, questions: asked, runAsync: false, asyncOriginalToolCallId: "" };
    const { result } = turn ? await turn.query("askQuestionInteractionQuery", { args }, respond) : await respond();
    const { success } = result;
    if (!success) return { outcome: { kind: "rejected", value: { reason: skipped } }, text: `${skipped}.` };
    const lines = asked.map(({ id, prompt, options }) => {
      const { selectedOptionIds = [], freeformText } = success.answers.find((each) => each.questionId === id) ?? {};
      const chosen = options.filter((option) => selectedOptionIds.includes(option.id)).map(({ label }) => label);
      const answerTexts = [...chosen, ...(freeformText === undefined ? [] : [freeformText])];
      return `${prompt}\n  ${answerTexts.length > 0 ? answerTexts.join("; ") : "(no answer)"}`;
    });
    return { outcome: { kind: "success", value: success }, text: lines.join("\n") };
  },
});

/** Accepts argument names from other agents: `question`, `multiSelect`, and options as plain strings. */
function normalizeQuestions(value: unknown): unknown {
  if (typeof value === "string") return { prompt: value, options: [] };
  if (typeof value !== "object" || value === null) return value;
  const { question, multiSelect, allowMultiple, ...rest } = value as Record<string, unknown>;
  const { prompt = question, options = [], allow_multiple = allowMultiple ?? multiSelect } = rest;
  const labelled = Array.isArray(options)
    ? options.map((option) => (typeof option === "string" ? { label: option } : option))
    : options;
  return { ...rest, prompt, options: labelled, ...(allow_multiple !== undefined && { allow_multiple }) };
}

type AskedQuestion = {
  id?: string | undefined;
  prompt: string;
  options: { id?: string | undefined; label: string }[];
  allow_multiple?: boolean | undefined;
};

function questionsOnWire(questions: readonly AskedQuestion[]): ChoiceItem[] {
  return questions.map(({ id, prompt, options, allow_multiple = false }, index) => ({
    id: id ?? `q${index + 1}`,
    prompt,
    options: options.map((option, place) => ({ id: option.id ?? String(place + 1), label: option.label })),
    allowMultiple: allow_multiple,
  }));
}
