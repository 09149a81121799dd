// Expands what the user typed into what the model gets: resolves commands and mentions, and keeps the typed words.
import { shownPath } from "../../policy/paths.ts";
import type { Part } from "../../protocol/message.ts";
import {
  type AttachContext,
  type Attachment,
  attach,
  attachRefusal,
  findTarget,
  type MentionTarget,
} from "./attach.ts";
import { type CommandSource, expandCommand } from "./commands.ts";
import { findMentions, type Mention } from "./mentions.ts";
import type { PathInstructions } from "./path-instructions.ts";

export type ExpandInput = AttachContext & {
  configDir: string;
  /** Skills and other things that a prompt can call as `/name`, besides command files. */
  callable?: readonly CommandSource[];
  /** Shared with the loop, so that a rule attached by a mention is not sent again. */
  instructions?: PathInstructions;
};

export type ExpandedPrompt = {
  parts: Part[];
  warnings: string[];
  /** The files, rules and commands that were attached to the prompt; hooks and front ends report them. */
  attachments: { type: Attachment["type"] | "rule" | "command"; path: string }[];
};

/** The maximum number of bytes of text that the mentions in one prompt may attach. */
const maxAttachedBytes = 200 * 1024;
const maxImages = 20;

export function expandPrompt(prompt: string, input: ExpandInput): ExpandedPrompt {
  const command = expandCommand(prompt, input);
  const result: ExpandedPrompt = {
    parts: [{ type: "text", text: command.text }],
    warnings: command.warnings,
    attachments: [],
  };
  if (command.path !== undefined) result.attachments.push({ type: "command", path: command.path });
  const texts: string[] = [];
  const images: Part[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let reached = 0;
  for (const mention of findMentions(command.text)) {
    // Skip mentions inside the text of a mention that was already resolved.
    if (mention.start < reached) continue;
    const understood = resolveMention(mention, input);
    if (!understood) continue;
    const { found, rule } = understood;
    reached = understood.end;
    if (rule) {
      result.attachments.push({ type: "rule", path: rule.path });
      if (rule.text !== undefined) texts.push(rule.text);
    }
    const key = found && `${found.real}:${found.lines?.first}-${found.lines?.last}`;
    if (!found || key === undefined || seen.has(key)) continue;
    seen.add(key);
    const refusal = attachRefusal(found, input);
    const displayPath = shownPath(found.path, input.workspace);
    if (refusal) {
      result.warnings.push(`${displayPath} was not attached: ${refusal}.`);
      continue;
    }
    const attached = attach(found, input);
    result.warnings.push(...attached.warnings);
    if (attached.parts.length === 0) continue;
    if (bytes + attached.bytes > maxAttachedBytes || (attached.type === "image" && images.length >= 2 * maxImages)) {
      result.warnings.push(
        `${displayPath} was not attached: the mentions in one prompt may attach at most ${maxAttachedBytes} bytes and ${maxImages} images.`,
      );
      continue;
    }
    bytes += attached.bytes;
    result.attachments.push({ type: attached.type, path: attached.path });
    if (attached.type === "image") images.push(...attached.parts);
    else for (const part of attached.parts) if (part.type === "text") texts.push(part.text);
    const instructions = input.instructions?.forPath(found.path);
    if (instructions) texts.push(instructions);
  }
  if (texts.length > 0)
    result.parts.push({ type: "text", text: `Attached for the @ mentions above:\n${texts.join("\n")}` });
  result.parts.push(...images);
  result.warnings.push(...(input.instructions?.takeWarnings() ?? []));
  return result;
}

type UnderstoodMention = { found: MentionTarget | undefined; rule: ReturnType<PathInstructions["rule"]>; end: number };

/** Returns the longest reading that names a file, a folder or a rule. */
function resolveMention(mention: Mention, input: ExpandInput): UnderstoodMention | undefined {
  for (const { target, end } of mention.readings) {
    const found = findTarget(target, [input.workspace, ...input.roots]);
    const rule = input.instructions?.rule(target);
    if (found || rule) return { found, rule, end };
  }
  return undefined;
}
