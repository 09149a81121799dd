// Leaves out of a request what its server refuses by name, so that the chat can go on: an effort, earlier thinking, images.
import type { Part } from "../protocol/message.ts";
import type { ModelError, ModelRequest } from "./provider.ts";

type Refusal = {
  kind: "effort_refused" | "thinking_refused" | "images_refused";
  /** Matches the server's error message for the refusal. */
  words: RegExp;
  /** The parts of a conversation that it concerns; without it, the effort. */
  concerns?(part: Part): boolean;
  /** What is omitted from the request, for the notice to the user. */
  what: string;
};

const isSigned = (part: Part) => (part.type === "thinking" || part.type === "tool_call") && part.opaque !== undefined;
const hasImages = (part: Part) => part.type === "image" || (part.type === "tool_result" && part.images !== undefined);
const thinking = { kind: "thinking_refused", concerns: isSigned, what: "its earlier thinking" } as const;

/** What servers are known to refuse. The first row that applies is used. */
const refusals: readonly Refusal[] = [
  { ...thinking, words: /signature|encrypted|(?:thinking|reasoning)\W*(?:blocks?|items?|content)\b/i },
  { kind: "effort_refused", words: /effort|reasoning|thinking/i, what: "the effort" },
  { ...thinking, words: /reasoning|thinking/i },
  {
    kind: "images_refused",
    words: /\bimages?\b|image_url|\bvision\b|multimodal|content must be a string/i,
    concerns: hasImages,
    what: "the images so far",
  },
];

export class Refused {
  readonly #parts = new WeakSet<Part>();
  #effort = false;

  /** Returns the request without the parts that the server has refused before. */
  without(request: ModelRequest): ModelRequest {
    const { effort, ...rest } = request;
    const messages = request.messages.map((message) =>
      message.parts.some((part) => this.#parts.has(part))
        ? {
            ...message,
            parts: message.parts.flatMap((part) => (this.#parts.has(part) ? withoutRefusedContent(part) : [part])),
          }
        : message,
    );
    return { ...rest, messages, ...(effort && !this.#effort && { effort }) };
  }

  /** Remembers what the server refused. Returns a sentence about it; undefined if nothing can be omitted. */
  note({ code, message }: ModelError, request: ModelRequest): { kind: string; without: string } | undefined {
    const { effort } = request;
    for (const { kind, words, concerns, what } of refusals) {
      // A server with models of many vendors may answer that it has none that takes images.
      if (code !== "MODEL_BAD_REQUEST" && !(code === "MODEL_UNKNOWN" && concerns === hasImages)) continue;
      const isNamed = words.test(message) || (!concerns && new RegExp(`['"\`]${effort}['"\`]`).test(message));
      if (!isNamed) continue;
      if (concerns) {
        const parts = request.messages.flatMap((each) => each.parts.filter(concerns));
        for (const part of parts) this.#parts.add(part);
        if (parts.length > 0) return { kind, without: what };
      } else if (effort) {
        this.#effort = true;
        return { kind, without: `${what} ${effort}` };
      }
    }
    return undefined;
  }
}

const imageNote = "[An image was here, which the model's server refused.]";

function withoutRefusedContent(part: Part): Part[] {
  switch (part.type) {
    case "thinking":
      return [];
    case "image":
      return [{ type: "text", text: imageNote }];
    case "tool_result": {
      const { images: _refused, ...rest } = part;
      return [{ ...rest, text: `${part.text}\n${imageNote}` }];
    }
    case "tool_call": {
      const { opaque: _refused, ...rest } = part;
      return [rest];
    }
    case "text":
      return [part];
  }
}
