// Bedrock's Converse API: what it refuses.
import { firstRepeated, imageFault, isBlank, type Rule, schemaFault } from "./rule.ts";

const reference = (page: string) => `https://docs.aws.amazon.com/bedrock/latest/APIReference/${page}.html`;
const converse = reference("API_runtime_ConverseStream");
const blocksOf = (body: any): any[] => body.messages.flatMap(({ content }: any) => content);
const ofKind = (blocks: any[], kind: string): any[] => blocks.flatMap((block) => (kind in block ? [block[kind]] : []));
const specsOf = (body: any): any[] => ofKind(body.toolConfig?.tools ?? [], "toolSpec");
const toolResults = (body: any): any[] => ofKind(blocksOf(body), "toolResult");
const toolUses = (body: any): any[] => ofKind(blocksOf(body), "toolUse");

const blockKinds = ["text", "image", "toolUse", "toolResult", "reasoningContent", "cachePoint"];
const fields = [
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
];

const all: readonly Omit<Rule, "wire">[] = [
  { says: "The request has fields that are not in its model", link: converse, broken: (body) => unknownIn(body) },
  {
    says: "A conversation must start with a user message, and roles must alternate",
    link: converse,
    broken: ({ messages }) =>
      messages.find(({ role }: any, index: number) => role !== (index % 2 === 0 ? "user" : "assistant")),
  },
  {
    says: "The conversation must end with a user message",
    link: converse,
    broken: ({ messages }) => (messages.at(-1)?.role === "user" ? undefined : messages.at(-1)),
  },
  {
    says: "The content field in the Message object is empty",
    link: reference("API_runtime_Message"),
    broken: ({ messages }) => messages.find(({ content }: any) => content.length === 0),
  },
  {
    says: "The text field in the ContentBlock object is blank. Add text to the text field",
    link: reference("API_runtime_ContentBlock"),
    broken: (body) =>
      [...blocksOf(body), ...(body.system ?? []), ...toolResults(body).flatMap(({ content }) => content)].find(
        (block) => "text" in block && isBlank(block.text),
      ),
  },
  {
    says: "toolUseId must satisfy [a-zA-Z0-9_-]+ and have at most 64 characters",
    link: reference("API_runtime_ToolUseBlock"),
    broken: (body) =>
      [...toolUses(body), ...toolResults(body)].find(({ toolUseId }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(toolUseId)),
  },
  {
    says: "messages contain duplicate Ids",
    link: reference("API_runtime_ToolUseBlock"),
    broken: (body) => firstRepeated(toolUses(body).map(({ toolUseId }) => toolUseId)),
  },
  {
    says: "The input of toolUse must be a JSON object",
    link: reference("API_runtime_ToolUseBlock"),
    broken: (body) => toolUses(body).find(({ input }) => typeof input !== "object" || input === null),
  },
  {
    says: "Expected toolResult blocks in the next message for the Ids of toolUse, and no others",
    link: reference("API_runtime_ToolResultBlock"),
    broken: ({ messages }) =>
      messages.find(({ role, content }: any, index: number) => {
        if (role !== "assistant") return false;
        const next = messages[index + 1]?.content ?? [];
        const ids = (blocks: any[], kind: string) => ofKind(blocks, kind).map(({ toolUseId }) => toolUseId);
        return `${ids(content, "toolUse").sort()}` !== `${ids(next, "toolResult").sort()}`;
      }),
  },
  {
    says: "The content of a toolResult is empty",
    link: reference("API_runtime_ToolResultBlock"),
    broken: (body) => toolResults(body).find(({ content }) => content.length === 0),
  },
  {
    says: "The toolConfig field must be defined when using toolUse and toolResult content blocks",
    link: reference("API_runtime_ToolConfiguration"),
    broken: (body) => toolUses(body).length > 0 && specsOf(body).length === 0,
  },
  {
    says: "The name of a tool must satisfy [a-zA-Z0-9_-]+ and have at most 64 characters, each once",
    link: reference("API_runtime_ToolSpecification"),
    broken: (body) => {
      const names = specsOf(body).map(({ name }) => name);
      return names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) ?? firstRepeated(names);
    },
  },
  {
    says: "The name of a toolUse must satisfy [a-zA-Z0-9_-]+ and have at most 64 characters",
    link: reference("API_runtime_ToolUseBlock"),
    broken: (body) => toolUses(body).find(({ name }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name)),
  },
  {
    says: "At most 20 images, each of 3.75 MB and 8000 pixels",
    link: reference("API_runtime_Message"),
    broken: (body) =>
      imageFault(
        ofKind([...blocksOf(body), ...toolResults(body).flatMap(({ content }) => content)], "image").map(
          ({ source }) => source?.bytes ?? "",
        ),
      ),
  },
  {
    says: "This model doesn't support the image field for user messages: images in a toolResult",
    link: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultContentBlock.html",
    broken: (body, { model }) =>
      /claude|nova/.test(model)
        ? undefined
        : ofKind(
            toolResults(body).flatMap(({ content }) => content),
            "image",
          )[0],
  },
  {
    says: "The description of a tool must have at least one character",
    link: reference("API_runtime_ToolSpecification"),
    broken: (body) => specsOf(body).find(({ description }) => description !== undefined && isBlank(description)),
  },
  {
    says: "The value at inputSchema.json.type must be one of the following: object",
    link: reference("API_runtime_ToolInputSchema"),
    broken: (body) => specsOf(body).find(({ inputSchema }) => inputSchema?.json?.type !== "object"),
  },
  {
    says: "JSON schema is invalid. It must match JSON Schema draft 2020-12",
    link: reference("API_runtime_ToolInputSchema"),
    broken: (body) => {
      for (const { inputSchema } of specsOf(body)) {
        const fault = schemaFault(inputSchema.json);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  },
  {
    says: "Nova takes only type, properties and required at the top of a schema",
    link: "https://docs.aws.amazon.com/nova/latest/userguide/tool-use.html",
    broken: (body, { model }) =>
      /nova/.test(model)
        ? specsOf(body).find(({ inputSchema: { json } }) =>
            Object.keys(json).some((keyword) => !/^(type|properties|required)$/.test(keyword)),
          )
        : undefined,
  },
  {
    says: "The format of an image must be png, jpeg, gif or webp",
    link: reference("API_runtime_ImageBlock"),
    broken: (body) =>
      ofKind([...blocksOf(body), ...toolResults(body).flatMap(({ content }) => content)], "image").find(
        ({ format }) => !["png", "jpeg", "gif", "webp"].includes(format),
      ),
  },
  {
    says: "At most four cache points, which only some models take",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html",
    broken: (body, { model }) => {
      const points = JSON.stringify(body).split('"cachePoint"').length - 1;
      return points > (/claude/.test(model) ? 4 : 0) ? points : undefined;
    },
  },
  {
    says: "maxTokens must be greater than thinking.budget_tokens, and temperature may not be set with thinking",
    link: "https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-extended-thinking.html",
    broken: ({ inferenceConfig, additionalModelRequestFields }) => {
      const thinking = additionalModelRequestFields?.thinking;
      if (thinking?.type !== "enabled") return undefined;
      return !(inferenceConfig?.maxTokens > thinking.budget_tokens) || inferenceConfig.temperature !== undefined;
    },
  },
  {
    says: "additionalModelRequestFields: thinking is only for Claude models",
    link: converse,
    broken: ({ additionalModelRequestFields }, { model }) =>
      /claude/.test(model) ? undefined : additionalModelRequestFields,
  },
];

export const bedrockRules = all.map(
  (rule): Omit<Rule, "wire"> => ({
    ...rule,
    broken: (body, request) => orNothing(rule.broken(body, request)),
  }),
);

function orNothing(found: unknown): unknown {
  return found === false ? undefined : found;
}

function unknownIn(body: any): unknown {
  const field = Object.keys(body).find((name) => !fields.includes(name));
  return field ?? blocksOf(body).find((block) => Object.keys(block).some((kind) => !blockKinds.includes(kind)));
}
