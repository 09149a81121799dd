// Converts an MCP server's results for the stream and for the model.
import type { CallToolResult, ContentBlock, ReadResourceResult } from "@modelcontextprotocol/client";
import { imageKind, largestImage } from "../../protocol/image.ts";
import type { McpContent } from "../../protocol/tool-calls.ts";
import type { ToolResult } from "../tools/tool.ts";

type McpImage = { mime: string; base64: string };

/** The content of an MCP result: `wire` is sent to the stream, `text` and `images` to the model. */
export type RenderedContent = { wire: McpContent[]; text: string; images: McpImage[] };

const maxImages = 20;

export function shownResult({ content, structuredContent }: CallToolResult, limit: number): RenderedContent {
  const blocks: readonly ContentBlock[] =
    (content?.length ?? 0) === 0 && structuredContent !== undefined
      ? [{ type: "text", text: JSON.stringify(structuredContent) }]
      : (content ?? []);
  return renderWithinLimit(
    blocks.map((block) => shownBlock(block)),
    limit,
  );
}

export function shownResource({ contents }: ReadResourceResult, limit: number): RenderedContent {
  return renderWithinLimit(
    contents.map((resource) => shownBlock({ type: "resource", resource })),
    limit,
  );
}

type RenderedBlock = { wire: McpContent; text?: string; image?: McpImage };

function renderWithinLimit(blocks: readonly RenderedBlock[], limit: number): RenderedContent {
  const images = blocks.flatMap((block) => (block.image ? [block.image] : [])).slice(0, maxImages);
  const text = blocks.flatMap((block) => block.text ?? []).join("\n");
  return { wire: blocks.map((block) => block.wire), text: keepBothEnds(text, limit), images };
}

function shownBlock(block: ContentBlock): RenderedBlock {
  switch (block.type) {
    case "text":
      return { wire: { text: { text: block.text } }, text: block.text };
    case "image":
      return shownImage(block.data, block.mimeType);
    case "audio":
      return noteBlock(`[audio (${block.mimeType}), which cannot be played here]`);
    case "resource_link": {
      const about = block.description === undefined ? block.name : `${block.name}: ${block.description}`;
      return { wire: { resource: { uri: block.uri } }, text: `[resource ${block.uri} (${about})]` };
    }
    case "resource": {
      const { uri } = block.resource;
      if ("text" in block.resource) {
        const { text } = block.resource;
        return { wire: { resource: { uri, text } }, text: `[resource ${uri}]\n${text}` };
      }
      const image = imageOf(block.resource.blob);
      const kind = block.resource.mimeType ?? "application/octet-stream";
      return { wire: { resource: { uri } }, text: `[resource ${uri}: ${kind}]`, ...(image && { image }) };
    }
  }
}

/** Detects the image type from its bytes, since a server's MIME type cannot be trusted. */
function shownImage(data: string, mimeType: string): RenderedBlock {
  const image = imageOf(data);
  if (!image) return noteBlock(`[image (${mimeType}), which cannot be shown: it is too large or not an image]`);
  return { wire: { image: { data, mimeType } }, image };
}

function imageOf(base64: string): McpImage | undefined {
  if (base64.length > (largestImage * 4) / 3 + 4) return undefined;
  const mime = imageKind(Buffer.from(base64.slice(0, 64), "base64"));
  return mime === undefined ? undefined : { mime, base64 };
}

function noteBlock(text: string): RenderedBlock {
  return { wire: { text: { text } }, text };
}

/** Shortens a text in the middle. Its beginning and end are usually the most informative. */
function keepBothEnds(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half)}\n[… ${left} characters omitted …]\n${text.slice(-half)}`;
}

export function toolResult(outcome: ToolResult["outcome"], { text, images }: RenderedContent): ToolResult {
  return { outcome, text, ...(images.length > 0 && { images }) };
}
