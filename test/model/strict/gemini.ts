// The Gemini API: what it refuses.
import { isObject } from "../../../src/json/object.ts";
import {
  firstRepeated,
  imageFault,
  isBlank,
  type Rule,
  schemaFault,
  schemasIn,
  textRules,
  withoutItems,
} from "./rule.ts";

const link = (page: string) => `https://ai.google.dev/${page}`;
const partsOf = (body: any): any[] => body.contents.flatMap(({ parts }: any) => parts);
const toolsOf = (body: any): any[] => (body.tools ?? []).flatMap((tool: any) => tool.functionDeclarations ?? []);
const version = (model: string) => Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
const count = (parts: any[], kind: string) => (parts ?? []).filter((part) => part[kind]).length;

/** All that `parameters` may hold. */
const subset = new Set(
  "type format title description nullable enum items maxItems minItems properties required minProperties maxProperties minimum maximum minLength maxLength pattern example anyOf propertyOrdering default".split(
    " ",
  ),
);

function rule(says: string, link: string, broken: Rule["broken"]): Rule {
  return { wire: "gemini", says, link, broken };
}

export const geminiRules: readonly Rule[] = [
  ...textRules("gemini"),
  rule("contents.parts must not be empty", link("api/generate-content"), (body) =>
    [...body.contents, body.systemInstruction ?? { parts: [1] }].find(({ parts }: any) => !parts?.length),
  ),
  rule(
    "part.data: required oneof field 'data' must have one initialized field; nothing is blank",
    link("api/caching#Part"),
    (body) =>
      [...partsOf(body), ...(body.systemInstruction?.parts ?? [])].find(
        (part) => part.text !== undefined && isBlank(part.text) && !part.thoughtSignature,
      ),
  ),
  rule(
    "contents: a role is 'user' or 'model'; the first and the last are the user's",
    link("api/caching#Content"),
    (body) => {
      const roles = body.contents.map(({ role }: any) => role);
      const isFine =
        roles.every((role: string) => /^(user|model)$/.test(role)) && roles[0] === "user" && roles.at(-1) === "user";
      return isFine ? undefined : roles;
    },
  ),
  rule(
    "Please ensure that multiturn requests alternate between user and model",
    "https://github.com/Portkey-AI/gateway/pull/246",
    ({ contents }) => contents.find(({ role }: any, index: number) => role === contents[index - 1]?.role),
  ),
  rule(
    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn",
    link("gemini-api/docs/function-calling"),
    (body) =>
      body.contents.find(
        ({ parts }: any, index: number) =>
          count(parts, "functionCall") !== count(body.contents[index + 1]?.parts, "functionResponse"),
      ),
  ),
  rule(
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn",
    link("gemini-api/docs/function-calling"),
    (body) =>
      body.contents.find(
        ({ role, parts }: any, index: number) =>
          role === "model" && count(parts, "functionCall") > 0 && body.contents[index - 1]?.role !== "user",
      ),
  ),
  rule(
    "Function call is missing a thought_signature in functionCall parts",
    link("gemini-api/docs/thought-signatures"),
    (body, { model }) => {
      if (version(model) < 3) return undefined;
      return body.contents.find(({ parts }: any) => {
        const [first] = parts.filter((part: any) => part.functionCall);
        return first && isBlank(first.thoughtSignature);
      });
    },
  ),
  rule(
    "function_declarations.name: must start with a letter or an underscore, at most 64 characters, unique",
    link("api/caching#FunctionDeclaration"),
    (body) => {
      const names = toolsOf(body).map(({ name }) => name);
      return names.find((name) => !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name)) ?? firstRepeated(names);
    },
  ),
  rule(
    "parameters and parameters_json_schema are mutually exclusive",
    link("api/caching#FunctionDeclaration"),
    (body) => toolsOf(body).find((tool) => tool.parameters && tool.parametersJsonSchema),
  ),
  rule("Invalid JSON payload received. Unknown name in 'parameters'", link("api/caching#Schema"), (body) =>
    toolsOf(body).find(({ parameters }) =>
      schemasIn(parameters).some(
        (schema) =>
          Object.keys(schema).some((keyword) => !subset.has(keyword)) || typeof (schema.type ?? "") !== "string",
      ),
    ),
  ),
  rule("parameters.properties: an array says its items; an object its properties", link("api/caching#Schema"), (body) =>
    toolsOf(body).find(({ parameters }) => parameters && withoutItems(parameters)),
  ),
  rule("parameters_json_schema must be the JSON Schema of an object", link("api/caching#FunctionDeclaration"), (body) =>
    toolsOf(body).find(
      ({ parametersJsonSchema: schema }) => schema && (schema.type !== "object" || schemaFault(schema)),
    ),
  ),
  rule(
    "parameters_json_schema: beside $ref nothing else may be set, and it refers to $defs",
    "https://github.com/su-kaka/gcli2api/pull/374",
    (body) =>
      toolsOf(body).find(({ parametersJsonSchema }) =>
        schemasIn(parametersJsonSchema).some(
          ({ $ref, ...rest }) => $ref !== undefined && (Object.keys(rest).length > 0 || !$ref.startsWith("#/$defs/")),
        ),
      ),
  ),
  rule(
    "At most 512 function declarations can be specified",
    "https://github.com/google-gemini/gemini-cli/issues/19083",
    (body) => (toolsOf(body).length > 512 ? toolsOf(body).length : undefined),
  ),
  rule("a function says what it does", link("api/caching#FunctionDeclaration"), (body) =>
    toolsOf(body).find(({ description }) => isBlank(description)),
  ),
  rule(
    "You can only set only one of thinking budget and thinking level; each where the model takes it",
    link("gemini-api/docs/thinking"),
    (body, { model }) => {
      const { thinkingBudget, thinkingLevel } = body.generationConfig?.thinkingConfig ?? {};
      if (thinkingBudget === undefined && thinkingLevel === undefined) return undefined;
      const most = model.includes("pro") ? 32_768 : 24_576;
      const least = model.includes("pro") ? 128 : 0;
      const isBudget = thinkingLevel === undefined && thinkingBudget >= least && thinkingBudget <= most;
      const isLevel =
        thinkingBudget === undefined &&
        (model.includes("pro") ? /^(low|medium|high)$/ : /^(minimal|low|medium|high)$/).test(thinkingLevel);
      return (version(model) >= 3 ? isLevel : version(model) >= 2.5 && isBudget)
        ? undefined
        : { thinkingBudget, thinkingLevel };
    },
  ),
  rule("Unsupported MIME type", link("gemini-api/docs/image-understanding"), (body) => {
    const results = partsOf(body).flatMap(({ functionResponse }) => functionResponse?.parts ?? []);
    return [...partsOf(body), ...results].find(
      ({ inlineData }) =>
        inlineData && (!/^image\/(png|jpeg|webp|heic|heif)$/.test(inlineData.mimeType) || isBlank(inlineData.data)),
    );
  }),
  rule(
    "function_response.response must be an object; media in it from version 3 on",
    link("gemini-api/docs/function-calling"),
    (body, { model }) =>
      partsOf(body).find(
        ({ functionResponse: result }) =>
          result && (!isObject(result.response) || (result.parts && version(model) < 3)),
      ),
  ),
  rule("function_call.name: Invalid function name", link("api/caching#FunctionCall"), (body) =>
    partsOf(body).find((part) => {
      const name = (part.functionCall ?? part.functionResponse)?.name;
      return name !== undefined && !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(name);
    }),
  ),
  rule(
    "Cyclic references may only be used within non-required properties",
    link("api/caching#FunctionDeclaration"),
    (body) =>
      toolsOf(body).find(({ parametersJsonSchema: root }) =>
        Object.entries(root?.$defs ?? {}).some(([name, definition]) =>
          schemasIn(definition).some(({ required = [], properties = {} }) =>
            required.some((field: string) => JSON.stringify(properties[field] ?? {}).includes(`"#/$defs/${name}"`)),
          ),
        ),
      )?.name,
  ),
  rule("images of 5 MB and 8000 pixels, no more than 20", link("gemini-api/docs/image-understanding"), (body) => {
    const results = partsOf(body).flatMap(({ functionResponse }) => functionResponse?.parts ?? []);
    return imageFault([...partsOf(body), ...results].flatMap(({ inlineData }) => inlineData?.data ?? []));
  }),
];
