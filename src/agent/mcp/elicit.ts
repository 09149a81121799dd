// Asks the user the questions of MCP servers: a form field by field, or a URL to open.
import type { ElicitRequest, ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../json/object.ts";
import type { QuestionAnswer } from "../../protocol/tool-shapes.ts";
import type { ChoiceQuestion, Person } from "../person.ts";
import { isSafeToOpen } from "./oauth.ts";
import type { ServerRequests } from "./requests.ts";

type FormValue = string | number | boolean | string[];

/** Asks the user the questions of an MCP server. A form that lacks required fields is not sent. */
export function elicitFrom(person: Person): NonNullable<ServerRequests["elicit"]> {
  return async (server, asked, signal) => {
    const title = `The MCP server ${server} asks you`;
    return isForm(asked) ? fillForm(title, asked, person, signal) : openAddress(title, asked, person, signal);
  };
}

function isForm(params: ElicitRequest["params"]): params is ElicitRequestFormParams {
  return params.mode !== "url";
}

async function fillForm(
  title: string,
  { message, requestedSchema }: ElicitRequestFormParams,
  person: Person,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const fields = Object.entries(requestedSchema.properties).map(([name, schema]) =>
    fieldOf(name, schema as JsonObject),
  );
  const required = new Set(requestedSchema.required ?? []);
  if (fields.length === 0) return askForConsent(title, message, person, signal);
  const content: Record<string, FormValue> = {};
  let open = fields;
  // Ask again for fields with invalid answers, at most twice.
  for (let round = 0; open.length > 0 && round < 3; round++) {
    const questions = open.map(({ question }, index) => ({
      ...question,
      prompt: index === 0 && round === 0 ? `${message}\n\n${question.prompt}` : question.prompt,
    }));
    const answers = await person.choose(title, questions, signal);
    if (!answers) return { action: "cancel" };
    const wrong: FormField[] = [];
    for (const field of open) {
      const answer = answers.find(({ questionId }) => questionId === field.name);
      const value = answer && field.read(answer);
      if (value !== undefined) content[field.name] = value;
      else if (answer || required.has(field.name)) wrong.push(field);
    }
    open = wrong;
  }
  if (open.some(({ name }) => required.has(name))) return { action: "decline" };
  return { action: "accept", content };
}

async function openAddress(
  title: string,
  { message, url }: { message: string; url?: unknown },
  person: Person,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !isSafeToOpen(address)) return { action: "decline" };
  return askForConsent(title, `${message}\n\nOpen in your browser, if you agree:\n${address.href}`, person, signal);
}

async function askForConsent(
  title: string,
  prompt: string,
  person: Person,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const answers = await person.choose(title, [{ id: "agree", prompt, options: yesOrNo, allowMultiple: false }], signal);
  if (!answers) return { action: "cancel" };
  return answers[0]?.selectedOptionIds[0] === "yes" ? { action: "accept", content: {} } : { action: "decline" };
}

export const yesOrNo = [
  { id: "yes", label: "Yes" },
  { id: "no", label: "No" },
];

type FormField = { name: string; question: ChoiceQuestion; read(answer: QuestionAnswer): FormValue | undefined };

/** Converts a form field; the protocol has only a few kinds. */
function fieldOf(name: string, schema: JsonObject): FormField {
  const { type, title, description } = schema;
  const prompt = [title ?? name, description].filter((part) => typeof part === "string").join(": ");
  const isList = type === "array";
  const choices = choicesOf(isList && isObject(schema["items"]) ? schema["items"] : schema);
  const options = type === "boolean" ? yesOrNo : choices;
  const question: ChoiceQuestion = { id: name, prompt, options, allowMultiple: isList };
  return {
    name,
    question,
    read({ selectedOptionIds: chosen, freeformText: text }) {
      if (type === "boolean") return chosen[0] === undefined ? undefined : chosen[0] === "yes";
      if (isList) return chosen.length > 0 ? [...chosen] : undefined;
      if (choices.length > 0) return chosen[0];
      if (type === "number" || type === "integer") return parseNumber(text, type);
      return text;
    },
  };
}

function choicesOf(schema: JsonObject): { id: string; label: string }[] {
  const listed = schema["enum"];
  if (Array.isArray(listed)) {
    const names = Array.isArray(schema["enumNames"]) ? schema["enumNames"] : [];
    return listed.map((value, index) => ({ id: String(value), label: String(names[index] ?? value) }));
  }
  const titled = schema["oneOf"] ?? schema["anyOf"];
  if (!Array.isArray(titled)) return [];
  return titled
    .filter(isObject)
    .map((each) => ({ id: String(each["const"]), label: String(each["title"] ?? each["const"]) }));
}

function parseNumber(text: string | undefined, type: "number" | "integer"): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const value = Number(text);
  return Number.isFinite(value) && (type === "number" || Number.isInteger(value)) ? value : undefined;
}
