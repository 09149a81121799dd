// Files with several names.
import { linkSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { hasSecondName, SecondNames } from "../../src/policy/hard-links.ts";
import { floorOf } from "../../src/policy/paths.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = makeFixture();
});
afterEach(() => removeFixture(fixture));

/** A file of the workspace, and another name for it. */
function linked(name: string, other: string): void {
  mkdirSync(dirname(other), { recursive: true });
  writeFileSync(other, "");
  linkSync(other, join(fixture.workspace, name));
}

const levelOf = (name: string, roots: string[] = []) => {
  const real = join(fixture.workspace, name);
  return floorOf({ given: real, real }, { ...situationOf(fixture), roots })?.level;
};

describe("hard links", () => {
  it.each([
    ".cursor/mcp.json",
    ".cursor/hooks/x.sh",
    ".git/hooks/pre-push",
    ".git/info/attributes",
    ".git/config",
    ".vscode/tasks.json",
    ".idea/x.xml",
    ".claude/settings.json",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".devcontainer/devcontainer.json",
    ".envrc",
  ])("the policy protects a hard link to %s", (path) => {
    linked("plain", join(fixture.workspace, path));
    expect(levelOf("plain")).toBe("protected");
    linked("other", join(fixture.base, "further", path));
    expect(levelOf("other", [join(fixture.base, "further")])).toBe("protected");
    expect(levelOf("other")).toBeUndefined();
  });

  it.each([
    ".bashrc",
    ".ssh/authorized_keys",
    ".cursor/cli-config.json",
    ".config/fish/config.fish",
    ".config/git/config",
  ])("the policy protects a hard link to %s in the home directory", (path) => {
    linked("plain", join(fixture.home, path));
    expect(levelOf("plain")).toBe("protected");
  });

  it("the policy protects a hard link to the configuration file", () => {
    const configDir = join(fixture.base, "config");
    linked("plain", join(configDir, "cli-config.json"));
    linked("other", join(fixture.home, ".cursor/cli-config.json"));
    for (const name of ["plain", "other"]) {
      const real = join(fixture.workspace, name);
      expect(floorOf({ given: real, real }, { ...situationOf(fixture), configDir })?.level).toBe("protected");
    }
  });

  it("the policy treats a hard link to an ordinary file as ordinary", () => {
    linked("plain", join(fixture.workspace, "src/a"));
    // Protected files with several names of their own do not matter.
    linked("other", join(fixture.workspace, ".envrc"));
    expect(levelOf("plain")).toBeUndefined();
    expect(levelOf("README.md")).toBeUndefined();
  });

  it("the policy treats a file with too many possible hard links as any of them", () => {
    linked("plain", join(fixture.workspace, "src/a"));
    const root = join(fixture.base, "further");
    mkdirSync(root);
    for (let index = 0; index < 50; index++) writeFileSync(join(root, String(index)), "");
    expect(levelOf("plain", Array(30).fill(root))).toBeUndefined();
    expect(levelOf("plain", Array(45).fill(root))).toBe("protected");
    expect(levelOf("README.md", Array(45).fill(root))).toBeUndefined();
  });

  it.each(["src/a", "src/deep/er/a"])("a deny rule also covers a hard link to the denied file: %s", (path) => {
    linked("plain", join(fixture.workspace, path));
    for (const from of [path, "src", ""]) {
      const has = (name: string, denied: string) =>
        new SecondNames([join(fixture.workspace, from)], (each) => each.endsWith(denied)).include(
          join(fixture.workspace, name),
        );
      expect(has("plain", path)).toBe(true);
      expect(has("plain", "src/b")).toBe(false);
      expect(has("README.md", path)).toBe(false);
    }
  });

  it.each([
    ["Read(src/**)", "src/deep/a.env"],
    ["Read(**/*.env)", "src/deep/a.env"],
    ["Read(src)", "src/deep/a.env"],
    [undefined, "src/deep/a.env"],
  ])("a hard link to what %s or .cursorignore hides is hidden, also in searches", async (text, path) => {
    linked("plain.txt", join(fixture.workspace, path));
    if (text === undefined) writeFileSync(join(fixture.workspace, ".cursorignore"), "*.env\n");
    const rules = rulesOf({ deny: text === undefined ? [] : [text] });
    const ask = async (target: string) => decide([{ kind: "Read", target }], situationOf(fixture, { rules }));
    expect((await ask("plain.txt")).verdict).toBe("deny");
    const { verdict, mayRead } = await ask("README.md");
    expect(verdict).toBe("allow");
    expect(mayRead!(join(fixture.workspace, "plain.txt"))).toBe(false);
    expect(mayRead!(join(fixture.workspace, "README.md"))).toBe(true);
  });

  it("the policy finds a hard link to a denied file behind thousands of others", async () => {
    linked("plain.txt", join(fixture.workspace, "src/deep/a.env"));
    const rules = rulesOf({ deny: ["Read(**/*.env)"] });
    const { mayRead } = await decide([{ kind: "Read", target: "." }], situationOf(fixture, { rules }));
    for (let count = 0; count < 3000; count++) mayRead!(join(fixture.workspace, "README.md"));
    expect(mayRead!(join(fixture.workspace, "plain.txt"))).toBe(false);
    expect(mayRead!(join(fixture.workspace, "README.md"))).toBe(true);
  });

  it("the policy checks only files, not folders, for other hard links", () => {
    linked("plain", join(fixture.workspace, "src/a"));
    const has = (name: string) => hasSecondName(join(fixture.workspace, name));
    expect(["plain", "src/a", "README.md", "src", "missing", "README.md/x"].map(has)).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
