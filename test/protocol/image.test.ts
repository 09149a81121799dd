import { describe, expect, it } from "vitest";
import { imageKind } from "../../src/protocol/image.ts";

describe("recognising image types", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
    ["\x89PNG", undefined],
    ["\xff\xd8\xff\xe0", "image/jpeg"],
    ["GIF89a", "image/gif"],
    ["GIF8", undefined],
    ["RIFF\x01\n\0\0WEBPVP8 ", "image/webp"],
    ["RIFF\0\0\0\0WAVEfmt ", undefined],
    ["RIFF", undefined],
    ["", undefined],
  ])("the image type of the bytes %j is %s", (start, expected) => {
    expect(imageKind(Buffer.from(start, "latin1"))).toBe(expected);
  });
});
