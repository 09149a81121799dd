// What each part of a decision adds to it, and the fields beside the verdict.
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, nobodyToAsk, type Situation } from "../../src/policy/decide.ts";
import { type Need, onlyLooks } from "../../src/policy/need.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
  const { base, workspace } = fixture;
  mkdirSync(join(workspace, "sub/.vscode"), { recursive: true });
  mkdirSync(join(workspace, "empty"));
  writeFileSync(join(workspace, ".cursorignore"), "*.secret\n");
  symlinkSync(join(base, "outside.txt"), join(workspace, "out"));
  mkdirSync(join(fixture.home, "deep"));
  symlinkSync(join(fixture.home, "deep"), join(workspace, "house"));
});
afterAll(() => removeFixture(fixture));

type Options = Partial<Situation> & { allow?: string[]; deny?: string[] };
type Asked = Need | readonly [Need["kind"], string];

function decided(asked: readonly Asked[], { allow = [], deny = [], ...changes }: Options = {}) {
  const needs = asked.map((each) => ("kind" in each ? each : { kind: each[0], target: each[1] }));
  return decide(needs, situationOf(fixture, { rules: rulesOf({ allow, deny }), ...changes }));
}

/** The verdict with `!` where only a person may say yes, `+` where it is confined, `f` where --force says it. */
async function brief(asked: Asked | readonly Asked[], options?: Options): Promise<string> {
  const list = Array.isArray(asked) && Array.isArray(asked[0]) ? (asked as Asked[]) : [asked as Asked];
  const { verdict, personOnly, confined, forced } = await decided(list, options);
  return verdict + (personOnly ? "!" : "") + (confined ? "+" : "") + (forced ? "f" : "");
}

const force = { mode: "force" } as const;

describe("several needs of one call", () => {
  it("the permission decision about a tool call includes the judgement of each of its needs", async () => {
    expect(
      await brief(
        [
          ["Read", "README.md"],
          ["Shell", "touch x"],
        ],
        force,
      ),
    ).toBe("allowf");
    expect(
      await brief([
        ["Delete", "README.md"],
        ["Write", ".envrc"],
      ]),
    ).toBe("ask!");
    expect(
      await brief([
        ["Write", ".envrc"],
        ["Delete", "README.md"],
      ]),
    ).toBe("ask!");
    expect(
      await brief([
        ["Delete", "README.md"],
        ["Read", "x.secret"],
        ["Write", ".envrc"],
      ]),
    ).toBe("deny");
    expect(
      await brief(
        [
          ["Shell", "make"],
          ["Delete", "README.md"],
        ],
        { sandbox: "unlisted" },
      ),
    ).toBe("ask");
  });

  it("ignore files apply to a tool call whatever its other needs are", async () => {
    const needs = [
      ["Shell", "ls"],
      ["Read", "a.secret"],
    ] as const;
    expect(await brief(needs, force)).toBe("deny");
  });

  it("a permission decision contains the real path behind each path of the call", async () => {
    const { approved } = await decided(
      [
        ["Read", "README.md"],
        ["Read", "out"],
        ["Shell", "ls"],
      ],
      force,
    );
    expect([...approved!]).toEqual([
      ["README.md", join(fixture.workspace, "README.md")],
      ["out", join(fixture.base, "outside.txt")],
    ]);
  });

  it("deny rules and ignore files hide single files below an allowed folder", async () => {
    const { mayRead } = await decided([["Read", "."]], { deny: ["Read(.env)"] });
    const readable = [".env", "a.secret", "README.md"].filter((name) => mayRead!(join(fixture.workspace, name)));
    expect(readable).toEqual(["README.md"]);
  });

  it.each([
    ["Read(src/{one/a,two}/x.txt)", "src/one/a/x.txt"],
    ["Read(src/{one/a,two}/x.txt)", "src/two/x.txt"],
    ["Read(src/[ab]/x.txt)", "src/a/x.txt"],
    ["Read(src/[ab]/x.txt)", "src/[ab]/x.txt"],
    ["Read(SRC/one)", "src/one/deep/x.txt"],
    ["Read(src/one)", "Src/One"],
    ["Read(src／one/＊)", "src/one/x.txt"],
    ["Read(~/**/x.txt)", "~/deep/x.txt"],
    ["Read(/**)", "src/x.txt"],
  ])("%s hides files in any folder: %s", async (rule, name) => {
    const { mayRead } = await decided([["Read", "."]], { deny: [rule] });
    const path = name.startsWith("~/") ? join(fixture.home, name.slice(2)) : join(fixture.workspace, name);
    expect(mayRead!(path)).toBe(false);
  });

  it("a permission decision keeps all reasons while they are few", async () => {
    const reasonsOf = async (count: number) => {
      const line = Array.from({ length: count }, (_, index) => `tool-${index}`).join("; ");
      return (await decided([["Shell", line]])).reasons;
    };
    expect((await reasonsOf(8)).at(-1)).toContain("tool-7");
    expect(await reasonsOf(9)).toHaveLength(8);
    expect(
      (
        await decided(
          [
            ["Shell", "x"],
            ["Shell", "x"],
          ],
          { interactive: false },
        )
      ).reasons,
    ).toHaveLength(2);
    expect((await decided([["Shell", "x"]], { interactive: false })).reasons).toContain(nobodyToAsk);
    expect((await decided([["Read", "a.secret"]], { interactive: false })).reasons).not.toContain(nobodyToAsk);
  });

  it("the policy recognises tool calls that change nothing as read-only", () => {
    const kinds = ["Shell", "Read", "Write", "Delete", "WebFetch", "WebSearch", "Mcp"] as const;
    const looking = kinds.filter((kind) => onlyLooks({ kind, target: "x" }));
    expect(looking).toEqual(["Read", "WebFetch", "WebSearch"]);
  });
});

describe("path decisions", () => {
  it.each(["Read", "Write", "Delete"] as const)("a path hidden by an ignore file: %s", async (kind) => {
    expect(await brief([kind, "a.secret"], force)).toBe("deny");
  });

  it("the policy allows reading a path outside the workspace if a rule covers it", async () => {
    const outside = join(fixture.base, "outside.txt");
    expect(await brief(["Read", "out"], { allow: [`Read(${outside})`] })).toBe("allow");
    expect(await brief(["Read", "out"], { ...force, allow: [`Read(${outside})`] })).toBe("allow");
    expect(await brief(["Read", "out"], { allow: ["Read(/nowhere)"], deny: ["Read(/other)"] })).toBe("ask");
    expect(await brief(["Read", "out"], { allow: [`Write(${outside})`] })).toBe("ask");
    expect(await brief(["Read", "out"], { deny: [`Write(${outside})`] })).toBe("ask");
    expect(await brief(["Read", "out"], { allow: [`Read(${outside})`], deny: ["Read(../*)"] })).toBe("deny");
    expect(await brief(["Read", "out"], force)).toBe("allowf");
  });

  it("the policy allows writing a path outside the workspace if a rule covers it", async () => {
    const outside = join(fixture.base, "outside.txt");
    for (const kind of ["Write", "Delete"] as const) {
      expect(await brief([kind, outside], { allow: [`Write(${outside})`] })).toBe("allow");
      expect(await brief([kind, outside], { allow: ["Write(/nowhere)"] })).toBe("ask");
      expect(await brief([kind, outside], { deny: [`Read(${outside})`] })).toBe("ask");
      expect(await brief([kind, outside], { ...force, deny: [`Write(${outside})`] })).toBe("deny");
      expect(await brief([kind, outside], force)).toBe("allowf");
    }
  });

  it("the policy asks about a link out of the workspace if commands run in the sandbox", async () => {
    expect(await brief(["Write", "out"], { ...force, sandbox: "all" })).toBe("ask");
    expect(await brief(["Write", "out"], { ...force, sandbox: "unlisted" })).toBe("allowf");
    expect(await brief(["Write", "../outside.txt"], { ...force, sandbox: "all" })).toBe("allowf");
    expect(await brief(["Write", "README.md"], { ...force, sandbox: "all" })).toBe("allowf");
    expect(await brief(["Write", "out"], { ...force, sandbox: "all", allow: ["Write(../*)"] })).toBe("allow");
  });

  it("the policy lets only a person delete a folder that contains settings", async () => {
    const everything = { allow: ["Write(**)"] };
    expect(await brief(["Delete", "sub"], everything)).toBe("ask!");
    expect(await brief(["Delete", "empty"], everything)).toBe("allow");
    expect(await brief(["Delete", "empty"])).toBe("ask");
    expect(await brief(["Delete", "."], force)).toBe("ask!");
    expect(await brief(["Delete", ".."], force)).toBe("deny");
    expect(await brief(["Delete", "empty"], { ...force, roots: [join(fixture.workspace, "empty/deep")] })).toBe("ask!");
    expect(await brief(["Write", "sub/a"], everything)).toBe("allow");
  });

  it("the policy resolves .. after a link like the kernel does", async () => {
    for (const path of [`${fixture.workspace}/house/../.bashrc`, "house/../.bashrc", "~+/house/../.bashrc"])
      expect([path, await brief(["Shell", `tee ${path}`], force)]).toEqual([path, "ask!"]);
    expect(await brief(["Write", `${fixture.workspace}/house/../.bashrc`], force)).toBe("ask!");
  });

  it("the policy refuses kernel paths (/proc, /sys) under either name", async () => {
    for (const path of ["/dev/stdin", "/proc/self/fd/0", "/sys/x"])
      expect(await brief(["Read", path], force)).toBe("deny");
  });
});

describe("command decisions", () => {
  it("the policy refuses a NUL character in a command or in its folder", async () => {
    expect(await brief(["Shell", "ls \0"], force)).toBe("deny");
    expect(await brief({ kind: "Shell", target: "ls", cwd: "a\0b" }, force)).toBe("deny");
    expect(await brief({ kind: "Shell", target: "ls", cwd: "src" }, { allow: ["Shell(ls)"] })).toBe("allow");
    expect(await brief({ kind: "Shell", target: "ls", cwd: ".." }, { allow: ["Shell(ls)"] })).toBe("ask");
  });

  it("the policy asks about a command that may read denied files, even with --force", async () => {
    const secrets = { ...force, deny: ["Read(.env)"] };
    expect(await brief(["Shell", "x=$(curl a.test); cat $x"], secrets)).toBe("ask!");
    expect(await brief(["Shell", "cat README.md"], secrets)).toBe("allowf");
    expect(await brief(["Shell", "x=$(curl a.test); cat $x"], force)).toBe("allowf");
  });

  it("the policy asks about a command that it cannot compare with deny rules", async () => {
    for (const mode of ["default", "force"] as const)
      for (const sandbox of ["off", "unlisted", "all"] as const)
        expect(await brief(["Shell", "$X y"], { mode, sandbox, deny: ["Shell(rm)"] })).toBe("ask!");
    expect(await brief(["Shell", "$X y"], { ...force, allow: ["Shell(rm)"] })).toBe("allowf");
    expect(await brief(["Shell", "$X y"], { ...force, deny: ["Read(rm)"] })).toBe("allowf");
    expect(await brief(["Shell", "$X y"])).toBe("ask");
    expect(await brief(["Shell", "$X y"], { allow: ["Shell(**)"] })).toBe("ask");
  });

  it("a decision says whether a command runs confined or only because of --force", async () => {
    expect(await brief(["Shell", "make"], { sandbox: "unlisted" })).toBe("allow+");
    expect(await brief(["Shell", "make"], { ...force, sandbox: "all" })).toBe("allow+f");
    expect(await brief(["Shell", "make"], { ...force, sandbox: "unlisted" })).toBe("allowf");
    expect(await brief(["Shell", "make"], { ...force, sandbox: "all", allow: ["Shell(make)"] })).toBe("allow");
    expect(await brief(["Shell", "sudo make"], { sandbox: "unlisted" })).toBe("allow!+");
    expect(await brief(["Shell", "sudo make"])).toBe("ask!");
    expect(await brief(["Shell", "make"])).toBe("ask");
  });
});

describe("address decisions", () => {
  const page = "https://example.com/x";

  it.each(["WebFetch", "WebSearch"] as const)(
    "the permission decision about a web address comes from %s",
    async (kind) => {
      expect(await brief([kind, page])).toBe("ask");
      expect(await brief([kind, page], force)).toBe("allowf");
      expect(await brief([kind, page], { allow: ["WebFetch(example.com)"] })).toBe("allow");
      expect(await brief([kind, page], { ...force, deny: ["WebFetch(example.com)"] })).toBe("deny");
    },
  );
});

describe("MCP tool decisions", () => {
  const changed: Need = { kind: "Mcp", target: "a:b", changed: true };

  it("the rules for an MCP tool decide about its calls", async () => {
    expect(await brief(["Mcp", "a:b"])).toBe("ask");
    expect(await brief(["Mcp", "a:b"], { allow: ["Mcp(a:*)"] })).toBe("allow");
    expect(await brief(["Mcp", "a:b"], { allow: ["Mcp(c:*)"], deny: ["Mcp(d:*)"] })).toBe("ask");
    expect(await brief(["Mcp", "a:b"], { ...force, deny: ["Mcp(a:*)"] })).toBe("deny");
    expect(await brief(["Mcp", "a:b"], { allow: ["Mcp(a:*)"], deny: ["Mcp(a:b)"] })).toBe("deny");
    expect(await brief(["Mcp", "a:b"], force)).toBe("allowf");
    expect(await brief(["Mcp", "a:b"], { allow: ["Shell(a:*)"], deny: ["Shell(a:b)"] })).toBe("ask");
  });

  it("only a person may allow an MCP tool whose description changed", async () => {
    expect(await brief(changed, { ...force, allow: ["Mcp(a:*)"] })).toBe("ask!");
    expect(await brief(changed, { deny: ["Mcp(a:*)"] })).toBe("deny");
    expect(await brief(changed, { mode: "plan" })).toBe("deny");
  });
});

describe("plan and ask mode", () => {
  it.each(["plan", "ask"] as const)("%s mode allows reading and denies or asks about everything else", async (mode) => {
    const everything = { mode, allow: ["Shell(**)", "Write(**)", "Mcp(*:*)", "Read(/**)"] };
    expect(await brief(["Read", "README.md"], everything)).toBe("allow");
    expect(await brief(["Read", "out"], everything)).toBe("allow");
    expect(await brief(["Read", "out"], { mode })).toBe("ask");
    for (const asked of [
      ["Write", "a"],
      ["Delete", "a"],
      ["Shell", "ls"],
      ["Mcp", "a:b"],
    ] as const)
      expect(await brief(asked, everything)).toBe("deny");
  });
});
