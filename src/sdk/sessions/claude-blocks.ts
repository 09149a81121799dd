// Converts the content of Claude Code's messages, which are blocks of the vendor's API, to unified blocks.

import { isObject, type JsonObject, objectsIn, textIn } from "../../json/object.ts";
import { unifiedToolName } from "../tool-names.ts";
import {
  imageBlock,
  type UnifiedContent,
  type UnifiedImageBlock,
  type UnifiedTextBlock,
  type UnifiedUsage,
} from "../unified.ts";
import { countAt, type Losses, pictureKinds } from "./session.ts";

/** Converts the blocks of a user message: text and tool results. */
export function userBlocks(content: unknown, losses: Losses): UnifiedContent[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content }];
  return objectsIn(content).flatMap((block): UnifiedContent[] => {
    if (block.type !== "tool_result") return plainBlocks(block, losses);
    return [
      {
        type: "tool_result",
        tool_use_id: String(block.tool_use_id),
        content: resultContent(block.content, losses),
        is_error: block.is_error === true,
      },
    ];
  });
}

/** Converts the blocks of a model message: text, thinking and tool calls. */
export function answerBlocks(content: unknown, losses: Losses): UnifiedContent[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return objectsIn(content).flatMap((block): UnifiedContent[] => {
    switch (block.type) {
      case "thinking":
        return thinkingContent(block, losses);
      case "redacted_thinking":
        losses.add("thinking");
        return [];
      case "tool_use":
        return [
          {
            type: "tool_use",
            id: String(block.id),
            name: unifiedToolName("claude", String(block.name)),
            input: block.input ?? {},
          },
        ];
      case "server_tool_use":
        losses.add("hosted_call");
        return [];
      default:
        // Results of tools that the vendor's servers ran are counted with their calls.
        if (typeof block.type === "string" && block.type.endsWith("_tool_result")) return [];
        return plainBlocks(block, losses);
    }
  });
}

function plainBlocks(block: JsonObject, losses: Losses): (UnifiedTextBlock | UnifiedImageBlock)[] {
  if (block.type === "text") {
    const text = textIn(block, "text") ?? "";
    return text === "" ? [] : [{ type: "text", text }];
  }
  if (block.type === "image" && isObject(block.source)) {
    const { media_type: mime, data: base64 } = block.source;
    if (typeof mime === "string" && pictureKinds.has(mime) && typeof base64 === "string") {
      return [imageBlock({ mime, base64 })];
    }
  }
  losses.add(block.type === "image" || block.type === "document" ? "attachment" : "unknown");
  return [];
}

/** Converts a thinking block, which may contain only a signature. */
function thinkingContent(block: JsonObject, losses: Losses): UnifiedContent[] {
  const thinking = textIn(block, "thinking") ?? "";
  if (thinking === "") {
    losses.add("thinking");
    return [];
  }
  if (textIn(block, "signature")) losses.add("signature");
  return [{ type: "thinking", thinking }];
}

function resultContent(content: unknown, losses: Losses): string | (UnifiedTextBlock | UnifiedImageBlock)[] {
  if (typeof content === "string") return withoutTag(content);
  const blocks = objectsIn(content).flatMap((block) =>
    block.type === "tool_reference" ? [] : plainBlocks(block, losses),
  );
  if (blocks.some((block) => block.type === "image")) return blocks;
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** Removes the tag that Claude Code puts around what a tool says of an error. */
export function withoutTag(text: string): string {
  return /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/.exec(text)?.[1] ?? text;
}

export function parseUsage(usage: unknown): UnifiedUsage | undefined {
  if (!isObject(usage)) return undefined;
  return {
    ...usage,
    inputTokens: countAt(usage, "input_tokens"),
    outputTokens: countAt(usage, "output_tokens"),
    cacheReadTokens: countAt(usage, "cache_read_input_tokens"),
    cacheWriteTokens: countAt(usage, "cache_creation_input_tokens"),
  };
}
