// What comes with a prompt beside its words: pictures, files, rules.
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { imageKind, largestImage } from "../agent/image.ts";
import type { ExpandedPrompt } from "../agent/instructions/index.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Part } from "../protocol/message.ts";

/** Files and rules that came with a prompt. */
export function attachedFiles({ attachments }: ExpandedPrompt, images: readonly string[]) {
  const files = attachments.flatMap(({ type, path }) =>
    type === "rule" || type === "file" ? [{ type, path } as const] : [],
  );
  return [...files, ...images.map((path) => ({ type: "file" as const, path: resolve(path) }))];
}

export function imagePart(path: string): Part {
  const refuse = (why: string) =>
    new UserError("FILE_UNREADABLE", `The image ${path} ${why}. Give another with --image <path>.`);
  let bytes: Buffer;
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error("it is no file");
    if (facts.size > largestImage) throw new Error(`it is larger than ${largestImage / 1_048_576} MiB`);
    bytes = readFileSync(path);
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`);
  }
  const mime = imageKind(bytes);
  if (!mime) throw refuse("is no PNG, JPEG, GIF or WebP picture");
  return { type: "image", mime, base64: bytes.toString("base64") };
}
