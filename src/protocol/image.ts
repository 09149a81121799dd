// Images: which kind the bytes are, and how large one may be.

/** Bytes of one image that a model is given. */
export const largestImage = 5 * 1024 * 1024;

/** By the first bytes, whatever the name says: vendors refuse a request whose image is not what it is called. */
export function imageKind(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return start.startsWith("RIFF") && start.slice(8) === "WEBP" ? "image/webp" : undefined;
}
