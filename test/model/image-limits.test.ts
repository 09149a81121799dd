import { expect, it } from "vitest";
import { imageProblem, withNewestImages } from "../../src/model/image-limits.ts";
import type { Message, Part } from "../../src/protocol/message.ts";
import { png, user } from "./strict/awkward-history.ts";

/** Headers of 9000 × 20 pixels. */
const wide: Record<string, Buffer> = {
  png: Buffer.from(png(9000, 20), "base64"),
  gif: Buffer.from("474946383961282314000000000000000000000000000000000000000000000000", "hex"),
  jpeg: Buffer.from(`ffd8ffe00004aaaaffe10006bbbbccccffc2001108${"0014"}${"2328"}03${"00".repeat(20)}`, "hex"),
  "webp, extended": Buffer.from(
    `52494646000000005745425056503858${"0a00000000000000"}272300130000${"00".repeat(8)}`,
    "hex",
  ),
  "webp, lossy": Buffer.from(
    `52494646000000005745425056503820${"00000000000000"}9d012a${"2823"}1400${"00".repeat(8)}`,
    "hex",
  ),
  "webp, lossless": Buffer.from(`5249464600000000574542505650384c${"00000000"}2f${"27e30400"}${"00".repeat(8)}`, "hex"),
};

it.each(Object.entries(wide))("a model request omits an image of more than 8000 pixels on a side: %s", (_, bytes) => {
  expect(imageProblem({ mime: "", base64: bytes.toString("base64") })).toMatch(/^9000 pixels are more than 8000/);
});

it("a model request includes images up to 5 MiB of Base64, also if their size in pixels is unknown", () => {
  const fitting = { mime: "image/png", base64: png(8000, 8000, 3_900_000) };
  expect(imageProblem(fitting)).toBeUndefined();
  expect(imageProblem({ mime: "image/png", base64: png(1, 1, 4_000_000) })).toMatch("3.75 MB");
  expect(
    imageProblem({ mime: "image/jpeg", base64: wide["jpeg"]!.subarray(0, 12).toString("base64") }),
  ).toBeUndefined();
});

const image = (): Part => ({ type: "image", mime: "image/png", base64: png(1, 1) });
const sent = (messages: readonly Message[]) =>
  messages.map(({ parts }) => parts.filter(({ type }) => type === "image").length);

it("a model request omits the oldest images, several at a time, and a prompt keeps its own", () => {
  const turns = Array.from({ length: 30 }, () => user(image()));
  const counts = turns.map((_, at) => sent(withNewestImages(turns.slice(0, at + 1), 20)).reduce((a, b) => a + b));
  expect(counts.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect(counts.slice(20)).toEqual([16, 17, 18, 19, 20, 16, 17, 18, 19, 20]);
  expect(sent(withNewestImages([user(image()), user(...Array.from({ length: 20 }, image))], 20))).toEqual([0, 20]);
  const same = [user(image())];
  expect(withNewestImages(same, 20)[0]).toBe(same[0]);
});

it("a model request omits the oldest images of results with a note, and has at most 15 MiB of them", () => {
  const large = { mime: "image/png", base64: png(1, 1, 3_500_000) };
  const messages = Array.from({ length: 5 }, (_, at) =>
    user({ type: "tool_result", id: `${at}`, text: "shown", isError: false, images: [{ ...large }] }),
  );
  const kept = withNewestImages(messages, 20).map(({ parts }) => parts[0] as Extract<Part, { type: "tool_result" }>);
  expect(kept.map(({ images }) => images!.length)).toEqual([0, 0, 1, 1, 1]);
  expect(kept[0]!.text).toMatch(/^shown\n\[An older image was here/);
});
