// Which processes count as descendants of a child: rows of a process list, and what is picked out of them.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { ProcessTree, type Row } from "../../src/process/tree.ts";
import { notLinux, orSkipped } from "../support/skipping.ts";

/** A pid that no system assigns, so that nothing is read about it. */
const child = 2 ** 30;
const mark = "COURSER_CALL_test_1";

/** A process that has nothing to do with the child. */
const stranger = (pid: number, fields: Partial<Row> = {}): Row => ({
  pid,
  parent: 77,
  group: pid,
  session: pid,
  startedAt: "5",
  environment: () => "PATH=/bin",
  streams: () => [],
  ...fields,
});
const picked = (tree: ProcessTree, rows: Row[]) => tree.select(rows).map(({ pid }) => pid);

it.each<[string, Partial<Row>, boolean]>([
  ["in its group", { group: child }, true],
  ["in its session", { session: child }, true],
  ["whose parent it is", { parent: child }, true],
  ["with the mark in its environment", { environment: () => `A=1\0${mark}=1\0` }, true],
  ["with the mark of another call", { environment: () => `A=1\0${mark}0=1\0` }, false],
  ["with nothing of it", {}, false],
  ["with a stream of somebody else", { streams: () => ["pipe:[1]"] }, false],
  ["whose environment cannot be read", { environment: () => "" }, false],
])("the process tree recognises whether a process %s is a descendant or not", (_title, fields, isOurs) => {
  expect(picked(new ProcessTree(child, mark), [stranger(900, fields)])).toEqual(isOurs ? [900] : []);
});

it("the process tree finds descendants of descendants in whatever order they are listed", () => {
  const rows = [
    stranger(904, { parent: 903 }),
    stranger(903, { parent: 902 }),
    stranger(902, { parent: 901 }),
    stranger(905),
    stranger(901, { environment: () => `${mark}=1` }),
  ];
  expect(picked(new ProcessTree(child, mark), rows).sort()).toEqual([901, 902, 903, 904]);
  expect(picked(new ProcessTree(child, mark), [...rows].reverse()).sort()).toEqual([901, 902, 903, 904]);
});

it("the process tree remembers a descendant by its pid, unless another process took that pid", () => {
  const tree = new ProcessTree(child, mark);
  expect(picked(tree, [stranger(900, { parent: child, session: 800 })])).toEqual([900]);
  expect(picked(tree, [stranger(900, { session: 801 })])).toEqual([900]);
  expect(picked(tree, [stranger(900, { session: 802, startedAt: "9" })])).toEqual([]);
  // Everybody in a session that a descendant opened belongs to it.
  expect(picked(tree, [stranger(910, { session: 800 }), stranger(911, { session: 803 })])).toEqual([910]);
});

const socketOf = (stream: unknown) =>
  readlinkSync(`/proc/self/fd/${(stream as { _handle: { fd: number } })._handle.fd}`);

it.skipIf(notLinux)(
  orSkipped("when the child ended early, the process tree recognises orphans by the other end of its output", notLinux),
  async () => {
    const other: ChildProcess = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] });
    try {
      const ours = Number(/^socket:\[(\d+)\]$/.exec(socketOf(other.stdout))![1]);
      const streams = () => [`socket:[${ours + 1}]`];
      const tree = new ProcessTree(child, mark, [other.stdout, null]);
      const rows = [
        stranger(900, { streams, parent: 1 }),
        stranger(901, { streams, parent: process.pid }),
        stranger(902, { streams, parent: process.ppid }),
        stranger(903, { streams, parent: 77 }),
        stranger(904, { streams: () => [`socket:[${ours}]`], parent: 1 }),
        stranger(905, { streams: () => ["/dev/null"], parent: 1 }),
      ];
      expect(picked(tree, rows)).toEqual([900, 901, 902]);
      // Without its output nothing is known of them.
      expect(picked(new ProcessTree(child, mark, [null]), rows)).toEqual([]);
    } finally {
      other.stdin!.end();
      await once(other, "close");
    }
  },
);

it.skipIf(notLinux)(
  orSkipped("while the child lives, the process tree counts every process that holds its output", notLinux),
  async () => {
    const other = spawn("cat", { stdio: ["pipe", "pipe", "ignore"] });
    try {
      const stream = readlinkSync(`/proc/${other.pid}/fd/1`);
      const tree = new ProcessTree(other.pid!, mark, []);
      const rows = [
        stranger(900, { streams: () => ["/dev/null", stream] }),
        stranger(901, { streams: () => ["/dev/null"] }),
      ];
      expect(picked(tree, rows)).toEqual([900]);
      expect(tree.hasGroup()).toBe(false);
    } finally {
      other.stdin.end();
      await once(other, "close");
    }
  },
);

it("a process group exists while one of its processes lives, whoever owns it", async () => {
  const other = spawn("cat", { stdio: ["pipe", "ignore", "ignore"], detached: true });
  const tree = new ProcessTree(other.pid!, mark);
  expect(tree.hasGroup()).toBe(true);
  other.stdin.end();
  await once(other, "close");
  expect(tree.hasGroup()).toBe(false);
});
