// Message and Part: the conversation as it is sent to a model.

/** One part of a message: text, thinking, an image, a tool call or its result. */
export type Part =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; opaque?: unknown } // opaque: data that is sent back to its vendor verbatim
  | { type: "image"; mime: string; base64: string }
  | { type: "tool_call"; id: string; name: string; args: unknown; opaque?: unknown }
  | { type: "tool_result"; id: string; text: string; isError: boolean; images?: { mime: string; base64: string }[] };

/** A tool call of the model. */
export type ToolCallPart = Extract<Part, { type: "tool_call" }>;
/** The result of a tool call as the model receives it. */
export type ToolResultPart = Extract<Part, { type: "tool_result" }>;

/** `provider` is the source of the message; opaque parts go back to that provider only. */
export type Message = { role: "user" | "assistant"; parts: Part[]; provider?: string };

/** Returns the text of a message. */
export function messageText(message: Message): string {
  let text = "";
  for (const part of message.parts) if (part.type === "text") text += part.text;
  return text;
}

/** Returns whether a message starts a turn: user input does, tool results do not. */
export function isPrompt(message: Message): boolean {
  return message.role === "user" && !message.parts.some((part) => part.type === "tool_result");
}
