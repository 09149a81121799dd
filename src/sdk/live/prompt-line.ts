// A prompt as a line on the input of our CLI.
import { resolve } from "node:path";
import type { Item } from "./prompts.ts";

export function promptLine({ id, prompt: { text, data, images = [] } }: Pick<Item, "id" | "prompt">): object {
  const pictures = images.map((image) => ({
    type: "image",
    source:
      typeof image === "string"
        ? { type: "file", path: resolve(image) }
        : { type: "base64", media_type: image.mime, data: image.base64 },
  }));
  const blocks = [{ type: "text", text }, ...(data === undefined ? [] : [{ type: "data", text: data }]), ...pictures];
  return { type: "user", message: { role: "user", content: blocks.length === 1 ? text : blocks }, id };
}
