// Detects image types from their bytes, and limits image size.

/** The largest image, in bytes, that is sent to a model: vendors take 5 MiB, of its Base64. */
export const largestImage = (5 * 1024 * 1024 * 3) / 4;

/** Detects the type from the first bytes, not the name: vendors reject a request whose image does not match its declared type. */
export function imageKind(bytes: Uint8Array): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return start.startsWith("RIFF") && start.slice(8) === "WEBP" ? "image/webp" : undefined;
}
