// Node's streams and ours, through the same uses: what provider packages do with them must give the same.
import { expect, test } from "vitest";
import * as ours from "../../src/net/streams.ts";

type Streams = Pick<typeof globalThis, "ReadableStream" | "TransformStream" | "TextDecoderStream">;

const each = test.each<[string, Streams]>([
  ["Node's streams", globalThis],
  ["our streams", ours],
]);

async function all<Value>(stream: ReadableStream<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

/** Gives 1, 2, 3 and ends; `cancelled` is what it was cancelled with. */
function counting({ ReadableStream }: Streams, most = 3) {
  const seen = { pulls: 0, cancelled: [] as unknown[] };
  const stream = new ReadableStream<number>({
    async pull(controller) {
      seen.pulls++;
      if (seen.pulls > most) controller.close();
      else controller.enqueue(seen.pulls);
    },
    cancel: (reason) => void seen.cancelled.push(reason),
  });
  return { stream, seen };
}

each("%s give what a source gives when it is asked, and what it gives at its start", async (_, streams) => {
  expect(await all(counting(streams).stream)).toEqual([1, 2, 3]);
  const pushed = new streams.ReadableStream<string>({
    start(controller) {
      controller.enqueue("a");
      controller.enqueue("b");
      controller.close();
    },
  });
  expect(await all(pushed)).toEqual(["a", "b"]);
});

each("%s wait for a source that gives later, for several readers' requests at once", async (_, streams) => {
  let give: ReadableStreamDefaultController<number> | undefined;
  const stream = new streams.ReadableStream<number>({
    start(controller) {
      give = controller;
    },
  });
  const reader = stream.getReader();
  const reads = [reader.read(), reader.read(), reader.read()];
  give!.enqueue(1);
  await new Promise((resolve) => setImmediate(resolve));
  give!.enqueue(2);
  give!.close();
  expect((await Promise.all(reads)).map(({ done, value }) => (done ? "end" : value))).toEqual([1, 2, "end"]);
});

each("%s keep the order when values arrive while the source is still being asked", async (_, streams) => {
  let count = 0;
  const stream = new streams.ReadableStream<number>({
    async pull(controller) {
      controller.enqueue(++count);
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (count === 3) controller.close();
    },
  });
  expect(await all(stream)).toEqual([1, 2, 3]);
});

each("%s pass an error on to the reader, one of the source or one that was thrown", async (_, streams) => {
  for (const pull of [
    () => Promise.reject(new Error("broken")),
    () => {
      throw new Error("broken");
    },
    (controller: ReadableStreamDefaultController) => controller.error(new Error("broken")),
  ]) {
    const piped = new streams.ReadableStream<number>({ pull }).pipeThrough(new streams.TransformStream());
    await expect(all(piped)).rejects.toThrow("broken");
    await expect(piped.getReader().read()).rejects.toThrow("broken");
  }
});

each("%s transform values: none, one or many for each, and more at the end", async (_, streams) => {
  const transformed = counting(streams).stream.pipeThrough(
    new streams.TransformStream<number, string>({
      start: (controller) => controller.enqueue("start"),
      async transform(value, controller) {
        for (let copy = 1; copy < value; copy++) controller.enqueue(`${value}`);
      },
      flush: (controller) => controller.enqueue("end"),
    }),
  );
  expect(await all(transformed)).toEqual(["start", "2", "3", "3", "end"]);
});

each("%s decode text whose characters are cut between two chunks", async (_, streams) => {
  const bytes = Buffer.from("a€ö😀");
  const chunks = new streams.ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect((await all(chunks.pipeThrough(new streams.TextDecoderStream()))).join("")).toBe("a€ö😀");
});

each(
  "%s cancel the source when the reader leaves, when a transform fails or when it ends early",
  async (_, streams) => {
    const left = counting(streams, 1000);
    for await (const value of left.stream.pipeThrough(new streams.TransformStream<number, number>()))
      if (value === 2) break;
    const failing = counting(streams, 1000);
    const failed = failing.stream.pipeThrough(
      new streams.TransformStream<number, number>({
        transform() {
          throw new Error("no");
        },
      }),
    );
    await expect(all(failed)).rejects.toThrow("no");
    const ending = counting(streams, 1000);
    const ended = ending.stream.pipeThrough(
      new streams.TransformStream<number, number>({ transform: (_value, controller) => controller.terminate() }),
    );
    expect(await all(ended)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const { seen } of [left, failing, ending]) {
      expect(seen.cancelled).toHaveLength(1);
      expect(seen.pulls).toBeLessThan(10);
    }
  },
);

each("%s give both branches of a stream everything, and end the source when both are left", async (_, streams) => {
  const whole = counting(streams);
  const [left, right] = whole.stream.tee();
  const reader = left.getReader();
  expect((await reader.read()).value).toBe(1);
  reader.cancel().catch(() => {});
  reader.releaseLock();
  expect(await all(right)).toEqual([1, 2, 3]);
  const endless = counting(streams, 1000);
  await Promise.all(endless.stream.tee().map((branch) => branch.cancel("enough")));
  expect(endless.seen.cancelled).toHaveLength(1);
});

test("our ReadableStream can be piped through Node's TransformStream", async () => {
  const piped = counting(ours).stream.pipeThrough(
    new TransformStream<number, number>({ transform: (value, controller) => controller.enqueue(value * 2) }),
  );
  expect(await all(piped)).toEqual([2, 4, 6]);
});
