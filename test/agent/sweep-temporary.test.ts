// What killed runs left in the folder for temporary files: gone when it is old, and nothing else.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isSweepDue, outputFolder, outputsOf } from "../../src/agent/output-folder.ts";
import { sweepTemporary } from "../../src/agent/sweep-temporary.ts";
import { createWorkspace } from "../support/run-cli.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sweep-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const day = 86_400_000;
/** Nobody can set the time of a change back: so the clock goes on instead. */
const later = Date.now() + 4 * day;
const gone = 2 ** 22 - 7;

function make(...names: string[]): void {
  for (const name of names) {
    const path = join(base, name);
    mkdirSync(path.endsWith("/") ? path : dirname(path), { recursive: true, mode: 0o700 });
    if (!path.endsWith("/")) writeFileSync(path, "x");
  }
}
const outputs = () => outputsOf("").replace(/^\//, "");
const left = () => readdirSync(base, { recursive: true, encoding: "utf8" }).sort();

it("the sweep removes old temporary folders with the links in them, but not the links' targets", async () => {
  make(
    "precious/file",
    `courser-sandbox-${gone}-aB3dE6/tmp-0/big`,
    "courser-sandbox-aB3dE6/nothing",
    `${outputs()}/id-1/out`,
  );
  make(`courser-output-${gone}-aB3dE6/out`);
  symlinkSync(join(base, "precious"), join(base, `courser-sandbox-${gone}-aB3dE6/tmp-0/link`));
  expect(isSweepDue(base, later)).toBe(true);
  expect(await sweepTemporary({ bases: [base], now: later })).toBe(4);
  expect(left()).toEqual([outputs(), `${outputs()}/.swept`, "precious", "precious/file"]);
  expect(isSweepDue(base, later)).toBe(false);
  expect(isSweepDue(base, later + day)).toBe(true);
});

it("when another user's file has the output folder's name, the sweep deletes nothing and runs use a new folder", async () => {
  writeFileSync(join(base, outputs()), "");
  expect(isSweepDue(base, later)).toBe(true);
  expect(await sweepTemporary({ bases: [base], now: later })).toBe(0);
  expect(outputFolder("session", base)).toMatch(/courser-output-\d+-\w{6}$/);
  expect(left()).toContain(outputs());
});

it("the sweep keeps new, used, shared, linked and foreign folders", async () => {
  make(`courser-sandbox-${process.pid}-aB3dE6/x`, `${outputs()}/sandbox/held`, `${outputs()}/living/out`);
  make("courser-policy-aB3dE6/x", "courser-aB3dE6/x", "courser-sandbox-notes/x", "other/x", "elsewhere/mine/x");
  writeFileSync(join(base, outputs(), "living", `.run-${process.pid}`), "");
  symlinkSync(join(base, "elsewhere"), join(base, "courser-sandbox-Qw8rTy"));
  const before = left();
  expect(await sweepTemporary({ bases: [base], now: later })).toBe(0);
  expect(left().filter((name) => !name.endsWith(".swept"))).toEqual(before);
  // An hour after it was made.
  make(`courser-sandbox-${gone}-aB3dE6/x`);
  expect(await sweepTemporary({ bases: [base], now: Date.now() + 3_600_000 })).toBe(0);
});

it("the sweep does not follow a link in place of the output folder", async () => {
  make("precious/folder/file");
  symlinkSync(join(base, "precious"), join(base, outputs()));
  expect(await sweepTemporary({ bases: [base], now: later })).toBe(0);
  expect(existsSync(join(base, "precious/folder/file"))).toBe(true);
});

it("the sweep keeps a folder with a recently written file", async () => {
  make(`${outputs()}/id-2/out`);
  const soon = new Date(later - day);
  utimesSync(join(base, outputs(), "id-2/out"), soon, soon);
  expect(await sweepTemporary({ bases: [base], now: later })).toBe(0);
});

it("a session's output folder contains the id of the process that uses it", () => {
  const folder = outputFolder("some-session", base);
  expect(readdirSync(folder)).toEqual([`.run-${process.pid}`]);
});

it("a run now and then sweeps old temporary folders", async () => {
  using space = createWorkspace();
  const note = join(base, outputs(), ".swept");
  // It sweeps while it waits for the model, and on a slow machine that may be too short.
  for (let run = 1; run < 8 && !existsSync(note); run++) {
    const { exit } = await space.play([{ delayMs: run * 300, text: "ok" }], [], { env: { TMPDIR: base } });
    expect(exit).toBe(0);
  }
  const first = statSync(note).mtimeMs;
  const { exit } = await space.play([{ text: "ok" }], [], { env: { TMPDIR: base } });
  expect(exit).toBe(0);
  expect(statSync(note).mtimeMs).toBe(first);
});
