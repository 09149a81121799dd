// Finds the first byte that is not ASCII, reading four bytes at a time, as fast as memory allows.

const highBits = 0x80808080;

/** Returns the index of the first byte at or after `from` that is not ASCII, or the length. */
export function firstNonAscii(bytes: Uint8Array, from: number): number {
  let index = from;
  // Words must be aligned, so the bytes before are read one by one.
  for (; index < bytes.length && ((bytes.byteOffset + index) & 3) !== 0; index++) {
    if (bytes[index]! > 0x7f) return index;
  }
  if (index === bytes.length) return index;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + index, (bytes.length - index) >> 2);
  index += firstWideWord(words) * 4;
  for (; index < bytes.length; index++) if (bytes[index]! > 0x7f) return index;
  return bytes.length;
}

function firstWideWord(words: Uint32Array): number {
  let index = 0;
  for (const stop = words.length - 7; index < stop; index += 8) {
    const low = words[index]! | words[index + 1]! | words[index + 2]! | words[index + 3]!;
    const high = words[index + 4]! | words[index + 5]! | words[index + 6]! | words[index + 7]!;
    if (((low | high) & highBits) !== 0) break;
  }
  for (; index < words.length; index++) if ((words[index]! & highBits) !== 0) return index;
  return index;
}
