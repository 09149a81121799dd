// Reads one payload: limited in size, strict UTF-8, one JSON object and nothing else.
import type { JsonObject } from "../json/object.ts";
import { BridgeError, payloadOf } from "./host.ts";
import { standardInput } from "./standard-streams.ts";

/** Where a payload is read from. */
export type PayloadSource = string | Uint8Array | AsyncIterable<string | Uint8Array>;

/** The maximum size of a payload, larger than any file that a host sends to a hook. */
export const defaultMaxBytes = 16 * 1024 * 1024;

/** Reads a hook's payload from `source`, by default stdin. */
export async function readPayload(source: PayloadSource | undefined, maxBytes: number): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of payloadChunks(source)) {
      const bytes = Buffer.from(chunk as Uint8Array);
      length += bytes.length;
      if (length > maxBytes) break;
      chunks.push(bytes);
    }
  } catch (error) {
    throw new BridgeError("PAYLOAD", `the payload cannot be read: ${(error as Error).message}`);
  }
  if (length > maxBytes) throw new BridgeError("PAYLOAD", `the payload is larger than ${maxBytes} bytes`);
  return payloadOf(decodeUtf8(Buffer.concat(chunks)));
}

function payloadChunks(
  source: PayloadSource | undefined,
): AsyncIterable<string | Uint8Array> | (string | Uint8Array)[] {
  if (source === undefined) return standardInput();
  return typeof source === "string" || source instanceof Uint8Array ? [source] : source;
}

function decodeUtf8(bytes: Buffer): string {
  if (!process.getBuiltinModule("node:buffer").isUtf8(bytes))
    throw new BridgeError("PAYLOAD", "the payload is not valid UTF-8");
  return bytes.toString("utf8").replace(/^\ufeff/, "");
}
