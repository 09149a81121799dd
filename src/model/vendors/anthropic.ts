// Anthropic: the Messages API.
import { createAnthropic } from "@ai-sdk/anthropic";
import type { Message, Part } from "../../protocol/message.ts";
import { isBlankText } from "../../text/blank.ts";
import type { Opaque } from "../ai-sdk-prompt.ts";
import { judgesForItself } from "../efforts.ts";
import type { Effort, ModelRequest } from "../provider.ts";
import { claudeRules, type Vendor, type VendorSettings } from "./vendor.ts";

const budgets: Partial<Record<Effort, number>> = { low: 4_000, medium: 12_000, high: 28_000 };

export function anthropicVendor(settings: VendorSettings): Vendor {
  return {
    name: settings.name,
    open: (modelId, fetch) =>
      createAnthropic({
        baseURL: settings.baseUrl,
        apiKey: settings.key ?? "none",
        headers: { ...settings.headers },
        fetch,
      })(modelId),
    options: (request) => ({
      // Set a limit for unknown models, for which the package would use 4,096. Known models have their own limit.
      maxOutputTokens: settings.outputTokens ?? 32_000,
      // Gateways and clouds refuse the field by which the package asks for calls to be streamed; only whole calls are read.
      providerOptions: { anthropic: { ...thinking(request, settings.name), toolStreaming: false } },
    }),
    imagesInResults: true,
    callIdRule: () => ({ legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 24 }),
    ...claudeRules,
    returnsThinking: true,
    addsEvents: true,
    cacheMark: { anthropic: { cacheControl: { type: "ephemeral" } } },
  };
}

/** Up to 4.5 a model gets a thinking budget; from 4.6 on it gets an effort and decides itself. */
// biome-ignore lint/suspicious/noExplicitAny: the options of the vendor's package have no exported type
function thinking(request: ModelRequest, from: string): Record<string, any> {
  const { effort } = request;
  if (!effort) return {};
  // If thinking cannot be disabled, the package requests the lowest level.
  if (judgesForItself(request.model))
    return effort === "none" ? { thinking: { type: "disabled" } } : { thinking: { type: "adaptive" }, effort };
  // The API refuses thinking after tool calls of a reply that does not begin with it.
  const budgetTokens = budgets[effort];
  if (budgetTokens === undefined || !mayThink(request.messages, from)) return {};
  return { thinking: { type: "enabled", budgetTokens } };
}

function mayThink(messages: readonly Message[], from: string): boolean {
  const isSigned = ({ opaque }: { opaque?: unknown }) => {
    const { from: maker, metadata = {} } = (opaque ?? {}) as Partial<Opaque>;
    return maker === from && Object.values(metadata).some((fields) => fields["signature"] ?? fields["redactedData"]);
  };
  // Find the last reply that contains more than thinking, and the first part of it that is sent.
  const isSaid = (part: Part) => part.type === "tool_call" || (part.type === "text" && !isBlankText(part.text));
  const last = messages.findLast(({ role, parts }) => role === "assistant" && parts.some(isSaid));
  if (!last?.parts.some((part) => part.type === "tool_call")) return true;
  return last.parts.find((part) => isSaid(part) || (part.type === "thinking" && isSigned(part)))!.type === "thinking";
}
