// A conversation that holds what other vendors, servers and people leave behind.
import { deflateSync } from "node:zlib";
import type { Message, Part } from "../../../src/protocol/message.ts";

/** A PNG of this size whose Base64 has at least `weight` characters. */
export function png(width: number, height: number, weight = 0): string {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const data = weight > 0 ? Buffer.alloc(weight) : deflateSync(Buffer.alloc(4));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", size),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

export const user = (...parts: Part[]): Message => ({ role: "user", parts });
const assistant = (provider: string, ...parts: Part[]): Message => ({ role: "assistant", parts, provider });
export const text = (words: string): Part => ({ type: "text", text: words });
const call = (id: string, name = "Shell"): Part => ({ type: "tool_call", id, name, args: { command: "ls" } });
const image = (base64: string, mime = "image/png") => ({ mime, base64 });
const result = (id: string, words: string, isError = false): Part => ({
  type: "tool_result",
  id,
  text: words,
  isError,
});

const small = png(1, 1);
const many = Array.from({ length: 15 }, () => image(small));
const gif = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7AAAAAAAAAAAAAA==";
const signed = (from: string): Part => ({
  type: "thinking",
  text: "Hm.",
  opaque: {
    from,
    metadata: {
      anthropic: { signature: "c2ln" },
      bedrock: { signature: "c2ln" },
      openai: { itemId: "rs_1", reasoningEncryptedContent: "ZW5j" },
      azure: { itemId: "rs_1", reasoningEncryptedContent: "ZW5j" },
      google: { thoughtSignature: "c2ln" },
    },
  },
});

/**
 * Blanks in every role, ids and names that no vendor takes, thoughts without a signature or an end, pictures of every kind, parallel
 * calls, empty results and failures. `vendor` is the one to ask.
 */
export function awkwardHistory(vendor: string): Message[] {
  return [
    user(text("go"), { type: "image", ...image(small) }, { type: "image", ...image(png(9000, 20)) }),
    assistant(
      "google",
      { type: "thinking", text: "Hm." },
      text(" \n"),
      call("functions.Shell:0"),
      call("x".repeat(90)),
    ),
    user(result("functions.Shell:0", ""), result("x".repeat(90), "no", true), text("\t")),
    assistant("openai", text("")),
    user(text("  ")),
    assistant("anthropic", text("Well. "), call("call/ with blanks", "functions.Read file"), call("b", "9".repeat(80))),
    user(result("call/ with blanks", " \n"), result("b", "no such tool", true)),
    assistant(vendor, signed(vendor), text(" ")),
    user(text("stopped")),
    assistant(vendor, text("So."), signed(vendor)),
    user(text("again"), text("and\0 again")),
    assistant(vendor, signed(vendor), call("c", ""), { ...call("d"), args: { "half \ud83d": "end\0" } } as Part),
    user(
      { type: "tool_result", id: "c", text: "shown", isError: false, images: [...many, image(png(5, 5, 4_500_000))] },
      { type: "tool_result", id: "d", text: "", isError: false, images: [...many, image(gif, "image/gif")] },
    ),
  ];
}

/** Replies with calls that do not begin with thinking which can be sent back: it has no signature, or comes after words. */
export function lateThinking(vendor: string): Message[][] {
  const unsigned: Part = { type: "thinking", text: "Hm.", opaque: { from: vendor } };
  return [
    [unsigned, call("e")],
    [text("So."), signed(vendor), call("e")],
  ].map((parts) => [user(text("go")), assistant(vendor, ...parts), user(result("e", "done"))]);
}
