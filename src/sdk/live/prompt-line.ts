// A prompt as a line on the input of our CLI.
import { resolve } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import { imageKind, largestImage } from "../../protocol/image.ts";
import type { OpenPrompt } from "../../protocol/prompts.ts";
import type { Prompt } from "../../protocol/run.ts";

export function promptLine({ id, prompt: { text, data, images = [] } }: Pick<OpenPrompt, "id" | "prompt">): object {
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

/** Why a prompt cannot be sent: such a line would be the end of the process, and not only of its turn. */
export function promptFault({ text, data, images = [] }: Prompt): UserError | undefined {
  if (text.trim() === "" && data === undefined && images.length === 0)
    return new UserError("USAGE", "The prompt is empty.");
  for (const image of images) {
    if (typeof image === "string") continue;
    const bytes = Buffer.from(image.base64, "base64");
    if (bytes.length > largestImage)
      return new UserError("FILE_UNREADABLE", `An image is larger than ${largestImage / 1_048_576} MiB.`);
    if (!imageKind(bytes)) return new UserError("FILE_UNREADABLE", "An image is not a PNG, JPEG, GIF or WebP picture.");
  }
  return undefined;
}
