// Computes a short digest that detects changes. It is not cryptographic.

const encoder = new TextEncoder();

/**
 * 48 bits of two multiplicative hashes, four bytes at a time. A run is a short-lived process, and this takes a tenth of the time that
 * loading SHA-256 does.
 */
export function digestOf(text: string): string {
  const bytes = encoder.encode(text);
  const words = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
  let [one, other] = [0xdeadbeef ^ bytes.length, 0x41c6ce57];
  for (const word of words) {
    // A multiplication carries only upwards: the shift moves the high bits down again.
    one = Math.imul(one ^ (one >>> 15) ^ word, 2654435761);
    other = Math.imul(other ^ (other >>> 13) ^ word, 1597334677);
  }
  for (let index = words.length << 2; index < bytes.length; index++) {
    one = Math.imul(one ^ (one >>> 15) ^ bytes[index]!, 2654435761);
    other = Math.imul(other ^ (other >>> 13) ^ bytes[index]!, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & other) + (one >>> 0)).toString(16).padStart(14, "0").slice(-12);
}
