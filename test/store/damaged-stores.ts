// Stores that are damaged in every way that a seed says, for tests that ask what is left of them.
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { openDatabase } from "../../src/store/sqlite.ts";

export type Damage = { kind: string; do(file: string): void };

/** The same numbers for the same seed. */
export function randomFrom(seed: number): (below: number) => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 1 | state) + 0x6d2b79f5) >>> 0;
    return ((state ^ (state >>> 14)) >>> 0) % below;
  };
}

/** As new chats have it. */
export const pageSize = 1024;
const tables = ["blobs", "meta", "courser_messages", "courser_events", "courser_state", "courser_views"];

export function damageOf(seed: number): Damage {
  const random = randomFrom(seed);
  const bytes = (change: (content: Buffer) => void) => (file: string) => {
    const content = readFileSync(file);
    change(content);
    writeFileSync(file, content);
  };
  const sql = (statement: string) => (file: string) => {
    const database = openDatabase(file);
    try {
      database.exec(statement);
    } finally {
      database.close();
    }
  };
  const pageOf = (content: Buffer) => random(Math.max(1, Math.floor(content.length / pageSize)));
  const kinds: Damage[] = [
    {
      kind: "flipped bytes",
      do: bytes((content) => {
        for (let count = 1 + random(40); count > 0; count--) content[random(content.length)]! ^= 1 << random(8);
      }),
    },
    { kind: "flipped bytes in the header", do: bytes((content) => void (content[random(100)] = random(256))) },
    { kind: "no header", do: bytes((content) => void content.fill(0, 0, 100)) },
    { kind: "cut off", do: (file) => truncateSync(file, 1 + random(readFileSync(file).length)) },
    {
      kind: "a page of zeros",
      do: bytes((content) => {
        const page = pageOf(content);
        content.fill(0, page * pageSize, (page + 1) * pageSize);
      }),
    },
    {
      kind: "a page of noise",
      do: bytes((content) => {
        const page = pageOf(content);
        for (let at = page * pageSize; at < (page + 1) * pageSize; at++) content[at] = random(256);
      }),
    },
    {
      kind: "two pages exchanged",
      do: bytes((content) => {
        const [one, other] = [pageOf(content) * pageSize, pageOf(content) * pageSize];
        const kept = Buffer.from(content.subarray(one, one + pageSize));
        content.copyWithin(one, other, other + pageSize);
        kept.copy(content, other);
      }),
    },
    { kind: "no log", do: (file) => rmSync(`${file}-wal`, { force: true }) },
    {
      kind: "half a log",
      do: (file) =>
        existsSync(`${file}-wal`) && truncateSync(`${file}-wal`, random(readFileSync(`${file}-wal`).length)),
    },
    { kind: "a table less", do: sql(`DROP TABLE ${tables[random(tables.length)]}`) },
    {
      kind: "blobs less",
      do: sql(`DELETE FROM blobs WHERE rowid % ${2 + random(4)} = ${random(2)}`),
    },
    {
      kind: "broken JSON in events",
      do: sql(
        `UPDATE courser_events SET body = substr(body, 1, length(body) / 2) WHERE sequence % ${1 + random(5)} = 0`,
      ),
    },
    {
      kind: "odd values in events",
      do: sql(
        `UPDATE courser_events SET body = '{"type":"tool_end","callId":7}' WHERE sequence % ${2 + random(5)} = 0`,
      ),
    },
    {
      kind: "altered blobs",
      do: sql(`UPDATE blobs SET data = replace(CAST(data AS TEXT), 'e', 'x') WHERE rowid % ${2 + random(3)} = 0`),
    },
    { kind: "no order", do: sql("DELETE FROM courser_messages WHERE sequence % 2 = 1") },
    { kind: "no meta", do: sql("DELETE FROM meta") },
    { kind: "broken meta", do: sql("UPDATE meta SET value = substr(value, 1, length(value) - 31)") },
  ];
  return kinds[seed % kinds.length]!;
}
