// Estimates how many tokens a conversation takes, well enough to decide when to compact it.
import { perObject } from "../../json/per-object.ts";
import type { Message, Part } from "../../protocol/message.ts";

const imageTokens = 1500;

export function estimateTokens(messages: readonly Message[]): number {
  return Math.ceil(countTokens(messages));
}

/** Counts in quarters of a token, so that sums are exact. */
export function countTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const message of messages) tokens += tokensOf(message);
  return tokens;
}

const tokensOf = perObject(({ parts }: Message) => parts.reduce((sum, part) => sum + count(part), 0));

function count(part: Part): number {
  switch (part.type) {
    case "text":
    case "thinking":
      return tokensIn(part.text);
    case "image":
      return imageTokens;
    case "tool_call":
      return tokensIn(JSON.stringify(part.args) ?? "") + tokensIn(part.name);
    case "tool_result":
      return tokensIn(part.text) + (part.images?.length ?? 0) * imageTokens;
  }
}

/**
 * Estimates the number of tokens in a text. One token is about four characters of English or code, two of other
 * alphabets, or one of Chinese, Japanese or Korean.
 */
function tokensIn(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    quarters += code < 0x80 ? 1 : code < 0x2e80 ? 2 : 4;
  }
  return quarters / 4;
}
