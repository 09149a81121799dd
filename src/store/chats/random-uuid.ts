// Creates a version 4 UUID from /dev/urandom: loading node:crypto would take a quarter of the startup time.
import { closeSync, openSync, readSync } from "node:fs";

export function randomUuid(): string {
  const bytes = Buffer.allocUnsafe(16);
  try {
    const source = openSync("/dev/urandom", "r");
    try {
      if (readSync(source, bytes, 0, 16, null) !== 16) return globalThis.crypto.randomUUID();
    } finally {
      closeSync(source);
    }
  } catch {
    return globalThis.crypto.randomUUID();
  }
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
