// The patterns of ignore files mean what git says they mean, and none of them is slow.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileIgnoreList } from "../../src/text/ignore-patterns.ts";
import { random } from "../protocol/random.ts";

const files = [
  "a",
  "b.c",
  "ab",
  "aab",
  "a-b",
  "A",
  "!a",
  "#a",
  "a b",
  "a ",
  "[a]",
  "a]",
  "x\\y",
  "a*b",
  "d/a",
  "d/b.c",
  "d/e/a",
  "d/e/f/b.c",
  "e/a",
  "e/d/a",
  "d.c/ab",
  "d.c/e/aab",
  "1",
  "d1/a",
];
const directories = [...new Set(files.flatMap((file) => parents(file)))];

function parents(file: string): string[] {
  const folder = dirname(file);
  return folder === "." ? [] : [folder, ...parents(folder)];
}

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "courser-ignore-"));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  git(["init", "-q"]);
});
afterAll(() => rmSync(root, { recursive: true }));

function git(args: string[], input = ""): string {
  const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  try {
    return execFileSync("git", ["-c", "core.ignorecase=false", ...args], { cwd: root, input, env, encoding: "utf8" });
  } catch (error) {
    // With status 1 git says that nothing is ignored.
    if ((error as { status?: number }).status === 1) return (error as { stdout: string }).stdout;
    throw error;
  }
}

/** The paths that git ignores, and those that we do. */
function both(list: string): { git: string[]; ours: string[] } {
  writeFileSync(join(root, ".gitignore"), list);
  const paths = [...files, ...directories];
  const said = git(["check-ignore", "--no-index", "-z", "--stdin"], paths.join("\0"));
  const ignored = compileIgnoreList(list);
  const ours = paths.filter((path) => ignored(path, () => directories.includes(path)) === true);
  return { git: said.split("\0").filter(Boolean), ours };
}

const written = [
  "a",
  "/a",
  "a/",
  "d/",
  "d/e",
  "/d/*",
  "d/**",
  "**/a",
  "d/**/a",
  "**/e/**",
  "***",
  "d/***/a",
  "a**",
  "*.c\n!b.c",
  "d\n!d/a",
  "d/*\n!d/e",
  "\\!a",
  "\\#a",
  "#a",
  "!a",
  "a\\ ",
  "a ",
  "a  \\  ",
  "[a]",
  "[]a]",
  "[!b]",
  "[^a-b]",
  "a[]-]b",
  "a[-x]b",
  "a[x-]b",
  "[[:alpha:]]",
  "[[:digit:]x]",
  "[[:nothing:]]",
  "[a",
  "[a\n*",
  "\\[a\\]",
  "a[x/-]b",
  "x[\\\\]y",
  "x\\\\y",
  "a\\",
  "a\\*b",
  "[\\]a]",
  "[b-a]",
  "a?b",
  "?",
  "d?/a",
  "\ufeffa",
  "a\r\nb.c\r",
  "/",
  "//a",
  "d//a",
  "d/e/",
  "./a",
  "d\\/a",
  "**",
  "*/a",
  "*/*/a",
  "a/**/",
  "!",
  " a",
];

describe("ignore patterns", () => {
  it.each(written)("ignore patterns mean what git says: %j", (list) => {
    const { git: expected, ours } = both(list);
    expect(ours.sort()).toEqual(expected.sort());
  });

  it("random ignore patterns mean what git says", () => {
    const dice = random(7);
    const pieces = ["a", "b", "d", "e", "/", "/", "*", "**", "?", "[", "]", "!", "-", "\\", ".c", "#", " ", "^", "1"];
    const wholes = ["[a-e]", "[!a]", "**/", "/**", "*.c", "[[:alpha:]]", "a*b"];
    for (let round = 0; round < 150; round++) {
      const lines = Array.from({ length: 1 + dice.below(3) }, () => {
        const length = 1 + dice.below(6);
        const parts = Array.from({ length }, () => dice.pick(dice.below(4) === 0 ? wholes : pieces));
        return (dice.below(4) === 0 ? "!" : "") + parts.join("");
      });
      // Against its own documentation git takes two stars behind a plain beginning for a component, but not before `\\/`.
      if (lines.some((line) => /^!?[^*?[\\]*[^/*?[\\]\*\*|\*\\\//.test(line))) continue;
      const { git: expected, ours } = both(lines.join("\n"));
      expect(ours.sort(), JSON.stringify(lines)).toEqual(expected.sort());
    }
  });

  it("ignore patterns can be case-insensitive", () => {
    const ignored = compileIgnoreList("Secret.*\n[A-Z]1", { fold: true });
    expect(ignored("sECRET.txt", () => false)).toBe(true);
    expect(ignored("x1", () => false)).toBe(true);
    expect(ignored("secrets", () => false)).toBe(undefined);
  });

  it("a name longer than any file's matches nothing, wherever it stands in a pattern", () => {
    const [most, more] = ["a".repeat(255), "a".repeat(256)];
    for (const around of ["NAME", "NAME/b", "b/NAME", "b/**/NAME/c"]) {
      const ignores = (name: string) =>
        compileIgnoreList(around.replace("NAME", name))(around.replace("**", "x").replace("NAME", name), () => true);
      expect([around, ignores(most), ignores(more)]).toEqual([around, true, undefined]);
    }
  });

  it("ignore patterns take linear time", () => {
    const name = "a".repeat(4000);
    const started = performance.now();
    for (const bomb of ["*a".repeat(2000), "*?".repeat(1000), "*[a-b]".repeat(1000), "**/*a*a*a".repeat(200)]) {
      expect(compileIgnoreList(`${bomb}b`)(name, () => false)).toBe(undefined);
    }
    const deep = Array.from({ length: 1000 }, () => "a").join("/");
    expect(compileIgnoreList(`${"**/a/".repeat(500)}b`)(deep, () => false)).toBe(undefined);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
