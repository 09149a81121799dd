// Archives of workspaces that want out: links that lead out by way of other links, bombs by size and by number, devices.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeEach, expect, it } from "vitest";
import { unpackArchive } from "../../src/serve/worker/archive.ts";

type Entry = { name: string; type?: string; linkname?: string; content?: string; size?: number };

/** A tar file, made by hand: programs that make them refuse what is tried here. */
function archive(...entries: Entry[]): Buffer {
  const blocks = entries.map(({ name, type = "0", linkname = "", content = "", size = content.length }) => {
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    header.write("0000644\0", 100);
    header.write("0000000\0".repeat(2), 108);
    header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0        ", 136);
    header.write(type, 156);
    header.write(linkname, 157, 100);
    header.write("ustar\0" + "00", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return Buffer.concat([header, Buffer.from(content), Buffer.alloc((512 - (content.length % 512)) % 512)]);
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

const all = mkdtempSync(join(tmpdir(), "courser-archive-"));
let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(all, "one-"));
  folder = join(base, "work");
  writeFileSync(join(base, "victim"), "precious");
});
// The reader of archives makes sure at its start that the folder exists, and may be late with that for one that it refuses at once.
afterAll(() => rmSync(all, { recursive: true, force: true, maxRetries: 5 }));

async function unpack(bytes: Buffer, most?: { files: number; bytes: number }): Promise<string> {
  try {
    await unpackArchive(
      (async function* () {
        yield bytes;
      })(),
      folder,
      most,
    );
    return "unpacked";
  } catch (error) {
    return (error as Error).message;
  }
}

const up: Entry[] = [
  { name: "p/", type: "5" },
  { name: "p/q/", type: "5" },
  { name: "p/q/r", type: "2", linkname: "../.." },
];

it.each<[what: string, entries: Entry[]]>([
  ["a path upwards", [{ name: "../evil", content: "x" }]],
  ["an absolute path", [{ name: "/tmp/courser-evil", content: "x" }]],
  ["a link upwards", [{ name: "l", type: "2", linkname: ".." }]],
  ["a hard link upwards", [{ name: "l", type: "1", linkname: "../victim" }]],
  ["a link by way of another one", [...up, { name: "l", type: "2", linkname: "p/q/r/../victim" }]],
  [
    "a file by way of two links",
    [...up, { name: "l", type: "2", linkname: "p/q/r/.." }, { name: "l/evil", content: "x" }],
  ],
  ["a file through a link", [...up, { name: "p/q/r/../evil", content: "x" }]],
  ["a hard link by way of a link", [...up, { name: "l", type: "1", linkname: "p/q/r/../victim" }]],
  [
    "a link that is made another one on the way",
    [
      { name: "l", type: "2", linkname: "p" },
      { name: "l", type: "2", linkname: "../" },
      { name: "l/evil", content: "x" },
    ],
  ],
])("an archive cannot escape by %s", async (_what, entries) => {
  const said = await unpack(archive(...entries));
  expect(said).toMatch(/leads outside of it|cannot be unpacked/);
  expect(readdirSync(base).sort()).toEqual(existsSync(folder) ? ["victim", "work"] : ["victim"]);
});

/** An entry that gives the next one another name, as tar does for long names. */
const renames = {
  pax: (to: string): Entry => ({ name: "x", type: "x", content: paxRecord("path", to) }),
  gnu: (to: string): Entry => ({ name: "././@LongLink", type: "L", content: `${to}\0` }),
};
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const length = [2, 3].find((digits) => String(rest.length + digits).length === digits)!;
  return `${rest.length + length}${rest}`;
}

it.each<[what: string, entries: Entry[]]>([
  ["pax", [renames.pax("../evil"), { name: "fine", content: "x" }]],
  ["an absolute pax", [renames.pax("/tmp/courser-evil"), { name: "fine", content: "x" }]],
  ["GNU", [renames.gnu("../evil"), { name: "fine", content: "x" }]],
  [
    "a pax link",
    [
      { name: "x", type: "x", content: paxRecord("linkpath", "../victim") },
      { name: "l", type: "2", linkname: "fine" },
    ],
  ],
  [
    "a GNU link",
    [
      { name: "././@LongLink", type: "K", content: "../victim\0" },
      { name: "l", type: "1", linkname: "fine" },
    ],
  ],
  [
    "a global pax",
    [
      { name: "x", type: "g", content: paxRecord("path", "../evil") },
      { name: "fine", content: "x" },
    ],
  ],
])("an archive cannot escape by the long name of %s", async (_what, entries) => {
  await unpack(archive(...entries));
  expect(readdirSync(base).filter((name) => !["victim", "work"].includes(name))).toEqual([]);
  expect(existsSync("/tmp/courser-evil")).toBe(false);
  expect(existsSync(join(folder, "l"))).toBe(false);
});

it("files of an archive are not set to run as their owner, and cannot be written by others", async () => {
  const bytes = gunzipSync(archive({ name: "program", content: "x" }));
  bytes.write("0006777\0", 100);
  const sum = bytes
    .subarray(0, 512)
    .fill(32, 148, 156)
    .reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  expect(await unpack(gzipSync(bytes))).toBe("unpacked");
  expect(statSync(join(folder, "program")).mode & 0o6002).toBe(0);
});

it("unpacking an archive creates no devices or pipes", async () => {
  await unpack(archive({ name: "fifo", type: "6" }, { name: "dev", type: "3" }, { name: "a", content: "x" }));
  expect(readdirSync(folder)).toEqual(["a"]);
});

it("unpacking stops at archive bombs: high compression, false sizes, many files", async () => {
  const most = { files: 50, bytes: 1_000_000 };
  expect(await unpack(archive({ name: "zeros", content: "\0".repeat(20_000_000) }), most)).toContain("too large");
  expect(await unpack(archive({ name: "said", size: 2 ** 33 - 1 }), most)).toContain("too large");
  const many = Array.from({ length: 500 }, (_, index) => ({ name: `f${index}`, content: "" }));
  expect(await unpack(archive(...many), most)).toContain("too large");
  const left = existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0;
  expect(left).toBeLessThanOrEqual(60);
});
