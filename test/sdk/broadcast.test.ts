import { expect, test } from "vitest";
import { Broadcast } from "../../src/sdk/broadcast.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function readAll(log: AsyncIterable<number>): Promise<number[]> {
  const seen: number[] = [];
  for await (const item of log) seen.push(item);
  return seen;
}

test("every reader of a run's events gets all of them, whenever it starts", async () => {
  const log = new Broadcast<number>();
  const early = readAll(log);
  for (let count = 0; count < 5000; count++) {
    log.push(count);
    expect(log.room()).toBeUndefined();
    if (count % 700 === 0) await turn();
  }
  const midway = readAll(log);
  log.end();
  const all = Array.from({ length: 5000 }, (_, index) => index);
  expect(await early).toEqual(all);
  expect(await midway).toEqual(all);
  expect(await readAll(log)).toEqual(all);
});

test("a reader that stops, or starts after the end, does not block the writer of a run's events", async () => {
  const log = new Broadcast<number>({ keep: false });
  const left = log[Symbol.asyncIterator]();
  log.push(1);
  expect(await left.next()).toEqual({ done: false, value: 1 });
  await left.return!();
  expect(await left.next()).toEqual({ done: true, value: undefined });
  for (let count = 0; count < 5000; count++) {
    log.push(count);
    await log.room();
  }
  log.end();
  expect((await readAll(log)).length).toBeLessThanOrEqual(1000);
});

test("if events are not stored, the writer of a run waits for the slowest reader and loses nothing", async () => {
  const log = new Broadcast<number>({ keep: false });
  const fast = readAll(log);
  const slow = log[Symbol.asyncIterator]();
  let written = 0;
  const writer = (async () => {
    for (; written < 5000; written++) {
      log.push(written);
      await log.room();
    }
    log.end();
  })();
  await turn();
  expect(written).toBeLessThan(1100);
  const seen: number[] = [];
  for (let next = await slow.next(); !next.done; next = await slow.next()) seen.push(next.value);
  await writer;
  expect(seen).toEqual(Array.from({ length: 5000 }, (_, index) => index));
  expect(await fast).toEqual(seen);
});
