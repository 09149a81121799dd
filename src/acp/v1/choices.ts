// Asks questions with options, through the extension cursor/ask_question or a form of elicitation/create.
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import type { Answer, ChoiceItem, ChoicesQuestion, QuestionAnswer } from "../../protocol/run.ts";

const skippedAnswer: Answer = { type: "choices", answers: [] };

export function cursorQuestion({ title, questions }: ChoicesQuestion, toolCallId: string): JsonObject {
  return {
    toolCallId,
    ...(title !== "" && { title }),
    questions: questions.map(({ id, prompt, options, allowMultiple }) => ({ id, prompt, options, allowMultiple })),
  };
}

/** Accepts `{outcome: {outcome: "answered", answers}}`, with or without the outer object. */
export function cursorAnswer(result: unknown, { questions }: ChoicesQuestion): Answer {
  const { outcome, answers } = outcomeObject(result);
  if (outcome !== "answered" || !Array.isArray(answers)) return skippedAnswer;
  const parsedAnswers = answers.filter(isObject).flatMap((answer): QuestionAnswer[] => {
    const { questionId, selectedOptionIds, freeformText } = answer;
    const question = questions.find(({ id }) => id === questionId);
    if (!question) return [];
    const chosen = Array.isArray(selectedOptionIds) ? keepOfferedIds(selectedOptionIds, question) : [];
    const words = typeof freeformText === "string" && freeformText.trim() !== "" ? { freeformText } : {};
    if (chosen.length === 0 && !("freeformText" in words)) return [];
    return [{ questionId: question.id, selectedOptionIds: chosen, ...words }];
  });
  return { type: "choices", answers: parsedAnswers };
}

export function outcomeObject(result: unknown): JsonObject {
  const outer = fieldsOf(result);
  return isObject(outer["outcome"]) ? outer["outcome"] : outer;
}

export function elicitationOf({ title, questions }: ChoicesQuestion): JsonObject {
  const properties = Object.fromEntries(questions.map((question) => [question.id, propertyOf(question)]));
  return {
    mode: "form",
    message: title !== "" ? title : (questions[0]?.prompt ?? "The agent has a question."),
    requestedSchema: { type: "object", properties },
  };
}

function propertyOf({ prompt, options, allowMultiple }: ChoiceItem): JsonObject {
  const values = options.map(({ id, label }) => ({ const: id, title: label }));
  if (values.length === 0) return { type: "string", title: prompt };
  if (allowMultiple) return { type: "array", title: prompt, items: { anyOf: values } };
  return { type: "string", title: prompt, oneOf: values };
}

export function answerFromElicitation(result: unknown, { questions }: ChoicesQuestion): Answer {
  const { action, content } = fieldsOf(result);
  if (action !== "accept" || !isObject(content)) return skippedAnswer;
  const answers = questions.flatMap((question): QuestionAnswer[] => {
    const value = content[question.id];
    const chosenIds = (Array.isArray(value) ? value : [value]).filter(
      (each) => typeof each === "string" && each !== "",
    );
    if (question.options.length === 0)
      return chosenIds.length > 0
        ? [{ questionId: question.id, selectedOptionIds: [], freeformText: chosenIds.join("\n") }]
        : [];
    const selectedOptionIds = keepOfferedIds(chosenIds, question);
    return selectedOptionIds.length > 0 ? [{ questionId: question.id, selectedOptionIds }] : [];
  });
  return { type: "choices", answers };
}

function keepOfferedIds(ids: readonly unknown[], { options }: ChoiceItem): string[] {
  return options.flatMap(({ id }) => (ids.includes(id) ? [id] : []));
}
