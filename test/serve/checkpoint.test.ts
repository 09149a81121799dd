// Checkpoints: when they are made, and what becomes of one that cannot be stored.
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Entry, Fleet } from "../../src/serve/fleet.ts";
import { Checkpoints } from "../../src/serve/worker/checkpoint.ts";
import { addTurn, assistant, createPlace, newChat, type Place, text } from "../store/chat-support.ts";
import { notLinux, orSkipped } from "../support/skipping.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

function checkpointsOf(put: Fleet["put"]) {
  const chat = newChat(place);
  // More than a stream reads ahead, and nothing that can be made shorter.
  const long = Array.from({ length: 400_000 }, () => Math.random().toString(36).slice(2, 5)).join("");
  addTurn(chat, "one", assistant(text(long)));
  chat.close();
  const [entries, problems]: [Entry[], string[]] = [[], []];
  const checkpoints = new Checkpoints({
    fleet: { put } as Fleet,
    run: "run",
    attempt: 1,
    folder: place.base,
    chat: () => chat.metadata.folder,
    position: async () => 1,
    lastHandled: () => 0,
    add: (entry) => entries.push(entry),
    onProblem: (message) => problems.push(message),
  });
  return { checkpoints, entries, problems };
}

const readAll: Fleet["put"] = async (_run, _name, bytes) => {
  for await (const _piece of bytes);
};

it("the times of checkpoints do not depend on the wall clock", async () => {
  const { checkpoints, entries } = checkpointsOf(readAll);
  const realNow = Date.now;
  try {
    checkpoints.end("a call");
    await checkpoints.free();
    Date.now = () => realNow() - 3_600_000; // somebody sets the clock back
    checkpoints.end("another");
    for (let waited = 0; entries.length < 2 && waited < 5000; waited += 20)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(entries.map(({ type }) => type)).toEqual(["checkpoint", "checkpoint"]);
  } finally {
    Date.now = realNow;
    checkpoints.close();
  }
});

it.skipIf(notLinux)(orSkipped("that cannot be stored are told of, and leave no file open", notLinux), async () => {
  const { checkpoints, entries, problems } = checkpointsOf(async (_run, _name, bytes) => {
    for await (const _piece of bytes) throw new Error("the server is gone");
  });
  checkpoints.end("a call");
  await checkpoints.free();
  checkpoints.close();
  expect(problems).toEqual(["No checkpoint could be stored: the server is gone."]);
  expect(entries).toEqual([]);
  await expect.poll(() => openFiles().filter((path) => path.startsWith(place.base))).toEqual([]);
  expect(readdirSync(place.base).filter((name) => name.endsWith(".db"))).toEqual([]);
});

function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      return [readlinkSync(join("/proc/self/fd", name))];
    } catch {
      return [];
    }
  });
}
