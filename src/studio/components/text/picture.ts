// Pictures that tools answer with: of known kinds, and in the page itself.

const kinds = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Undefined: it is not shown. */
export function pictureAddress(mime: string, base64: string): string | undefined {
  return kinds.has(mime) && /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? `data:${mime};base64,${base64}` : undefined;
}
