// Small parts of the processes' folder: text that is cut between bytes, and the table of processes where there is no /proc.
import { describe, expect, it } from "vitest";
import { wholeLength } from "../../src/process/bounded-bytes.ts";
import { parsePs } from "../../src/process/tree.ts";

describe("text that is cut", () => {
  it.each(["abc", "é", "aé", "€", "a€b", "𝄞", "a𝄞", "é€𝄞a"])(
    "text cut anywhere ends with a whole character: %s",
    (text) => {
      const bytes = Buffer.from(text);
      const ends = [0];
      for (const character of text) ends.push(ends.at(-1)! + Buffer.byteLength(character));
      for (let length = 0; length <= bytes.length; length++)
        expect(wholeLength(bytes.subarray(0, length)), `${length} bytes`).toBe(ends.findLast((end) => end <= length));
    },
  );

  it("bytes that are no text are cut without change", () => {
    expect(wholeLength(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
    expect(wholeLength(Buffer.from([0x61, 0x80]))).toBe(2);
  });
});

describe("the output of ps", () => {
  const line = (pid: number, state: string, session: number | string = 0) =>
    `  ${pid}  41  40  ${session}  ${state}  Mon Nov  2 10:11:12 2026  sleep 60 MARK=1`;

  it("process lists are read by columns, with the environment behind the command", () => {
    const [row, ...others] = parsePs(`  PID PPID  PGID SESS STAT STARTED COMMAND\n${line(42, "Ss", 39)}\n`);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ pid: 42, parent: 41, group: 40, session: 39, startedAt: "Mon Nov  2 10:11:12 2026" });
    expect([row!.environment(), row!.streams()]).toEqual(["sleep 60 MARK=1", []]);
  });

  it("the process list leaves out ended processes, the system's first one and this one", () => {
    const text = [line(1, "Ss"), line(42, "Z"), line(43, "Z+"), line(process.pid, "R+"), line(44, "S+"), ""].join("\n");
    expect(parsePs(text).map(({ pid }) => pid)).toEqual([44]);
  });

  it("processes whose session is unknown do not count as one session", () => {
    const [one, other] = parsePs(`${line(42, "S")}\n${line(43, "S")}\n`);
    expect(one!.session).not.toBe(other!.session);
  });
});
