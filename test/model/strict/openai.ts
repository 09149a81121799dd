// The Responses API and chat completions, with what OpenRouter and Mistral add: what they refuse.
import {
  firstRepeated,
  imageFault,
  isBlank,
  type Rule,
  schemaFault,
  schemasIn,
  textRules,
  topCombinator,
  withoutItems,
} from "./rule.ts";

const guide = (page: string) => `https://platform.openai.com/docs/${page}`;
const itemsOf = (body: any, type: string): any[] => (body.input ?? []).filter((item: any) => item.type === type);

function responses(says: string, link: string, broken: Rule["broken"]): Rule {
  return { wire: "openai-responses", says, link, broken };
}

function chat(says: string, link: string, broken: Rule["broken"]): Rule {
  return { wire: "openai-chat", says, link, broken };
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** Of both APIs: what a schema of a function must be. `tools`: name and parameters. */
function schemaRules(make: typeof chat, toolsOf: (body: any) => { name: string; parameters: any; strict?: boolean }[]) {
  return [
    make(
      "Invalid schema for function: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level",
      "https://github.com/anomalyco/opencode/issues/35516",
      (body) => toolsOf(body).find(({ parameters }) => topCombinator(parameters)),
    ),
    make(
      "Invalid schema for function: array schema missing items",
      "https://github.com/mark3labs/mcphost/issues/35",
      (body) => toolsOf(body).find(({ parameters }) => withoutItems(parameters)),
    ),
    make(
      "Invalid schema for function: it is not valid under the JSON Schema",
      guide("guides/function-calling"),
      (body) => toolsOf(body).find(({ parameters }) => schemaFault(parameters)),
    ),
    make(
      "tools.name: string does not match pattern '^[a-zA-Z0-9_-]+$', or is not unique",
      guide("api-reference"),
      (body) => {
        const names = toolsOf(body).map(({ name }) => name);
        return names.find((name) => !toolName.test(name)) ?? firstRepeated(names);
      },
    ),
    make("tools: array too long. Expected an array with maximum length 128", guide("api-reference"), (body) =>
      toolsOf(body).length > 128 ? toolsOf(body).length : undefined,
    ),
    make(
      "with strict, every field is required and additionalProperties is false",
      guide("guides/structured-outputs"),
      (body) =>
        toolsOf(body).find(
          ({ strict, parameters }) =>
            strict === true &&
            schemasIn(parameters).some(
              ({ type, properties = {}, required = [], additionalProperties }) =>
                type === "object" &&
                (additionalProperties !== false || Object.keys(properties).some((name) => !required.includes(name))),
            ),
        ),
    ),
  ];
}

const isThinker = (model: string) => /^(gpt-[5-9]|o\d)/.test(model);

export const responsesRules: readonly Rule[] = [
  ...textRules("openai-responses"),
  ...schemaRules(responses, (body) => (body.tools ?? []).filter(({ type }: any) => type === "function")),
  responses(
    "a function without `strict` is made strict: optional fields become mandatory",
    guide("guides/function-calling#strict-mode"),
    (body) => body.tools?.find(({ type, strict }: any) => type === "function" && typeof strict !== "boolean"),
  ),
  responses(
    "input.call_id: string too long. Expected a string with maximum length 64",
    guide("api-reference/responses"),
    (body) =>
      body.input.find(({ call_id }: any) => call_id !== undefined && !(call_id.length >= 1 && call_id.length <= 64)),
  ),
  responses(
    "Invalid 'input.name': string does not match pattern '^[a-zA-Z0-9_-]+$'",
    "https://github.com/mcp-use/mcp-use/pull/94",
    (body) => itemsOf(body, "function_call").find(({ name }) => !toolName.test(name)),
  ),
  responses("No tool output found for function call", guide("guides/function-calling"), (body) => {
    const answered = itemsOf(body, "function_call_output").map(({ call_id }) => call_id);
    return itemsOf(body, "function_call").find(({ call_id }) => !answered.includes(call_id));
  }),
  responses("No tool call found for function call output", guide("guides/function-calling"), (body) => {
    const called = itemsOf(body, "function_call").map(({ call_id }) => call_id);
    return (
      itemsOf(body, "function_call_output").find(({ call_id }) => !called.includes(call_id)) ?? firstRepeated(called)
    );
  }),
  responses(
    "Item of type 'reasoning' was provided without its required following item",
    guide("guides/reasoning#keeping-reasoning-items-in-context"),
    (body) =>
      body.input.find(
        ({ type }: any, index: number) =>
          type === "reasoning" && !/^(message|function_call|reasoning)$/.test(body.input[index + 1]?.type ?? "message"),
      ) ?? (body.input.at(-1)?.type === "reasoning" ? body.input.at(-1) : undefined),
  ),
  responses(
    "reasoning items need their encrypted_content where nothing is stored",
    guide("guides/reasoning#encrypted-reasoning-items"),
    (body) =>
      body.store === false
        ? (itemsOf(body, "reasoning").find(({ encrypted_content }) => isBlank(encrypted_content)) ??
          itemsOf(body, "item_reference")[0])
        : undefined,
  ),
  responses(
    "Invalid 'input.id': string too long, or not one of this kind of item",
    guide("api-reference/responses"),
    (body) =>
      body.input.find(
        ({ id, type }: any) =>
          id !== undefined &&
          !(
            id.length <= 64 &&
            id.startsWith({ function_call: "fc", function_call_output: "fc", reasoning: "rs" }[type as string] ?? "msg")
          ),
      ),
  ),
  responses(
    "Unsupported parameter: 'temperature' (or top_p) with a reasoning model",
    guide("guides/reasoning"),
    (body) => (isThinker(body.model) ? (body.temperature ?? body.top_p) : undefined),
  ),
  responses(
    "Unsupported parameter: 'reasoning.effort' with a model that does not reason",
    guide("guides/reasoning"),
    (body) => (isThinker(body.model) ? undefined : body.reasoning?.effort),
  ),
  responses(
    "Unsupported value: 'reasoning.effort' of this model",
    guide("guides/reasoning"),
    ({ model, reasoning }) => {
      const effort = reasoning?.effort;
      if (effort === undefined || /^(low|medium|high)$/.test(effort)) return undefined;
      const minor = Number(/^gpt-5\.(\d)/.exec(model)?.[1] ?? 0);
      const since6 = /^gpt-6/.test(model);
      const taken = {
        minimal: /^gpt-5(-mini|-nano)?$/.test(model),
        none: (minor >= 1 && !/codex|pro/.test(model)) || /^gpt-6-(sol|luna)$/.test(model),
        xhigh: minor >= 2 || since6 || /codex-max/.test(model),
        max: minor >= 6 || since6,
      }[effort as string];
      return taken ? undefined : effort;
    },
  ),
  responses("nothing blank in any role", guide("api-reference/responses"), (body) =>
    body.input.find(({ content }: any) =>
      [content ?? "-"].flat().some((piece) => isBlank(piece.text ?? piece.image_url ?? piece)),
    ),
  ),
  responses("input_image must be a PNG, JPEG, WEBP or GIF", guide("guides/images-vision"), (body) =>
    /"image_url":"data:(?!image\/(png|jpeg|webp|gif);base64,.)/.test(JSON.stringify(body)) ? "image" : undefined,
  ),
  responses("images of 5 MB and 8000 pixels, no more than 20", guide("guides/images-vision"), (body) =>
    imageFault(dataOf(body)),
  ),
  responses("prompt_cache_key: maximum length 64", guide("guides/prompt-caching"), (body) =>
    (body.prompt_cache_key ?? "").length > 64 ? body.prompt_cache_key : undefined,
  ),
];

/** Every image of a body, as the data of its URL. */
function dataOf(body: any): string[] {
  return [...JSON.stringify(body).matchAll(/"data:image\/\w+;base64,([^"]*)"/g)].map((match) => match[1]!);
}

const callsOf = (body: any): any[] => body.messages.flatMap(({ tool_calls = [] }: any) => tool_calls);
const isMistral = (model: string) => /mistral|devstral/.test(model);

export const chatRules: readonly Rule[] = [
  ...textRules("openai-chat"),
  ...schemaRules(chat, (body) => (body.tools ?? []).map((tool: any) => tool.function)),
  chat(
    "Invalid 'messages.tool_calls.id': string too long. Expected a string with maximum length 40",
    "https://github.com/langgenius/dify/issues/28987",
    (body) => callsOf(body).find(({ id }) => typeof id !== "string" || id.length < 1 || id.length > 40),
  ),
  chat(
    "Tool call id must be a-z, A-Z, 0-9, with a length of 9",
    "https://github.com/anomalyco/opencode/issues/1680",
    (body) => (isMistral(body.model) ? callsOf(body).find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id)) : undefined),
  ),
  chat(
    "Unexpected role 'user' after role 'tool'",
    "https://github.com/mistralai/mistral-vibe/issues/578",
    ({ model, messages }) =>
      isMistral(model)
        ? messages.find(({ role }: any, index: number) => role === "user" && messages[index - 1]?.role === "tool")
        : undefined,
  ),
  chat(
    "Conversation roles must alternate user and assistant, except for tool calls and results",
    "https://github.com/ggml-org/llama.cpp/issues/19851",
    ({ model, messages }) => {
      const isSkipped = ({ role, tool_calls }: any) => isMistral(model) && (role === "tool" || tool_calls?.length > 0);
      const spoken = messages.filter((each: any) => each.role !== "system" && !isSkipped(each));
      return spoken.find(({ role }: any, index: number) => role !== "tool" && role === spoken[index - 1]?.role);
    },
  ),
  chat(
    "thinking is enabled but reasoning_content is missing in assistant tool call message",
    "https://github.com/charmbracelet/crush/issues/2696",
    ({ model, messages }) =>
      /kimi|deepseek/.test(model)
        ? messages.find(
            ({ tool_calls, reasoning_content, reasoning_details }: any) =>
              tool_calls?.length && isBlank(reasoning_content) && !reasoning_details?.length,
          )
        : undefined,
  ),
  chat(
    "property 'reasoning_content' is unsupported",
    "https://github.com/janhq/jan/issues/8136",
    ({ model, messages }) =>
      /kimi|deepseek|glm/.test(model)
        ? undefined
        : messages.find((message: any) => message.reasoning_content !== undefined),
  ),
  chat("tool_call ids are unique", guide("api-reference/chat"), (body) =>
    firstRepeated(callsOf(body).map(({ id }) => id)),
  ),
  chat(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'",
    guide("guides/function-calling"),
    (body) =>
      body.messages.find(({ tool_calls = [] }: any, index: number) => {
        const after = body.messages.slice(index + 1);
        const end = after.findIndex(({ role }: any) => role !== "tool");
        const answers = (end < 0 ? after : after.slice(0, end)).map(({ tool_call_id }: any) => tool_call_id);
        return tool_calls.some(({ id }: any) => !answers.includes(id));
      }),
  ),
  chat(
    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    guide("guides/function-calling"),
    (body) =>
      body.messages.find(
        ({ role, tool_call_id }: any, index: number) =>
          role === "tool" &&
          !body.messages
            .slice(0, index)
            .some(({ tool_calls = [] }: any) => tool_calls.some(({ id }: any) => id === tool_call_id)),
      ),
  ),
  chat(
    "content must not be null without tool_calls, and nothing is blank in any role",
    guide("api-reference/chat"),
    (body) =>
      body.messages.find(({ content, tool_calls }: any) =>
        content === null || content === undefined
          ? !tool_calls?.length
          : [content].flat().length === 0 ||
            [content].flat().some((piece: any) => isBlank(piece.text ?? piece.image_url?.url ?? piece)),
      ),
  ),
  chat("function.arguments must be the JSON of an object", guide("api-reference/chat"), (body) =>
    callsOf(body).find((call) => !/^\{.*\}$/s.test(call.function.arguments)),
  ),
  chat("the conversation ends with a user or tool message", "https://docs.mistral.ai/api", (body) =>
    /user|tool/.test(body.messages.at(-1)?.role) ? undefined : body.messages.at(-1),
  ),
  chat("'stream_options' is only allowed when 'stream' is enabled", guide("api-reference/chat"), (body) =>
    body.stream ? undefined : body.stream_options,
  ),
  chat("cache_control: at most 4, on text", "https://openrouter.ai/docs/features/prompt-caching", (body) => {
    const marks = JSON.stringify(body.messages).split('"cache_control":').length - 1;
    const onText = body.messages
      .flatMap(({ content }: any) => (Array.isArray(content) ? content : []))
      .filter(({ type, cache_control }: any) => cache_control && type === "text").length;
    return marks > 4 || marks !== onText ? marks : undefined;
  }),
  chat(
    "Invalid 'messages.tool_calls.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'",
    "https://github.com/mcp-use/mcp-use/pull/94",
    (body) => callsOf(body).find((call) => !toolName.test(call.function.name)),
  ),
  chat(
    "Behind this server, Claude takes no such names of arguments, and no calls without tools",
    "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
    (body) => {
      if (!/claude/.test(body.model)) return undefined;
      if (callsOf(body).length > 0 && !body.tools?.length) return "no tools";
      return body.tools?.find(({ function: { parameters } }: any) =>
        Object.keys(parameters.properties ?? {}).some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name)),
      );
    },
  ),
  chat(
    "Invalid 'tools.function.description': string too long. Expected a string with maximum length 1024",
    "https://github.com/getsentry/sentry-mcp/issues/106",
    ({ model, tools = [] }) =>
      /(^|\/)gpt/.test(model)
        ? tools.find((tool: any) => (tool.function.description ?? "").length > 1024)?.function.name
        : undefined,
  ),
  chat(
    "images of 5 MB and 8000 pixels, no more than 20; Mistral: 8; Groq: 5",
    "https://github.com/earendil-works/pi/pull/120",
    (body) => imageFault(dataOf(body), isMistral(body.model) ? 8 : /llama/.test(body.model) ? 5 : 20),
  ),
  chat("unknown variant `image_url`, expected `text`", "https://github.com/rikkahub/rikkahub/issues/1433", (body) =>
    /^deepseek-v4-(pro|flash)$/.test(body.model) ? dataOf(body)[0] : undefined,
  ),
  chat(
    "images are PNG or JPEG",
    "https://docs.x.ai/developers/model-capabilities/images/understanding",
    ({ model, messages }) =>
      /^grok/.test(model) && /"data:image\/(?!png|jpeg)/.test(JSON.stringify(messages)) ? "an image" : undefined,
  ),
  chat(
    "Extra inputs are not permitted: body.stream_options",
    "https://github.com/dnakov/anon-kode/issues/53",
    ({ model, stream_options }) => (isMistral(model) ? stream_options : undefined),
  ),
  chat(
    "This model does not support parameter reasoning_effort, or not this value",
    "https://docs.x.ai/developers/model-capabilities/text/reasoning",
    ({ model, reasoning_effort: effort }) => {
      if (effort === undefined) return undefined;
      const [, taken] = efforts.find(([names]) => names.test(model)) ?? [];
      return taken === undefined || taken.split(" ").includes(effort) ? undefined : effort;
    },
  ),
  chat(
    "tools.function.parameters is not a valid moonshot flavored json schema",
    "https://github.com/MoonshotAI/walle/blob/main/docs/walle.md",
    ({ model, tools = [] }) =>
      /kimi/.test(model) ? tools.map((tool: any) => moonshotFault(tool.function.parameters)).find(Boolean) : undefined,
  ),
];

const efforts: readonly [RegExp, string][] = [
  [/^grok-4\.6$/, "low medium high xhigh"],
  [/^grok-4\.5$/, "low medium high"],
  [/^grok-code/, ""],
  [/^deepseek-v4/, "low medium high xhigh max"],
  [/devstral/, ""],
];

const moonshotKeywords = new Set(
  "type properties required additionalProperties items anyOf enum description default $ref $defs".split(" "),
);

function moonshotFault(root: any): unknown {
  for (const schema of schemasIn(root)) {
    const { type, anyOf, $ref, required = [], properties = {}, items, enum: values, ...rest } = schema;
    const forms = [type, anyOf, $ref].filter((each) => each !== undefined);
    if (forms.length !== 1 || (type !== undefined && typeof type !== "string")) return { forms: schema };
    if (Object.keys(schema).some((keyword) => !moonshotKeywords.has(keyword))) return { keywords: schema };
    if (anyOf && (anyOf.length < 1 || anyOf.length > 10)) return { anyOf };
    if ($ref !== undefined && !/^#\/\$defs\/[^/]+$/.test($ref)) return { $ref };
    if (required.some((name: string) => !(name in properties))) return { required };
    if (Object.values(properties).some((field) => typeof field !== "object")) return { properties };
    if (items !== undefined && (typeof items !== "object" || Object.keys(items).length === 0)) return { items };
    if (values && new Set(values.map((value: unknown) => typeof value)).size !== 1) return { values };
    if ((anyOf || $ref) && Object.keys(rest).some((keyword) => !/^(description|title)$/.test(keyword)))
      return { beside: schema };
    if (schema !== root && rest.$defs) return { $defs: schema };
  }
  return undefined;
}
