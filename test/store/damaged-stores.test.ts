// Chats in stores that are damaged in many ways: an export gives what is left, and whoever goes on is told.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ExportFormat, exporters } from "../../src/export/index.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { ChatRecord } from "../../src/store/chats/chat.ts";
import { isDamagedAtAGlance } from "../../src/store/chats/damage.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readWhatIsLeft } from "../../src/store/chats/read-chat.ts";
import {
  addThreeTurns,
  addTurn,
  assistant,
  call,
  createPlace,
  newChat,
  type Place,
  result,
  text,
} from "./chat-support.ts";
import { damageOf, pageSize } from "./damaged-stores.ts";

let place: Place;
/** A chat at rest, and one as a killed run leaves it: with all of it in its log. */
let still: string;
let killed: string;

const answer = (number: number) => `answer ${number} ${"word ".repeat(400)}`;
const turns = 10;

beforeAll(() => {
  place = createPlace();
  const chat = newChat(place);
  addThreeTurns(chat);
  for (let number = 0; number < turns; number++) {
    const id = `call-${number}`;
    const asked = assistant(text(answer(number)), call(id, "Read", { path: "x" }));
    const read = { role: "user" as const, parts: [result(id, "content ".repeat(900))] };
    addTurn(chat, `prompt ${number}`, asked, read, assistant(text("done")));
  }
  still = chat.metadata.folder;
  killed = join(place.base, "killed");
  cpSync(still, killed, { recursive: true });
  chat.close();
});
afterAll(() => place.remove());

/** A copy under the names that a chat has, damaged. */
function damaged(seed: number): { folder: string; kind: string } {
  const damage = damageOf(seed);
  const folder = join(place.base, `copy-${seed}`, basename(dirname(still)), basename(still));
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(seed % 2 === 0 ? killed : still, folder, { recursive: true });
  damage.do(join(folder, "store.db"));
  return { folder, kind: `${seed}, ${damage.kind}` };
}

async function exportOf(record: ChatRecord, format: ExportFormat): Promise<string> {
  return [...(await exporters[format]())(record)].join("");
}

describe("damaged stores", () => {
  it("a damaged store is exported as far as possible in every format, with a warning", async () => {
    const failed: string[] = [];
    let found = 0;
    for (let seed = 0; seed < 34; seed++) {
      const { folder, kind } = damaged(seed);
      try {
        const record = readWhatIsLeft(folder, { events: true });
        const all = Object.keys(exporters) as ExportFormat[];
        for (const format of seed < 17 ? all : (["stream-json"] as const)) await exportOf(record, format);
        const said = JSON.stringify([record.messages, record.events]);
        for (let number = 0; number < turns; number++) if (said.includes(answer(number))) found++;
      } catch (error) {
        // The first pages hold no more than the names of the tables.
        const size = readFileSync(join(folder, "store.db")).length;
        if (!(error instanceof UserError) || size > 8 * pageSize) failed.push(`${kind}: ${(error as Error).stack}`);
      }
      rmSync(dirname(dirname(folder)), { recursive: true });
    }
    expect(failed).toEqual([]);
    expect(found).toBeGreaterThan(34 * turns * 0.8);
  });

  it("a usable damaged store gets a new turn that is exported; others are refused with a reason", async () => {
    const failed: string[] = [];
    let resumed = 0;
    for (let seed = 0; seed < 34; seed++) {
      const { folder, kind } = damaged(seed);
      try {
        const chat = openChat(folder);
        addTurn(chat, "the new prompt", assistant(text("the new answer")));
        chat.close();
        resumed++;
        const exported = await exportOf(readWhatIsLeft(folder, { events: true }), "markdown");
        if (!/the new prompt[\s\S]*the new answer/.test(exported)) failed.push(`${kind}: it is not exported`);
      } catch (error) {
        if (!(error instanceof UserError) || !error.code.startsWith("STORE_"))
          failed.push(`${kind}: ${(error as Error).stack}`);
      }
      rmSync(dirname(dirname(folder)), { recursive: true });
    }
    expect(failed).toEqual([]);
    expect(resumed).toBeGreaterThan(10);
  });

  it("a damaged store is never resumed silently, and is marked in lists", () => {
    const silent: string[] = [];
    const unmarked: string[] = [];
    for (let seed = 100; seed < 160; seed++) {
      const { folder, kind } = damaged(seed);
      let warns = true;
      try {
        warns = readWhatIsLeft(folder, { events: true }).problems.length > 0;
      } catch {}
      try {
        const chat = openChat(folder);
        if (warns && chat.problems.length === 0) silent.push(kind);
        chat.close();
        if (chat.problems.length > 0 && !isDamagedAtAGlance(folder)) unmarked.push(kind);
      } catch (error) {
        if ((error as UserError).code === "STORE_CORRUPT" && !isDamagedAtAGlance(folder)) unmarked.push(kind);
      }
      rmSync(dirname(dirname(folder)), { recursive: true });
    }
    expect({ silent, unmarked }).toEqual({ silent: [], unmarked: [] });
    expect([still, killed].map(isDamagedAtAGlance)).toEqual([false, false]);
  });

  it("each opening reports lost events or a lost title", () => {
    const { folder } = damaged(11);
    const broken = [{ code: "STORE_CORRUPT", message: expect.stringContaining("no longer readable") }];
    for (let time = 0; time < 2; time++) {
      const chat = openChat(folder);
      expect(chat.problems).toEqual(broken);
      addTurn(chat, "again", assistant(text("yes")));
      chat.close();
    }
    const untitled = damaged(15).folder;
    expect(readWhatIsLeft(untitled).problems).toEqual(broken);
    const chat = openChat(untitled);
    expect(chat.problems).toEqual(broken);
    chat.close();
  });

  it("a store without a header is read from its pages and WAL, without deleted data", () => {
    for (const source of [still, killed]) {
      const folder = join(place.base, "bare", basename(dirname(still)), basename(still));
      cpSync(source, folder, { recursive: true });
      const chat = openChat(folder);
      chat.rewindTo(9);
      addTurn(chat, "instead", assistant(text("instead")));
      chat.close();
      const whole = readWhatIsLeft(folder, { events: true });
      const file = join(folder, "store.db");
      const bytes = readFileSync(file);
      bytes.fill(0, 0, 16);
      writeFileSync(file, bytes);
      const left = readWhatIsLeft(folder, { events: true });
      expect(left.messages).toEqual(whole.messages);
      expect(left.events).toEqual(whole.events);
      expect(left.problems[0]!.message).toContain("put together from the parts that can still be read");
      rmSync(join(place.base, "bare"), { recursive: true });
    }
  });
});
