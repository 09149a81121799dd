// Contents as the zlib format has them. Short ones are stored as they are, by hand: the library need not be loaded for them.

/** A block of the disk: below it, packing a file gains little. */
const smallest = 4000;

export function deflated(content: Buffer): Buffer {
  return content.length <= smallest ? stored(content) : zlib().deflateSync(content, { level: 1 });
}

export function inflated(packed: Buffer): Buffer {
  return zlib().inflateSync(packed);
}

/** Loaded with the first content that is packed or unpacked. */
export function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}

function stored(content: Buffer): Buffer {
  const packed = Buffer.allocUnsafe(content.length + 11);
  packed.writeUInt16BE(0x7801, 0);
  packed[2] = 1;
  packed.writeUInt16LE(content.length, 3);
  packed.writeUInt16LE(content.length ^ 0xffff, 5);
  content.copy(packed, 7);
  packed.writeUInt32BE(adler32(content), content.length + 7);
  return packed;
}

function adler32(content: Buffer): number {
  let low = 1;
  let high = 0;
  for (const byte of content) {
    low = (low + byte) % 65521;
    high = (high + low) % 65521;
  }
  return ((high << 16) | low) >>> 0;
}
