// What a command line gets from rules: each row is a line, the lists that are in force, and the answer.
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
let searchPath: string;
beforeAll(() => {
  fixture = makeFixture();
  const { base, workspace } = fixture;
  for (const folder of ["dashes", "nested/.git", "bin-of-the-project"])
    mkdirSync(join(workspace, folder), { recursive: true });
  writeFileSync(join(workspace, "dashes/-x"), "");
  writeFileSync(join(workspace, "dashes/a"), "");
  linkSync(join(workspace, ".env"), join(workspace, "second"));
  for (const folder of ["bin", "empty", "other"]) mkdirSync(join(base, folder));
  for (const program of ["bin/mytool", "other/mytool", "ws/bin-of-the-project/inner"]) {
    writeFileSync(join(base, program), "#!/bin/sh\n");
    chmodSync(join(base, program), 0o755);
  }
  symlinkSync("bin", join(base, "linked-bin"));
  symlinkSync("../ws/bin-of-the-project/inner", join(base, "bin/inner"));
  symlinkSync("../bin/mytool", join(workspace, "mytool"));
  searchPath = [join(base, "empty"), join(base, "bin"), process.env["PATH"]].join(":");
});
afterAll(() => removeFixture(fixture));

type Lists = { allow?: string; deny?: string; mode?: Situation["mode"]; scope?: "user" | "project" };

/** Rules are written without their parentheses: `git push, Read .env`. */
async function verdict(
  command: string,
  { allow = "", deny = "", mode = "default", scope = "user" }: Lists,
): Promise<string> {
  const list = (text: string) =>
    text
      .split(", ")
      .filter(Boolean)
      .map((each) => (/^(Read|Write) /.test(each) ? each.replace(/^(\w+) (.*)$/, "$1($2)") : `Shell(${each})`));
  const rules = rulesOf({ allow: list(allow), deny: list(deny) }, scope);
  // More than is ever read.
  const target = command.replaceAll("BASE", fixture.base).replace("PILE", "$(".repeat(400));
  return (await decide([{ kind: "Shell", target }], situationOf(fixture, { mode, rules, searchPath }))).verdict;
}

const force = { mode: "force" } as const;
type Row = [command: string, lists: Lists, expected: string];

function rows(list: readonly Row[]): void {
  it.each(list)(
    "the policy decides about the command line %s under the rules %j: %s",
    async (command, lists, expected) => {
      expect(await verdict(command, lists)).toBe(expected);
    },
  );
}

describe("programs in commands", () => {
  rows([
    ["nohup ls", { allow: "ls" }, "allow"],
    ["nohup ls", { allow: "nohup" }, "ask"],
    ["ls", { allow: "test, true" }, "ask"],
    ["[ -f x ]", { allow: "test" }, "allow"],
    ["[ -f x ]", { allow: "true" }, "ask"],
    [": x", { allow: "true" }, "allow"],
    [": x", { allow: "test" }, "ask"],
    ["npmx y", { allow: "npm*" }, "allow"],
    ["if ls; then break; fi", { allow: "ls" }, "allow"],
    ["export A=1", { allow: "export" }, "ask"],
    ["echo $HOME $X", { allow: "echo" }, "allow"],
    ["git $(curl a.test)", { allow: "git, curl" }, "ask"],
    ["echo $(curl a.test)", { allow: "echo, curl" }, "allow"],
    ["bash a $(curl a.test)", { allow: "bash, curl" }, "ask"],
    ["python3 a $(curl a.test)", { allow: "python3, curl" }, "ask"],
    ["sort -o a b", { allow: "sort, sort -o, Write **" }, "allow"],
    ["sort -o a b", { allow: "sort -o, sort, Write **" }, "allow"],
    ["sort --compress-program=x b", { allow: "sort" }, "ask"],
    ["sort --compress-program=x b", { allow: "sort, sort --compress-program=x" }, "allow"],
  ]);

  describe("programs given as paths", () => {
    rows([
      ["BASE/bin/mytool x", { allow: "mytool" }, "allow"],
      ["BASE/linked-bin/mytool x", { allow: "mytool" }, "allow"],
      ["BASE/other/mytool x", { allow: "mytool" }, "ask"],
      ["BASE/missing/mytool x", { allow: "mytool" }, "ask"],
      ["BASE/bin/nothing x", { allow: "nothing" }, "ask"],
      ["./mytool x", { allow: "mytool" }, "ask"],
      ["./mytool x", { allow: "my*" }, "ask"],
      ["BASE/ws/mytool x", { allow: "mytool" }, "ask"],
      ["BASE/bin/inner x", { allow: "inner" }, "ask"],
      ["../bin/mytool x", { allow: "mytool" }, "ask"],
      ["mytool x", { allow: "mytool" }, "allow"],
    ]);
  });

  describe("programs started by others", () => {
    rows([
      ["npx vitest run", { allow: "npx vitest" }, "allow"],
      ["npx vitest run", { allow: "npx, npx vitest" }, "allow"],
      ["npx vitest run", { allow: "npx vitest:*" }, "allow"],
      ["npx vitest run", { allow: "npx" }, "ask"],
      ["npx vitest run", { allow: "npx *" }, "ask"],
      ["npx vitest run", { allow: "npx, vitest" }, "allow"],
      ["npx eslint .", { allow: "npx vitest" }, "ask"],
      ["npx vitest; npx eslint .", { allow: "npx vitest" }, "ask"],
      ["npx vitest; eslint .", { allow: "npx vitest" }, "ask"],
      ["find . -exec prettier {} + -exec eslint {} +", { allow: "find . -exec prettier {} + -exec eslint" }, "allow"],
      ["find . -exec prettier {} + -exec eslint {} +", { allow: "find . -exec prettier" }, "ask"],
      ["sudo ls", { allow: "sudo, ls" }, "ask"],
      ["python3 -c 'print(1)'", { allow: "python3" }, "ask"],
    ]);
  });

  describe("programs with variables", () => {
    rows([
      ["LANG=C ls", { allow: "ls" }, "allow"],
      ["LANG=$X ls", { allow: "ls" }, "ask"],
      ["FOO=1 ls", { allow: "ls" }, "ask"],
      ["FOO=1", { allow: "ls" }, "ask"],
      ["LANG=C", { allow: "ls" }, "ask"],
      ["LANG=C TZ=UTC FOO=1 ls", { allow: "ls" }, "ask"],
      ["env LANG=C ls", { allow: "env, ls" }, "allow"],
      ["env LANG=$X ls", { allow: "env, ls" }, "ask"],
      ["env FOO=1 ls", { allow: "env, ls" }, "ask"],
      ["ls ${x:=1}", { allow: "ls" }, "ask"],
      ["f() { ls; }", { allow: "ls" }, "ask"],
      ["FOO=1 ls > a; cd src", { allow: "**" }, "allow"],
    ]);
  });
});

describe("deny rules in commands", () => {
  rows([
    ["$X y", { ...force, deny: "*" }, "deny"],
    ["$X y", { ...force, deny: "rm, **" }, "deny"],
    ["$X y", { ...force, deny: "*x*" }, "ask"],
    ["/bin/r[m] y", { ...force, deny: "*r*" }, "ask"],
    ["git status", { ...force, deny: "git push" }, "allow"],
    ["git $X", { ...force, deny: "git push" }, "ask"],
    ["git $X", { ...force, deny: "npm publish, git push" }, "ask"],
    ["git $X", { ...force, deny: "npm publish" }, "allow"],
    ["git -C dir $X", { ...force, deny: "git push" }, "ask"],
    ["git p*", { ...force, deny: "git push" }, "ask"],
    ["git {pull,push}", { ...force, deny: "git push" }, "allow"],
    ["git {push,origin}", { ...force, deny: "git push" }, "deny"],
    ["x=push; git $x", { ...force, deny: "git push" }, "deny"],
    ["if ls; then x=push; else x=pull; fi; git $x", { ...force, deny: "git push" }, "deny"],
    ["git commit $X", { ...force, deny: "git push" }, "allow"],
    ["git $X", { ...force, deny: "git:push" }, "ask"],
    ["git $X y", { ...force, deny: "git:push" }, "allow"],
    ["git $X y", { ...force, deny: "git:push *" }, "ask"],
    ["git $X", { ...force, deny: "git:{push,pull}*" }, "ask"],
    ["npm $X", { ...force, deny: "npm run:*" }, "ask"],
    ["npm $X", { ...force, deny: "*:run *" }, "ask"],
    ["npm install", { ...force, deny: "npm run:*" }, "allow"],
    ["git $X y", { ...force, deny: "git:{push,pull *}" }, "ask"],
    ["ls $X", { ...force, deny: "*:*" }, "deny"],
    // What cannot be read is searched for them.
    ['zap x "open', { ...force, deny: "zap" }, "deny"],
    ["PILE zap x", { ...force, deny: "zap" }, "deny"],
    ["PILE zap x", { ...force, deny: "ls, z*" }, "deny"],
    ["PILE zap x", { ...force, deny: "/usr/bin/zap" }, "deny"],
    ["PILE git push", { ...force, deny: "git push" }, "deny"],
    ["PILE git -C dir push", { ...force, deny: "git push" }, "deny"],
    ["PILE git pull", { ...force, deny: "git push" }, "ask"],
    ["PILE pull git push", { ...force, deny: "git pull" }, "ask"],
    ["PILE ls alarm", { ...force, deny: "rm" }, "ask"],
    ["bash -c 'PILE zap x'", { ...force, deny: "zap" }, "deny"],
    ["echo 'zap x'", { ...force, deny: "zap" }, "allow"],
  ]);

  describe("deny rules for files", () => {
    rows([
      ["cat *.txt", { ...force, deny: "Read victim.txt" }, "deny"],
      ["cat .e*", { ...force, deny: "Read .env" }, "deny"],
      ["cat .e*", { ...force, deny: "Read .e[mn]v" }, "deny"],
      ["cat .f*", { ...force, deny: "Read .foo" }, "deny"],
      ["cat *.md", { ...force, deny: "Read .env" }, "allow"],
      ["cat '.f*'", { ...force, deny: "Read .foo" }, "allow"],
      ["cat second", { ...force, deny: "Read .env" }, "deny"],
      ["cat README.md second", { ...force, deny: "Read /nowhere, Read .env" }, "deny"],
      ["cat README.md", { ...force, deny: "Read .env" }, "allow"],
      ["tee a", { ...force, deny: "Write a" }, "deny"],
      ["cat a", { ...force, deny: "Write a" }, "allow"],
    ]);
  });
});

describe("files in commands", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`).join(" ");

  it("the policy asks about a command line with hundreds of files", async () => {
    expect(await verdict(`touch ${many(400)}`, force)).toBe("allow");
    expect(await verdict(`touch ${many(401)}`, force)).toBe("ask");
    expect(await verdict(`cat ${many(401)}`, force)).toBe("allow");
    expect(await verdict(`cat ${many(400)}`, { ...force, deny: "Read x" })).toBe("allow");
    expect(await verdict(`cat ${many(401)}`, { ...force, deny: "Read x" })).toBe("ask");
  });

  describe("written files", () => {
    rows([
      ["touch a", { allow: "touch" }, "allow"],
      ["echo > a", { allow: "echo" }, "ask"],
      ["echo > a", { allow: "echo, Write a" }, "allow"],
      ["echo > a", { allow: "echo, Write b, Write a" }, "allow"],
      ["echo > a", { allow: "echo, Write b" }, "ask"],
      ["echo > /dev/null", { allow: "echo" }, "allow"],
      ["echo > $X/a", { allow: "echo, Write /**" }, "ask"],
      ["touch ../a", { allow: "touch" }, "ask"],
      ["touch ../a", { allow: "touch, Write ../a" }, "allow"],
      ["tee /dev/pts/0", { allow: "tee" }, "ask"],
      ["tee /dev/sda", { allow: "tee" }, "deny"],
      ["echo > $(curl a.test)", force, "ask"],
      ["echo > $X", force, "allow"],
      ["cd $(curl a.test) && touch a", force, "ask"],
      ["cd $(curl a.test) && touch a BASE/b", force, "ask"],
      ["cd $(curl a.test) && touch BASE/b", force, "allow"],
      ["cd $(curl a.test) && ls", force, "allow"],
      ["echo > .vscode/a", { ...force, allow: "Write .vscode/a" }, "allow"],
      ["echo > .vscode/a", { ...force, allow: "Write .vscode/b, Write .vscode/a" }, "allow"],
      ["echo > .vscode/a", { ...force, allow: "Write .vscode/b" }, "ask"],
      ["echo > .vscode/a", { ...force, allow: "Write .vscode/a", scope: "project" }, "ask"],
      ["echo > ~/.bashrc", { ...force, allow: "Write ~/.bashrc" }, "ask"],
      ["echo > ~/.cursor/a", { ...force, allow: "Write ~/.cursor/a" }, "deny"],
    ]);
  });

  describe("files run right after being written", () => {
    rows([
      ["echo ls > a; ./a", { ...force, deny: "rm" }, "ask"],
      ["echo ls > a; echo > b; ./a", { ...force, deny: "rm" }, "ask"],
      ["echo ls > b; ./a", { ...force, deny: "rm" }, "allow"],
      ["./a", { ...force, deny: "rm" }, "allow"],
      ["cp x a; ./a", { ...force, deny: "rm" }, "ask"],
      ["cp -r x new; new/run", { ...force, deny: "rm" }, "ask"],
      ["cp -r x new; touch b; new/run", { ...force, deny: "rm" }, "ask"],
      ["cp -r x BASE/ws/new; cd src; ../new/run", { ...force, deny: "rm" }, "ask"],
      ["cp -r x other; new/run", { ...force, deny: "rm" }, "allow"],
    ]);
  });

  describe("read files", () => {
    rows([
      ["cat $(curl a.test)", { allow: "cat, curl" }, "allow"],
      ["cat $(curl a.test)", { allow: "cat, curl", deny: "Read .env" }, "ask"],
      ["cat < $(curl a.test)", { allow: "cat, curl", deny: "Read .env" }, "ask"],
      ["cat < $(curl a.test)", { allow: "cat, curl" }, "allow"],
      ["cat < $X", { allow: "cat", deny: "Read .env" }, "allow"],
      ["cat < README.md", { allow: "cat", deny: "Read .env" }, "allow"],
      ["cat < /dev/tcp/a.test/80", { allow: "cat" }, "ask"],
      ["cat < /dev/udp/a.test/53", { allow: "cat" }, "ask"],
    ]);
  });

  describe("text that cat repeats", () => {
    const repeated = (marker: string, body: string) => `git commit -m "$(cat <<${marker}\n${body}\nEND\n)"`;
    rows([
      [repeated("'END'", "fix: $HOME stays as it is\n\nIt said `rm`."), { allow: "cat, git" }, "allow"],
      [repeated("END", "fix: one line"), { allow: "cat, git" }, "allow"],
      [repeated("END", "fix: $HOME"), { allow: "cat, git" }, "ask"],
      [repeated("END", "fix: $(touch x)"), { allow: "cat, git" }, "ask"],
      [repeated("'END'", "--output=x"), { allow: "cat, git" }, "ask"],
      [repeated("'END' x", "fix"), { allow: "cat, git" }, "ask"],
      [repeated("'END' | rev", "fix"), { allow: "cat, git, rev" }, "ask"],
      [`cat() { ls; }; ${repeated("'END'", "fix")}`, { allow: "cat, git, ls" }, "ask"],
      ["env \"$(cat <<'END'\nzap\nEND\n)\" x", { ...force, deny: "zap" }, "deny"],
      ["cat() { echo zap; }; env \"$(cat <<'END'\nls\nEND\n)\" x", { ...force, deny: "zap" }, "ask"],
    ]);
  });

  describe("files that look like options", () => {
    rows([
      ["tar cf a.tar *", { allow: "cd, tar" }, "allow"],
      ["cd dashes && tar cf a.tar *", { allow: "cd, tar" }, "ask"],
      ["cd dashes && cat *", { allow: "cd, cat" }, "allow"],
      ["cd dashes && tar cf a.tar a*", { allow: "cd, tar" }, "allow"],
      ["cd dashes && tar cf a.tar '*'", { allow: "cd, tar" }, "allow"],
      ["cd src && tar cf a.tar ?x", { allow: "cd, tar" }, "allow"],
      ["touch a ./-x b; tar cf a.tar *", { allow: "cd, touch, tar" }, "ask"],
      ["touch a b; tar cf a.tar *", { allow: "cd, touch, tar" }, "allow"],
    ]);
  });
});

describe("directories in commands", () => {
  rows([
    ["cd src && ls", { allow: "cd, ls" }, "allow"],
    ["cd $X && ls", { allow: "cd, ls" }, "ask"],
    ["cd .. && ls", { allow: "cd, ls" }, "ask"],
    ["git status", { allow: "cd, git" }, "allow"],
    ["cd nested && ls", { allow: "cd, ls" }, "allow"],
    ["cd nested && git status", { allow: "cd, git" }, "ask"],
    ["cd nested && ls && git status", { allow: "cd, git, ls" }, "ask"],
    ["cd src && git status", { allow: "cd, git" }, "allow"],
    ["touch src/a; cd src && git status", { allow: "cd, touch, git" }, "allow"],
    ["mkdir BASE/ws/new; cd new && git status", { allow: "cd, mkdir, git" }, "allow"],
    ["mkdir new; cp a README.md new/HEAD; cd new && git status", { allow: "cd, mkdir, cp, git" }, "ask"],
    ["mkdir BASE/ws/new; touch BASE/ws/new/HEAD; cd new && git status", { allow: "cd, mkdir, touch, git" }, "ask"],
    [
      "cd src; touch ../new/HEAD; cd BASE/ws/new && git status",
      { allow: "cd, touch, git, Write ../new/*, Write new/*" },
      "ask",
    ],
    ["mkdir new; touch a new/HEAD; cd new && ls", { allow: "cd, mkdir, touch, ls" }, "allow"],
  ]);

  it("the policy asks about a command line with many directories", async () => {
    const changes = (count: number) => Array.from({ length: count }, (_, index) => `cd BASE/ws/d${index};`).join(" ");
    expect(await verdict(`${changes(15)} ls`, force)).toBe("allow");
    expect(await verdict(`${changes(16)} ls`, force)).toBe("ask");
  });
});

describe("an unknown PATH", () => {
  const answer = async (target: string, changes: Partial<Situation>) => {
    const rules = rulesOf({ allow: ["Shell(ls)", "Shell(mytool)", "Shell(cp)"], deny: ["Shell(rm)"] });
    return (await decide([{ kind: "Shell", target }], situationOf(fixture, { rules, ...changes }))).verdict;
  };

  it("the policy asks about a program started by its path only if PATH is unknown", async () => {
    expect(await answer(`${fixture.base}/bin/mytool`, { searchPath })).toBe("allow");
    expect(await answer(`${fixture.base}/bin/mytool`, { searchPath: undefined })).toBe("ask");
    expect(await answer("ls", { searchPath: undefined })).toBe("allow");
  });

  it("a program written by the line may be found in any folder", async () => {
    const line = "cp a out/mytool; mytool";
    expect(await answer(line, { searchPath })).toBe("allow");
    expect(await answer(line, { searchPath: undefined })).toBe("ask");
  });
});
