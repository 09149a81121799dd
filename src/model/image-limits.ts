// Which images of a conversation a vendor is sent. It would refuse the whole request for one that is too large, or one too many.
import { perObject } from "../json/per-object.ts";
import type { Message, Part } from "../protocol/message.ts";

type Image = { mime: string; base64: string };

/** The maximum size of an image, counted like vendors do: in characters of Base64, and in pixels of the longer side. */
const largest = 5 * 1024 * 1024;
const longestSide = 8000;
const largestTogether = 3 * largest;

/** Returns why an image cannot be sent, as a note for the model. */
export function imageProblem(image: Image): string | undefined {
  if (image.base64.length > largest) return "it is larger than 3.75 MB";
  const side = longestSideOf(image);
  return side > longestSide ? `${side} pixels are more than ${longestSide}; make it smaller and look again` : undefined;
}

const longestSideOf = perObject(({ base64 }: Image) => Math.max(...imageSize(Buffer.from(base64, "base64"))));

/** Reads width and height; zeros if they are not found. */
function imageSize(bytes: Buffer): [width: number, height: number] {
  if (bytes.length < 30) return [0, 0];
  if (bytes[0] === 0x89) return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (bytes[0] === 0x47) return [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  if (bytes[0] === 0xff) return jpegSize(bytes);
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8X") return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (kind === "VP8 ") return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (kind !== "VP8L") return [0, 0];
  const bits = bytes.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

/** Returns the size of a JPEG, which is in the frame header after any number of other segments. */
function jpegSize(bytes: Buffer): [width: number, height: number] {
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1]!;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    if (bytes[at] !== 0xff || marker === 0xda) break;
  }
  return [0, 0];
}

/**
 * Leaves out the oldest images. Several at a time, so that the start of the request, which vendors cache, seldom changes; of the
 * newest message only those that must.
 */
export function withNewestImages(messages: readonly Message[], most: number): readonly Message[] {
  if (!messages.some(({ parts }) => parts.some((part) => imagesOf(part).length > 0))) return messages;
  const images = messages.flatMap(({ parts }) => parts.flatMap(imagesOf));
  let left = excessCount(images, most, messages.at(-1)?.parts.flatMap(imagesOf).length ?? 0);
  return messages.map((message) => {
    if (left === 0) return message;
    const parts = message.parts.map((part) => {
      const kept = imagesOf(part).slice(left);
      const omitted = imagesOf(part).length - kept.length;
      left -= omitted;
      return omitted > 0 ? withOnly(part, kept) : part;
    });
    return { ...message, parts };
  });
}

/** Returns how many of the oldest images must be omitted. */
function excessCount(images: readonly Image[], most: number, newest: number): number {
  let bytes = 0;
  const at = images.findLastIndex(({ base64 }, index) => {
    bytes += base64.length > largest ? 0 : base64.length;
    return images.length - index > most || bytes > largestTogether;
  });
  const least = at + 1;
  const step = Math.max(1, Math.floor((images.length - least) / 4));
  return Math.max(least, Math.min(Math.ceil(least / step) * step, images.length - newest));
}

const older = "[An older image was here: only the newest are sent. Look again if you need it.]";

function withOnly(part: Part, images: Image[]): Part {
  return part.type === "tool_result"
    ? { ...part, text: `${part.text}\n${older}`, images }
    : { type: "text", text: older };
}

function imagesOf(part: Part): readonly Image[] {
  if (part.type === "image") return [part];
  return part.type === "tool_result" ? (part.images ?? []) : [];
}
