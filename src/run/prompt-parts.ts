// What comes with a prompt beside its words: pictures, files, rules.
import { readFileSync, statSync } from "node:fs";
import type { ExpandedPrompt } from "../agent/instructions/index.ts";
import { UserError } from "../protocol/error-codes.ts";
import { imageKind, largestImage } from "../protocol/image.ts";
import type { Part } from "../protocol/message.ts";
import type { Prompt } from "../protocol/run.ts";

/** What the user typed, what the model is told, and what came along for hooks. */
export function promptParts({ text, data, images = [] }: Prompt, { parts, attachments }: ExpandedPrompt) {
  const pictures = images.map(
    (image): Part => (typeof image === "string" ? imagePart(image) : { type: "image", ...image }),
  );
  const piped: Part[] = data === undefined ? [] : [{ type: "text", text: data }];
  const files = attachments.flatMap(({ type, path }) =>
    type === "rule" || type === "file" ? [{ type, path } as const] : [],
  );
  const given = images.flatMap((image) => (typeof image === "string" ? [{ type: "file" as const, path: image }] : []));
  return {
    text: data === undefined ? text : `${text}\n\n${data}`,
    parts: [...parts, ...piped, ...pictures],
    attachments: [...files, ...given],
  };
}

function imagePart(path: string): Part {
  const refuse = (why: string) =>
    new UserError("FILE_UNREADABLE", `The image ${path} ${why}. Give another with --image <path>.`);
  let bytes: Buffer;
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error("it is not a file");
    if (facts.size > largestImage) throw new Error(`it is larger than ${largestImage / 1_048_576} MiB`);
    bytes = readFileSync(path);
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`);
  }
  const mime = imageKind(bytes);
  if (!mime) throw refuse("is not a PNG, JPEG, GIF or WebP picture");
  return { type: "image", mime, base64: bytes.toString("base64") };
}
