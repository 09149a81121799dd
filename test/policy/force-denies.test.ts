// Under --force, deny rules hold for names that a line spells in another way.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  mkdirSync(join(fixture.workspace, "guarded"));
  mkdirSync(join(fixture.workspace, "login"));
  writeFileSync(join(fixture.workspace, "login/.bash_profile"), "rm x\n");
  copyFileSync("/bin/rm", join(fixture.workspace, "zz"));
});
afterAll(() => removeFixture(fixture));

const deny = ["Shell(rm)", "Read(.env)", "Write(guarded/**)", "Read(~/.cursor/auth.json)"];
const verdictOf = async (command: string, rules = rulesOf({ deny })) => {
  const situation = situationOf(fixture, { mode: "force", interactive: false, startedAt: Date.now() - 60_000, rules });
  return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
};

describe("deny rules under --force", () => {
  it.each([
    "cd g* && touch x",
    "pushd gua*; touch x",
    "find guarded -execdir touch x \\;",
    `python3 -c "open('.'+'env').read()"`,
    `node -e "require('fs').readFileSync('.e' + 'nv')"`,
    `python3 -c 'import glob, os; open(glob.glob(os.path.expanduser("~/.cur*/au*"))[0])'`,
    "HOME=$PWD/login bash -l",
    "cd login && HOME=$PWD bash -lc true",
    "cp /bin/rm yy; ./yy victim.txt",
    "./zz victim.txt",
    `python3 -c 'import shutil; shutil.copy("/bin/rm", "yy")'; ./yy victim.txt`,
  ])("deny rules hold under --force for %s", async (command) => expect(await verdictOf(command)).not.toBe("allow"));

  it.each([
    "cd s* && touch x",
    "find src -execdir touch x \\;",
    `python3 -c "print('a'+'b')"`,
    "HOME=$PWD/src bash -lc true",
  ])("deny rules do not affect %s", async (command) => expect(await verdictOf(command)).toBe("allow"));
});

describe("commands of this program that change permissions", () => {
  it.each([
    `node -e 'process.argv.push("permissions", "allow", "x"); require("/x/cou"+"rser.cjs")'`,
    `node -p 'require("../cou" + "rser.cjs")' permissions allow x`,
    `python3 -c 'import subprocess; subprocess.run(["courser", "permissions", "allow", "x"])'`,
  ])("the policy asks about code that runs permission commands: %s", async (command) =>
    expect(await verdictOf(command, [])).toBe("ask"),
  );

  it("the policy does not ask about code that only mentions commands like chmod", async () =>
    expect(await verdictOf(`node -e 'console.log("courser")'`, [])).toBe("allow"));
});
