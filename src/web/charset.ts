// Bytes of a page as text: by its label, by its own first bytes, by what they can be.

/** `label`: the charset of the Content-Type, where there is one. `isHtml`: it may name its charset inside. */
export function decodeText(
  bytes: Uint8Array,
  { label, isHtml }: { label: string | undefined; isHtml: boolean },
): string {
  const marked = markOf(bytes);
  if (marked) return new TextDecoder(marked).decode(bytes);
  const named = decoderFor(label) ?? (isHtml ? decoderFor(metaCharset(bytes)) : undefined);
  if (named) return decodeWith(named, bytes);
  try {
    // The end may be cut within a character, which is not a fault of the rest.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return decodeWith(new TextDecoder("windows-1252"), bytes);
  }
}

/** Quotes, dashes and the like where Latin-1 has control characters. Some versions of Node leave those as they are. */
const windowsCharacters = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

function decodeWith(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  if (decoder.encoding !== "windows-1252") return text;
  return text.replace(/[\u0080-\u009f]/g, (character) => windowsCharacters[character.charCodeAt(0) - 0x80]!);
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function decoderFor(label: string | undefined) {
  if (!label) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // a name that nobody knows says nothing
  }
}

/** From `<meta charset>` or its longer form, as browsers do: within the first bytes. */
function metaCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 4096)).toString("latin1");
  const named = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(head)?.[1];
  // Whoever could read this tag reads bytes: it is not UTF-16, whatever it says.
  return named !== undefined && /^utf-?16/i.test(named) ? "utf-8" : named;
}
