// Records that no sender of ours writes: a worker refuses them before it touches its disk or starts anything.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { RunSpec } from "../../src/serve/fleet.ts";
import { readSpec } from "../../src/serve/new-run.ts";
import { claimFolder } from "../../src/serve/worker/run-folders.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-forged-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it.each(["../../own", "..", ".", "", "a/b", "/etc/x", "a\0b", "a b", "-rf"])(
  "a fleet record with the forged run id %j creates no folder and removes none",
  (id) => {
    const dataDir = join(base, "data/worker");
    const own = join(base, "data/own-1");
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, "precious"), "");
    expect(() => claimFolder(dataDir, { id, attempts: 1 })).toThrow("an id that is not a name");
    expect(existsSync(join(own, "precious"))).toBe(true);
    expect(existsSync(dataDir)).toBe(false);
  },
);

it("a fleet record with a valid run id gets its own folder", () => {
  const id = "run-0b3c1f8e-7a51-4a5e-9d5a-1c6f0a9e2b11";
  expect(claimFolder(join(base, "fine"), { id, attempts: 2 })).toBe(join(base, "fine/runs", `${id}-2`));
});

it.each<[string, object]>([
  ["an unknown field", { cli: "courser", prompt: { text: "go" }, request: {}, program: ["rm", "-rf", "/"] }],
  ["an unknown CLI", { cli: "/tmp/evil", prompt: { text: "go" }, request: {} }],
  ["an unknown field of its request", { cli: "courser", prompt: { text: "go" }, request: { unrestricted: true } }],
  ["a mode that there is not", { cli: "courser", prompt: { text: "go" }, request: { mode: "Force" } }],
  [
    "rules that are no rules",
    { cli: "courser", prompt: { text: "go" }, request: { permissions: { allow: "Shell(*)" } } },
  ],
  ["a request that is none", { cli: "courser", prompt: { text: "go" }, request: "force" }],
])("the fleet refuses a record with %s", (_, spec) => {
  expect(() => readSpec(spec as unknown as RunSpec)).toThrow();
});
