// Reads image files that the user names.
import { readFileSync, statSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { imageKind, largestImage } from "../protocol/image.ts";
import { systemErrorText } from "../text/system-error.ts";

export function readImage(path: string): { mime: string; base64: string } {
  const refuse = (why: string) =>
    new UserError("FILE_UNREADABLE", `The image ${path} ${why}. Pass another with --image <path>.`);
  let bytes: Buffer;
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error("it is not a file");
    if (stats.size > largestImage) throw new Error(`it is larger than ${largestImage / 1_048_576} MiB`);
    bytes = readFileSync(path);
  } catch (error) {
    throw refuse(`cannot be read: ${systemErrorText(error)}`);
  }
  const mime = imageKind(bytes);
  if (!mime) throw refuse("is not a PNG, JPEG, GIF or WebP image");
  return { mime, base64: bytes.toString("base64") };
}
