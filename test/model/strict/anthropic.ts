// The Messages API: what it refuses.
import { firstRepeated, imageFault, isBlank, type Rule, schemaFault, textRules, topCombinator } from "./rule.ts";

const messagesOf = (body: any): { role: string; content: any[] }[] =>
  body.messages.map(({ role, content }: any) => ({
    role,
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  }));
const blocksOf = (body: any): any[] => messagesOf(body).flatMap(({ content }) => content);
const ofType = (blocks: any[], type: string) => blocks.filter((block) => block.type === type);
const textsIn = (body: any): any[] => [
  ...ofType([body.system ?? []].flat(), "text"),
  ...ofType(blocksOf(body), "text"),
  ...ofType(blocksOf(body), "tool_result").flatMap(({ content }) =>
    Array.isArray(content) ? ofType(content, "text") : [],
  ),
];

/** 4.5 as 4.5; claude-sonnet-4-0 as 4. */
function version(model: string): number {
  const [, major = "9", minor = "0"] = /claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(model) ?? [];
  return Number(`${major}.${minor}`);
}

function maxTokens(model: string): number {
  if (version(model) >= 4.6) return 128_000;
  return version(model) >= 4.5 || model.includes("sonnet") ? 64_000 : 32_000;
}

const link = (page: string) => `https://platform.claude.com/docs/en/${page}`;

function rule(says: string, link: string, broken: Rule["broken"]): Rule {
  return { wire: "anthropic", says, link, broken };
}

export const anthropicRules: readonly Rule[] = [
  ...textRules("anthropic"),
  rule(
    "messages: text content blocks must contain non-whitespace text",
    "https://github.com/home-assistant/core/issues/175637",
    (body) => textsIn(body).find(({ text }) => isBlank(text)),
  ),
  rule("messages: at least one message is required, and the first is the user's", link("api/messages"), (body) =>
    body.messages[0]?.role === "user" ? undefined : body.messages[0],
  ),
  rule(
    "This model does not support assistant message prefill. The conversation must end with a user message.",
    link("about-claude/models/whats-new-claude-4-6"),
    (body) => (body.messages.at(-1)?.role === "user" ? undefined : body.messages.at(-1)),
  ),
  rule("messages: content must not be empty", link("api/messages"), (body) =>
    messagesOf(body).find(({ content }) => content.length === 0),
  ),
  rule(
    "messages.content.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) => ofType(blocksOf(body), "tool_use").find(({ id }) => !/^[a-zA-Z0-9_-]+$/.test(id)),
  ),
  rule(
    "messages.content.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) => ofType(blocksOf(body), "tool_use").find(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)),
  ),
  rule(
    "messages: The final block in an assistant message cannot be `thinking`",
    "https://github.com/tailcallhq/forgecode/issues/2107",
    (body) =>
      messagesOf(body).find(({ role, content }) => role === "assistant" && /thinking/.test(content.at(-1)?.type)),
  ),
  rule("messages: `tool_use` ids must be unique", link("agents-and-tools/tool-use/implement-tool-use"), (body) =>
    firstRepeated(ofType(blocksOf(body), "tool_use").map(({ id }) => id)),
  ),
  rule(
    "`tool_use` ids were found without `tool_result` blocks immediately after",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) =>
      messagesOf(body).find(({ content }, index) => {
        const called = ofType(content, "tool_use").map(({ id }) => id);
        const answered = ofType(messagesOf(body)[index + 1]?.content ?? [], "tool_result").map(
          (block) => block.tool_use_id,
        );
        return called.some((id) => !answered.includes(id));
      }),
  ),
  rule(
    "unexpected `tool_use_id` found in `tool_result` blocks",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) =>
      messagesOf(body).find(({ content }, index) => {
        const called = ofType(messagesOf(body)[index - 1]?.content ?? [], "tool_use").map(({ id }) => id);
        const answered = ofType(content, "tool_result").map((block) => block.tool_use_id);
        return answered.some((id) => !called.includes(id)) || firstRepeated(answered) !== undefined;
      }),
  ),
  rule(
    "tool_result blocks must come first in the content",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) =>
      messagesOf(body).find(({ content }) => {
        const last = content.findLastIndex(({ type }) => type === "tool_result");
        return content.slice(0, last + 1).some(({ type }) => type !== "tool_result");
      }),
  ),
  rule("tool_result: content cannot be empty if `is_error` is true", link("api/messages"), (body) =>
    ofType(blocksOf(body), "tool_result").find(({ is_error, content }) => is_error && (content ?? "").length === 0),
  ),
  rule("Requests which include `tool_use` or `tool_result` blocks must define tools", link("api/messages"), (body) =>
    ofType(blocksOf(body), "tool_use").length > 0 && !body.tools?.length ? "no tools" : undefined,
  ),
  rule(
    "tools.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$', and be unique",
    link("api/messages"),
    (body) => {
      const names = (body.tools ?? []).map(({ name }: any) => name);
      return names.find((name: string) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) ?? firstRepeated(names);
    },
  ),
  rule(
    "input_schema does not support oneOf, allOf, or anyOf at the top level",
    "https://github.com/anthropics/claude-code/issues/40075",
    (body) => body.tools?.find(({ input_schema }: any) => topCombinator(input_schema)),
  ),
  rule(
    "input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    link("agents-and-tools/tool-use/implement-tool-use"),
    (body) => body.tools?.find(({ input_schema }: any) => schemaFault(input_schema)),
  ),
  rule(
    "input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
    (body) =>
      body.tools?.find(({ input_schema }: any) =>
        Object.keys(input_schema?.properties ?? {}).some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
      ),
  ),
  rule(
    "tools.custom.eager_input_streaming: Extra inputs are not permitted",
    "https://github.com/anthropics/claude-code/issues/33180",
    (body) => body.tools?.find((tool: any) => "eager_input_streaming" in tool),
  ),
  rule("A maximum of 4 blocks with cache_control may be provided", link("build-with-claude/prompt-caching"), (body) => {
    const marks = JSON.stringify(body).split('"cache_control":{').length - 1;
    return marks > 4 ? marks : undefined;
  }),
  rule("max_tokens: higher than the maximum of the model", link("about-claude/models/overview"), (body) =>
    body.max_tokens >= 1 && body.max_tokens <= maxTokens(body.model) ? undefined : body.max_tokens,
  ),
  rule(
    "thinking: budgets up to 4.5 and adaptive from 4.6 on; a budget is at least 1024 and below max_tokens",
    link("build-with-claude/extended-thinking"),
    ({ thinking, max_tokens, model, output_config }) => {
      if (thinking?.type === "adaptive" || output_config?.effort) return version(model) >= 4.6 ? undefined : thinking;
      if (thinking?.type !== "enabled") return undefined;
      const { budget_tokens } = thinking;
      return version(model) < 4.7 && budget_tokens >= 1024 && budget_tokens < max_tokens ? undefined : thinking;
    },
  ),
  rule(
    "temperature, top_p and top_k are not supported with thinking, nor from 4.7 on",
    link("build-with-claude/extended-thinking"),
    (body) => {
      const isRefused = version(body.model) >= 4.7 || body.thinking;
      return isRefused ? (body.temperature ?? body.top_p ?? body.top_k) : undefined;
    },
  ),
  rule(
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    link("build-with-claude/extended-thinking"),
    (body) => {
      if (body.thinking?.type !== "enabled") return undefined;
      const last = messagesOf(body).findLast(({ role }) => role === "assistant");
      const isOpen = ofType(last?.content ?? [], "tool_use").length > 0;
      return isOpen && last && !/thinking/.test(last.content[0]?.type) ? last.content[0] : undefined;
    },
  ),
  rule("output_config.effort: xhigh from 4.7 on, max from 4.6 on", link("build-with-claude/effort"), (body) => {
    const effort = body.output_config?.effort;
    const first = { xhigh: 4.7, max: 4.6 }[effort as string] ?? 4.6;
    return effort === undefined || version(body.model) >= first ? undefined : effort;
  }),
  rule("thinking.type: disabled is not taken by this model", link("build-with-claude/thinking"), (body) => {
    const isLeast = body.thinking?.type === "between_tools";
    const isOff = body.thinking?.type === "disabled";
    if (isLeast) return /sonnet-5-5/.test(body.model) ? undefined : body.thinking;
    return isOff && /(opus|sonnet)-5-5|fable|mythos/.test(body.model) ? body.thinking : undefined;
  }),
  rule("thinking blocks need the signature they came with", link("build-with-claude/extended-thinking"), (body) =>
    ofType(blocksOf(body), "thinking").find(({ signature }) => isBlank(signature)),
  ),
  rule(
    "image: media type must be image/jpeg, png, gif or webp, with data",
    link("build-with-claude/vision"),
    (body) => {
      const results = ofType(blocksOf(body), "tool_result").flatMap(({ content }) =>
        Array.isArray(content) ? content : [],
      );
      return ofType([...blocksOf(body), ...results], "image").find(
        ({ source }) => !/^image\/(jpeg|png|gif|webp)$/.test(source?.media_type) || isBlank(source?.data),
      );
    },
  ),
  rule(
    "image exceeds 5 MB maximum, 8000 pixels, or 20 images of full size",
    link("build-with-claude/vision#request-limits"),
    (body) => {
      const results = ofType(blocksOf(body), "tool_result").flatMap(({ content }) =>
        Array.isArray(content) ? content : [],
      );
      return imageFault(ofType([...blocksOf(body), ...results], "image").map(({ source }) => source.data ?? ""));
    },
  ),
];
