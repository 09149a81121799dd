import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
let bare: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  bare = makeFixture();
  rmSync(join(bare.workspace, ".git"), { recursive: true });
  for (const folder of ["src/lib", "store/objects", "store/refs", "half/refs"])
    mkdirSync(join(fixture.workspace, folder), { recursive: true });
  for (const file of ["store/HEAD", "half/HEAD"]) writeFileSync(join(fixture.workspace, file), "");
  symlinkSync("loop", join(fixture.workspace, "loop"));
  symlinkSync(".cursor", join(fixture.workspace, "linked"));
});
afterAll(() => {
  removeFixture(fixture);
  removeFixture(bare);
});

type Given = { cwd?: string; allow?: string[]; deny?: string[]; mode?: Situation["mode"]; where?: Fixture };

async function verdict(command: string, { cwd, mode = "default", where = fixture, ...lists }: Given): Promise<string> {
  const target = command.replaceAll("{WS}", where.workspace);
  const need = { kind: "Shell" as const, target, ...(cwd && { cwd: join(where.workspace, cwd) }) };
  return (await decide([need], situationOf(where, { mode, rules: rulesOf(lists) }))).verdict;
}

describe("following directory changes", () => {
  const allow = ["cd", "git", "ls", "touch"].map((name) => `Shell(${name})`);

  it("the policy asks about a command line with more than 15 directory changes", async () => {
    const changes = (count: number) => Array.from({ length: count }, (_, at) => `cd /tmp/${at}`).join("; ");
    expect(await verdict(`${changes(15)}; ls`, { mode: "force" })).toBe("allow");
    expect(await verdict(`${changes(16)}; ls`, { mode: "force" })).toBe("ask");
    expect(await verdict(`${changes(40)}; ls`, { mode: "force" })).toBe("ask");
    expect(await verdict(`${"cd /tmp/1; ".repeat(40)} ls`, { mode: "force" })).toBe("allow");
  });

  it("the policy follows every directory change that is certain", async () => {
    expect(await verdict("cd src && cd lib && cd ../.. && ls", { allow })).toBe("allow");
    expect(await verdict("cd src && cd lib; cd ..; cd ..; ls", { allow })).toBe("allow");
    expect(await verdict("cd src && ls && cd lib; cd ..; cd ..; ls", { allow })).toBe("ask");
    expect(await verdict("cd src && cd nowhere; cd ..; cd ..; ls", { allow })).toBe("ask");
    expect(await verdict("cd src; ls; cd lib; cd ../..; ls", { allow })).toBe("allow");
  });

  it("the policy judges git in another repository's folder by that repository's settings", async () => {
    expect(await verdict("cd store && git status", { allow })).toBe("ask");
    expect(await verdict("cd half && git status", { allow })).toBe("allow");
    expect(await verdict("cd store && ls", { allow })).toBe("allow");
  });
});

describe("resolving words to paths", () => {
  const kept: Given = { mode: "force", deny: ["Write(kept)"] };

  it("the policy resolves a relative path from the command's own folder", async () => {
    expect(await verdict("touch ../kept", { ...kept, cwd: "src" })).toBe("deny");
    expect(await verdict("touch $(git rev-parse --show-toplevel)/kept", { ...kept, cwd: "src/lib" })).toBe("deny");
    expect(await verdict("touch /proc/self/cwd/../kept", { ...kept, cwd: "src" })).toBe("deny");
    expect(await verdict("touch /proc/self/root{WS}/kept", { ...kept })).toBe("deny");
  });

  it("a git word is unknown if there is no repository", async () => {
    const allow = ["Shell(touch)", "Shell(git)"];
    expect(await verdict("touch $(git rev-parse --show-toplevel)/a", { allow })).toBe("allow");
    expect(await verdict("touch $(git rev-parse --show-toplevel)/a", { allow, where: bare })).toBe("ask");
  });

  it("a word in a link loop does not matter", async () => {
    expect(await verdict("rm loo* loop", { mode: "force" })).toBe("allow");
  });

  it("symbolic links are resolved whichever program names the path", async () => {
    for (const name of ["linked/x.json", "$PWD/linked/x.json", "./linked/x.json", "link*"])
      expect(await verdict(`frobnicate ${name}`, { mode: "force" })).toBe("ask");
    expect(await verdict("frobnicate src/linked/x.json", { mode: "force" })).toBe("allow");
  });

  it("git words depend on the settings that git changes", async () => {
    const allow = ["Write(.git/config)"];
    expect(await verdict("git config a.b c", { mode: "force", allow })).toBe("allow");
    for (const option of ["--global", "--system", "--glo"])
      expect(await verdict(`git config ${option} a.b c`, { mode: "force", allow })).toBe("ask");
  });

  it("the policy asks about a computed path if something may not be read", async () => {
    const allow = ["Shell(cat)", "Shell(printf)", "Shell(rg)"];
    const deny = ["Read(**/.env)"];
    expect(await verdict("cat $(cat list.txt)nv", { allow, deny })).toBe("ask");
    expect(await verdict("cat $(cat list.txt)nv", { allow })).toBe("allow");
    expect(await verdict("rg -g '!sub/.env' KEY", { allow, deny })).toBe("allow");
    expect(await verdict("rg --iglob '!sub/.env' KEY", { allow, deny })).toBe("allow");
    expect(await verdict("rg -g sub/.env KEY", { allow, deny })).toBe("deny");
  });
});
