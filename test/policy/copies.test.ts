import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  const files = [
    "plain/x/y.txt",
    "settings/a/b/c/d/.envrc",
    "packages/node_modules/x/.envrc",
    "hooks/pre-push",
    "dot/.config/fish/x",
  ];
  for (const name of files) {
    const path = join(fixture.workspace, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
  }
  mkdirSync(join(fixture.workspace, "many"));
  for (let at = 0; at < 400; at++) writeFileSync(join(fixture.workspace, "many", `${at}.txt`), "");
  for (const folder of [".git/modules/x", ".git/modules/x/y", "empty"])
    mkdirSync(join(fixture.workspace, folder), { recursive: true });
});
afterAll(() => removeFixture(fixture));

async function verdict(command: string): Promise<string> {
  return (await decide([{ kind: "Shell", target: command }], situationOf(fixture, { mode: "force" }))).verdict;
}

describe("copying a folder", () => {
  it.each([
    ["brings what it holds into another one", "cp -r settings src"],
    ["brings it under a new name", "cp -r settings new"],
    ["brings it without its own name", "cp -r settings/. src"],
    ["brings it by any name that leads there", "cp -r sett* src"],
    ["takes it away", "mv settings src"],
    ["takes it away, by git", "git mv settings src"],
    ["takes it away, by git with options", "git -C . mv -k settings src"],
    ["fills a place that is protected below", "cp -r hooks .git/modules/x"],
    ["fills it under its own name", "cp -r hooks/. .git/modules/x/hooks"],
    ["fills one that only both names make", "cp -r dot/.config ~"],
    ["fills one of several", "cp -r hooks {empty,.git/modules/x}"],
    ["fills it through an option", "cp -r --target-directory=.git/modules/x hooks"],
    ["fills it after a look at many others", `cp -r many hooks .git/modules/x`],
  ])("a command that copies a folder is judged by the files in it: it %s", async (_, command) => {
    expect(await verdict(command)).toBe("ask");
  });

  it.each([
    ["that holds nothing of importance", "cp -r plain src"],
    ["under a new name", "cp -r hooks .git/modules/x/new"],
    ["with packages, whose settings nobody looks at", "cp -r packages new"],
    ["for a while", "cp -r settings /tmp"],
    ["for longer", "cp -r settings /var/tmp"],
    ["by a program that does not copy", "ls settings src"],
    ["by a subcommand of git that does not move", "git add settings src"],
    ["to nowhere", "cp -r"],
  ])("the command %s is an ordinary copy", async (_, command) => {
    expect(await verdict(command)).toBe("allow");
  });
});
