// .cursorignore, and what is hidden by it or by rules.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadHidden, loadIgnore } from "../../src/policy/hidden.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
let file: string;
beforeEach(() => {
  fixture = makeFixture();
  file = join(fixture.workspace, ".cursorignore");
});
afterEach(() => removeFixture(fixture));

const inside = (name: string) => join(fixture.workspace, name);

async function hides(given: string, real = given, roots = [fixture.workspace]): Promise<boolean> {
  const [workspace = "", ...others] = roots;
  const found = (await loadIgnore({ ...fixture, configDir: fixture.home, workspace, roots: others }))({
    given: inside(given),
    real: inside(real),
  });
  if (found !== undefined) expect(found).toMatch(/\.cursorignore$/);
  return found !== undefined;
}

describe("ignore files", () => {
  it("an ignore file hides a path under either of its names", async () => {
    writeFileSync(file, "# private\n\nprivate/\n*.secret\n!ok.secret\n");
    mkdirSync(inside("private"));
    expect(await hides("private/a")).toBe(true);
    expect(await hides("private")).toBe(true);
    expect(await hides("x/y.secret")).toBe(true);
    expect(await hides("ok.secret")).toBe(false);
    expect(await hides("README.md")).toBe(false);
    expect(await hides(".")).toBe(false);
    expect(await hides("../x.secret")).toBe(false);
    expect(await hides("plain", "a.secret")).toBe(true);
    expect(await hides("a.secret", "plain")).toBe(true);
    // Only a folder is meant.
    expect(await hides("src/private")).toBe(false);
    mkdirSync(inside("src/private"));
    expect(await hides("src/private")).toBe(true);
  });

  it("an ignore file may be missing or empty", async () => {
    expect(await hides("README.md")).toBe(false);
    writeFileSync(file, "# nothing\n\n");
    expect(await hides("# nothing")).toBe(false);
    expect(await hides("x", "x", [inside("README.md"), fixture.workspace])).toBe(false);
  });

  it("each workspace root is subject to its own ignore file", async () => {
    const other = join(fixture.base, "other");
    mkdirSync(other);
    writeFileSync(join(other, ".cursorignore"), "*.secret");
    writeFileSync(file, "*.key");
    const roots = [fixture.workspace, other];
    expect(await hides("a.key", "a.key", roots)).toBe(true);
    expect(await hides("../other/a.secret", "../other/a.secret", roots)).toBe(true);
    expect(await hides("a.secret", "a.secret", roots)).toBe(false);
    expect(await hides("../other/a.key", "../other/a.key", roots)).toBe(false);
  });

  it("an unreadable ignore file hides everything", async () => {
    symlinkSync(".cursorignore", file);
    expect(await hides("README.md")).toBe(true);
    expect(await hides("../outside.txt")).toBe(false);
    rmSync(file);
    mkdirSync(file);
    expect(await hides("README.md")).toBe(true);
  });

  it.skipIf(process.platform === "win32")(
    "an ignore file without an end hides everything, and is not read",
    async () => {
      execFileSync("mkfifo", [file]);
      expect(await hides("README.md")).toBe(true);
      rmSync(file);
      symlinkSync("/dev/zero", file);
      expect(await hides("README.md")).toBe(true);
    },
  );
});

describe("hidden paths", () => {
  it("a Read deny rule or an ignore file of any root hides a path", async () => {
    writeFileSync(file, "*.secret");
    const rules = rulesOf({ allow: ["Read(a)"], deny: ["Read(b)", "Read(e)", "Write(c)"] });
    const isHidden = await loadHidden(situationOf(fixture, { rules }));
    const hidden = ["a", "b", "b/x", "c", "d.secret", "README.md"].filter((name) => isHidden(inside(name)));
    expect(hidden).toEqual(["b", "b/x", "d.secret"]);
    const elsewhere = await loadHidden(situationOf(fixture, { workspace: fixture.home, roots: [fixture.workspace] }));
    expect(elsewhere(inside("d.secret"))).toBe(true);
  });
});
