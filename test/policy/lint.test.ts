import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { protectedPlaces } from "../../src/policy/floor.ts";
import { type LintEntry, type LintProblem, lint } from "../../src/policy/lint/index.ts";
import { floorOf } from "../../src/policy/paths.ts";
import { type Fixture, makeFixture, removeFixture, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  mkdirSync(join(fixture.workspace, "docs"));
});
afterAll(() => removeFixture(fixture));

type Lists = { allow?: string[]; deny?: string[]; scope?: "user" | "project" };

function problems(lists: Lists, installed: readonly string[] = []): LintProblem[] {
  const entries = (["deny", "allow"] as const).flatMap((verdict) =>
    (lists[verdict] ?? []).map(
      (text, index): LintEntry => ({ text, verdict, scope: lists.scope ?? "user", source: "f.json", line: index + 1 }),
    ),
  );
  return lint(entries, { ...situationOf(fixture), hasProgram: (name) => installed.includes(name) });
}

const brief = (found: LintProblem[]) => found.map(({ kind, rule }) => `${kind} ${rule}`);

describe("lint", () => {
  it("has nothing to say about ordinary rules", () => {
    const allow = [
      "Shell(ls)",
      "Shell(cd)",
      "Shell(npm install)",
      "Shell(npm run)",
      "Shell(npm:test*)",
      "Shell(git)",
      "Shell(find:*-exec*)",
      "Shell(find)",
      "Shell(my-tool)",
      "Shell(gh)",
      "Read(/usr/share/doc/**)",
      "Read(~/notes/*.md)",
      "Write(src/**)",
      "Write(docs/)",
      "Write(.vscode/tasks.json)",
      "Write(.cursor/rules/**)",
      "WebFetch(docs.example.com)",
      "WebFetch(*.example.org)",
      "WebFetch(localhost:3000)",
      "Mcp(linear:*)",
    ];
    const deny = [
      "Shell(rm)",
      "Shell(rm -rf)",
      "Shell(/sbin/reboot)",
      "Read(.env*)",
      "Write(**/*.key)",
      "Shell(git push:-f*)",
    ];
    // `rm -rf` is covered by `rm`: that alone is worth a word.
    expect(brief(problems({ allow, deny }))).toEqual(["dead Shell(rm -rf)"]);
  });

  it.each([
    ["Bash(ls)", "misspelt", "Write Shell(ls)."],
    ["Shel(ls)", "misspelt", "Write Shell(ls)."],
    ["Shell(ls", "misspelt", "Write Shell(ls)."],
    ["git status", "misspelt", "Write Shell(git status)."],
    ["Shell(gti status)", "misspelt", "Write Shell(git status)."],
    ["Shell(pyhton3)", "misspelt", "Write Shell(python3)."],
    ["Shell(Git)", "misspelt", "Write Shell(git)."],
    ["Shell(/usr/bin/git)", "impossible", "Write Shell(git)."],
    ["Shell(./build.sh)", "impossible", "Write Shell(build.sh)."],
    ["Shell(npm test && npm run build)", "impossible", "Write a rule for each"],
    ["Shell(cat x | grep y)", "impossible", "Write a rule for each"],
    ["Shell(make > log)", "impossible", "Write a rule for each"],
    ["Shell(NODE_ENV=test npm test)", "impossible", "without NODE_ENV=test"],
    ['Shell(git commit -m "x")', "impossible", "Write Shell(git commit -m x)."],
    ["Write($HOME/x)", "impossible", "~/"],
    ["Write(src\\*.ts)", "impossible", "Write Write(src/*.ts)."],
    ["Read(https://example.com)", "impossible", "WebFetch"],
    ["Write(docs)", "impossible", "Write Write(docs/**)."],
    ["WebFetch(exam*.com)", "impossible", "*.example.com"],
    ["WebFetch(example.com:99999)", "impossible", "65535"],
    ["Read(src/**)", "dead", "Take it out"],
    ["Read(README.md)", "dead", "Take it out"],
    ["Read(/proc/**)", "dead", "Take it out"],
    ["Shell(eval)", "dead", "Take it out"],
    ["Shell(export:*)", "dead", "Take it out"],
    ["Shell(nohup)", "dead", "Take it out"],
    ["Shell(timeout)", "dead", "Take it out"],
    ["Write(.cursor/**)", "dead", "names one file"],
    ["Write(.vscode/*.json)", "dead", "names one file"],
    ["Write(~/.bashrc)", "dead", "names one file"],
    ["Write(~/.cursor/cli-config.json)", "dead", "Take it out"],
    ["WebFetch(10.0.0.1)", "dead", "host and port"],
    ["Shell(**)", "wide", "Name the programs"],
    ["Shell(*)", "wide", "Name the programs"],
    ["Shell(*:*)", "wide", "Name the programs"],
    ["Shell(bash)", "wide", "Name the programs"],
    ["Shell(sh:*)", "wide", "Name the programs"],
    ["Shell(sudo:*)", "wide", "Take it out"],
    ["Shell(doas apt)", "wide", "Take it out"],
    ["Shell(*sh)", "wide", "Name the programs"],
    ["Shell(s*)", "wide", "Name the programs"],
    ["Read(/**)", "wide", "Name the folders"],
    ["Write(~/**)", "wide", "Name the folders"],
    ["WebFetch(*)", "wide", "Name the hosts"],
    ["Mcp(*:*)", "wide", "Name the servers"],
    ["Mcp(*)", "wide", "Name the servers"],
  ])("allow %s: %s", (rule, kind, advice) => {
    expect(problems({ allow: ["Shell(true)", rule] }).filter((problem) => problem.line === 2)).toEqual([
      {
        kind,
        rule,
        verdict: "allow",
        file: "f.json",
        line: 2,
        message: expect.any(String),
        advice: expect.stringContaining(advice),
      },
    ]);
  });

  it.each([
    ["Shell(curl | sh)", "impossible"],
    ["Shell(rmm)", undefined],
    ["Shell(gti push)", "misspelt"],
    ["Read($HOME/.ssh)", "impossible"],
    ["Bash(rm)", "misspelt"],
    ["Shell(**)", undefined],
    ["Shell(bash)", undefined],
    ["Read(src)", undefined],
    ["Shell(/bin/rm)", undefined],
    ["WebFetch(*evil*)", undefined],
  ])("deny %s: %s", (rule, kind) => {
    const known = rule === "Shell(rmm)" ? ["rmm"] : [];
    expect(problems({ deny: [rule] }, known).map((problem) => problem.kind)).toEqual(kind ? [kind] : []);
  });

  it("knows what is installed", () => {
    expect(brief(problems({ allow: ["Shell(nod)"] }))).toEqual(["misspelt Shell(nod)"]);
    expect(problems({ allow: ["Shell(nod)"] }, ["nod"])).toEqual([]);
    expect(problems({ allow: ["Shell(eslint_d)", "Shell(gitleaks)", "Shell(makefile2)"] })).toEqual([]);
    // Without that knowledge only a slip of the fingers counts.
    const entry = (text: string): LintEntry => ({ text, verdict: "allow", scope: "user", source: "f" });
    expect(brief(lint([entry("Shell(nod)"), entry("Shell(ndoe)")], situationOf(fixture)))).toEqual([
      "misspelt Shell(ndoe)",
    ]);
  });

  it.each([
    ["Shell(git push)", "Shell(git)"],
    ["Shell(git push origin)", "Shell(git push)"],
    ["Shell(git push)", "Shell(git:push*)"],
    ["Shell(git:push*)", "Shell(git)"],
    ["Shell(rm)", "Shell(/bin/rm)"],
    ["Shell(ls)", "Shell(**)"],
    ["Write(src/**)", "Write(src)"],
    ["Write(src/**)", "Write(**)"],
    ["Write(src/a.key)", "Write(**/*.KEY)"],
    ["Read(/srv/**)", "Read(/**)"],
    ["WebFetch(docs.example.com)", "WebFetch(*.example.com)"],
    ["WebFetch(docs.example.com)", "WebFetch(*)"],
    ["Mcp(Linear:get_issue)", "Mcp(linear:*)"],
  ])("allow %s is shadowed by deny %s", (allow, deny) => {
    expect(brief(problems({ allow: [allow], deny: [deny] }))).toEqual([`shadowed ${allow}`]);
  });

  it.each([
    ["Shell(git)", "Shell(git push)"],
    ["Shell(git push)", "Shell(git:push)"],
    ["Shell(rm)", "Shell(rm -rf)"],
    ["Write(src/**)", "Write(src/*.key)"],
    ["Write(**)", "Write(src/**)"],
    ["WebFetch(example.com)", "WebFetch(*.other.com)"],
    ["Mcp(linear:*)", "Mcp(linear:delete)"],
    ["Read(/srv/**)", "Write(/**)"],
  ])("allow %s is not shadowed by deny %s", (allow, deny) => {
    expect(problems({ allow: [allow], deny: [deny] })).toEqual([]);
  });

  it("finds doubles and what a wider rule covers", () => {
    expect(brief(problems({ allow: ["Shell(ls)", "Shell(git)", "Shell(ls)", "Shell(git status)"] }))).toEqual([
      "duplicate Shell(ls)",
      "dead Shell(git status)",
    ]);
    expect(brief(problems({ allow: ["Write(src/a/**)", "Write(src/**)"] }))).toEqual(["dead Write(src/a/**)"]);
    // Options that run programs are named by no plain rule.
    expect(problems({ allow: ["Shell(git)", "Shell(git:*--output*)", "Shell(git -c)"] })).toEqual([]);
    expect(problems({ allow: ["Write(src/*)", "Write(src/**/x)"] })).toEqual([]);
  });

  it("leaves a project's copy of a user's rule alone", () => {
    const entry = { text: "Shell(ls)", verdict: "allow", source: "a" } as const;
    const place = situationOf(fixture);
    expect(
      lint(
        [
          { ...entry, scope: "user" },
          { ...entry, scope: "project" },
        ],
        place,
      ),
    ).toEqual([]);
  });

  it("knows that a project lifts no protection", () => {
    expect(brief(problems({ allow: ["Write(.vscode/tasks.json)"], scope: "project" }))).toEqual([
      "dead Write(.vscode/tasks.json)",
    ]);
  });
});

describe("the floor, as it is shown", () => {
  it.each(protectedPlaces.flatMap(({ what, level, examples }) => examples.map((path) => [what, path, level] as const)))(
    "%s: %s",
    (_, path, level) => {
      const place = situationOf(fixture);
      const absolute = path.replace(/^~/, fixture.home).replace(/^\.(?=\/)/, fixture.workspace);
      expect(floorOf({ given: absolute, real: absolute }, place)?.level).toBe(level);
    },
  );
});
