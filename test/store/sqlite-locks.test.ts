// POSIX frees every lock that a process has on a file when it closes any handle of it: the files of SQLite must be closed by it alone.
import { fstatSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import { readChat, readWhatIsLeft } from "../../src/store/chats/read-chat.ts";
import { salvage } from "../../src/store/chats/salvage.ts";
import { openIndex } from "../../src/store/index-database.ts";
import { closeDatabaseHandle, openShared, readDatabaseFile } from "../../src/store/sqlite.ts";
import { newRun } from "../serve/fleet-kit.ts";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { addThreeTurns, createPlace, newChat, type Place } from "./chat-support.ts";

let place: Place;
beforeEach(() => {
  place = createPlace();
});
afterEach(() => place.remove());

/** How many locks this process has on a file, as the system says. */
function locksOn(file: string): number {
  const { ino } = statSync(file);
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  return lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `)).length;
}

describe.skipIf(notLinux)(orSkipped("SQLite keeps its locks", notLinux), () => {
  it("SQLite locks survive opening a fleet's database twice and closing one", async () => {
    const file = join(place.base, "runs", "runs.db");
    const first = openSqliteFleet(file);
    await first.enqueue(newRun(1));
    expect(locksOn(file)).toBe(1);
    const second = openSqliteFleet(file);
    expect(locksOn(file)).toBe(1);
    await second.enqueue(newRun(2));
    second.close();
    expect(locksOn(file)).toBe(1);
    await first.enqueue(newRun(3));
    expect((await first.runs()).map(({ id }) => id).sort()).toEqual(["run-1", "run-2", "run-3"]);
    first.close();
    const again = openSqliteFleet(file);
    expect(await again.runs()).toHaveLength(3);
    again.close();
  });

  it("SQLite locks survive opening a search index again", () => {
    const tables = { version: 1, names: ["t"], create: "CREATE TABLE t (a);", settings: "PRAGMA journal_mode = WAL;" };
    const file = join(place.base, "index.db");
    const first = openIndex(file, tables);
    first.exec("INSERT INTO t VALUES (1)");
    const before = locksOn(file);
    expect(before).toBe(1);
    const second = openIndex(file, tables);
    second.close();
    expect(locksOn(file)).toBe(before);
    first.close();
  });

  it("SQLite locks survive reading the file of an open chat in other ways", () => {
    const chat = newChat(place);
    addThreeTurns(chat);
    const file = join(chat.metadata.folder, "store.db");
    const before = locksOn(file);
    expect(before).toBeGreaterThan(0);
    readDatabaseFile(file);
    salvage(file, () => undefined);
    readChat(chat.metadata.folder);
    readWhatIsLeft(chat.metadata.folder);
    expect(locksOn(file)).toBe(before);
    chat.close();
  });
});

it("a second handle of an open SQLite file is closed with the last connection", () => {
  mkdirSync(place.base, { recursive: true });
  const file = join(place.base, "some.db");
  const [first, second] = [openShared(file), openShared(file)];
  const handle = openSync(file, "r");
  closeDatabaseHandle(handle);
  first.close();
  first.close();
  expect(fstatSync(handle).isFile()).toBe(true);
  second.close();
  expect(() => fstatSync(handle)).toThrow(/EBADF/);
});
