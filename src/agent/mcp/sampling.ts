// Lets MCP servers ask the model: shows the request to the user first, sends it without tools, and returns text.
import { type CreateMessageRequest, ProtocolError } from "@modelcontextprotocol/client";
import type { Provider } from "../../model/provider.ts";
import { type Message, messageText, type Part } from "../../protocol/message.ts";
import type { Person } from "../person.ts";
import { shownResult } from "./content.ts";
import { yesOrNo } from "./elicit.ts";
import { type ServerRequests, userRejected } from "./requests.ts";

export type SamplerParts = {
  person: Person;
  /** The model that answers sampling requests. It is opened while the servers start. */
  model: Promise<{ provider: Provider; model: { id: string; displayName: string } }>;
};

export function sampleWith({ person, model: opened }: SamplerParts): NonNullable<ServerRequests["sample"]> {
  return async (server, asked, signal) => {
    const { provider, model } = await opened;
    const messages = samplingMessages(asked);
    const promptPreview = [asked.systemPrompt, ...messages.map(messageText)]
      .filter(Boolean)
      .join("\n\n")
      .slice(0, 2000);
    const question = {
      id: "ask",
      prompt: `May it ask ${model.displayName} this, at your expense?\n\n${promptPreview}`,
      options: yesOrNo,
      allowMultiple: false,
    };
    const answers = await person.choose(`The MCP server ${server} wants to call the model`, [question], signal);
    if (answers?.[0]?.selectedOptionIds[0] !== "yes") throw new ProtocolError(userRejected, "The user said no.");
    let text = "";
    const request = { model: model.id, system: asked.systemPrompt ?? "", messages, tools: [], signal };
    for await (const chunk of provider.stream(request)) {
      if (chunk.type === "retry") text = "";
      if (chunk.type === "part") text += messageText({ role: "assistant", parts: [chunk.part] });
    }
    return { role: "assistant", content: { type: "text", text }, model: model.id, stopReason: "endTurn" };
  };
}

function samplingMessages({ messages }: CreateMessageRequest["params"]): Message[] {
  return messages.map(({ role, content }) => {
    const blocks = Array.isArray(content) ? content : [content];
    const plain = blocks.filter((block) => block.type === "text" || block.type === "image" || block.type === "audio");
    const { text, images } = shownResult({ content: plain }, 100_000);
    const parts: Part[] = [{ type: "text", text }, ...images.map((image) => ({ type: "image" as const, ...image }))];
    return { role, parts };
  });
}
