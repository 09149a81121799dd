import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check, parseNeed } from "../../src/policy/check.ts";
import { decide, type Situation } from "../../src/policy/decide.ts";
import { type ExplainedCommand, explain } from "../../src/policy/explain.ts";
import type { Need } from "../../src/policy/need.ts";
import { commandPositions } from "../../src/policy/parse/command-position.ts";
import { parseShell } from "../../src/policy/parse/shell.ts";
import { remedyFor } from "../../src/policy/remedy.ts";
import { capitalize, showText } from "../../src/policy/show.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

type ShellCase = { id: string; config: { allow?: string[]; deny?: string[] }; input: { command: string } };

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

const rules = () => rulesOf({ allow: ["Shell(ls)", "Shell(git)", "Shell(cd)", "Write(out/**)"], deny: ["Shell(rm)"] });

function situation(changes: Partial<Situation> = {}): Situation {
  return situationOf(fixture, { rules: rules(), ...changes });
}

/** `verdict command @where, where > child > child` */
function outline({ verdict, command, where, redirects, runs }: ExplainedCommand): unknown[] {
  const at = where.length > 0 ? ` @${where.join(", ")}` : "";
  const to = redirects.length > 0 ? ` {${redirects.join(" ")}}` : "";
  return [`${verdict} ${command}${at}${to}`, ...runs.map(outline)];
}

async function tree(command: string, changes: Partial<Situation> = {}): Promise<unknown[]> {
  const { commands } = await explain({ kind: "Shell", target: command }, situation(changes));
  return commands!.map(outline);
}

describe("permissions explain", () => {
  it("explain shows every simple command with its position", async () => {
    expect(await tree("cd src && ls -l | wc -l || ls; git status &")).toEqual([
      ["allow cd src"],
      ["allow ls -l @after &&"],
      ["ask wc -l @after &&, after |"],
      ["allow ls @after ||"],
      ["allow git status @in the background"],
    ]);
    expect(await tree("for x in 1; do ls; done; if ls; then (ls); fi; f() { ls; }; while ls; do rm x; done")).toEqual([
      ["allow ls @in a loop"],
      ["allow ls @in an if"],
      ["allow ls @in an if, in a subshell"],
      ["allow ls @in the function f, in a group"],
      ["allow ls @in a loop"],
      ["deny rm x @in a loop"],
    ]);
  });

  it("explain descends into wrappers, scripts and substitutions", async () => {
    expect(await tree("sudo env A=1 nohup ls")).toEqual([
      [
        "ask sudo env A=1 nohup ls",
        ["ask env A=1 nohup ls @run by sudo", ["allow nohup ls @run by env", ["allow ls @run by nohup"]]],
      ],
    ]);
    expect(await tree("bash -c 'ls; rm x'")).toEqual([
      ["ask bash -c 'ls; rm x'", ["allow ls @run by bash"], ["deny rm x @run by bash"]],
    ]);
    expect(await tree("echo $(ls `rm x`) <(git log)")).toEqual([
      [
        "ask echo $(ls `rm x`) <(git log)",
        ["allow ls `rm x` @inside $( )", ["deny rm x @inside backticks"]],
        ["allow git log @inside <( )"],
      ],
    ]);
    expect(await tree("echo $(sudo ls > out/a)")).toEqual([
      ["ask echo $(sudo ls > out/a)", ["ask sudo ls @inside $( ) {> out/a}", ["allow ls @run by sudo"]]],
    ]);
    expect(await tree("GIT_PAGER='rm x' git log")).toEqual([["deny rm x @named by a variable"], ["allow git log"]]);
    expect(await tree("find . -exec rm {} +")).toEqual([["ask find . -exec rm {} +", ["deny rm {} @run by find"]]]);
  });

  it("explain shows commands as written", async () => {
    expect(await tree("ls {a,b}; (ls)")).toEqual([["allow ls {a,b}"], ["allow ls @in a subshell"]]);
    expect(await tree("(ls)")).toEqual([["allow ls @in a subshell"]]);
    expect(await tree("ls <<E 3<<< x 2> err &> all 1>&2 >&- 0< in\nhi\nE")).toEqual([
      ["allow ls {<< 3<<< x 2> err &> all >&2 >&- < in}"],
    ]);
    const { commands } = await explain({ kind: "Shell", target: "ls 'a b'; $X y; l? y" }, situation());
    expect(commands!.map(({ program }) => program)).toEqual([["ls", "a b"], undefined, undefined]);
  });

  it("explain judges each command separately", async () => {
    const allow = (...texts: string[]) => ({ rules: rulesOf({ allow: texts }) });
    expect(await tree("courser permissions allow x", allow("Shell(courser)"))).toEqual([
      ["ask courser permissions allow x"],
    ]);
    expect(await tree("sudo ls", allow("Shell(sudo)", "Shell(ls)"))).toEqual([
      ["ask sudo ls", ["allow ls @run by sudo"]],
    ]);
    expect(await tree("npx vitest", allow("Shell(npx vitest)"))).toEqual([
      ["allow npx vitest", ["allow vitest @run by npx"]],
    ]);
    expect(await tree("npx vitest", allow("Shell(npx)"))).toEqual([["allow npx vitest", ["ask vitest @run by npx"]]]);
  });

  it("explain shows redirects, writes and parts that start nothing", async () => {
    expect(await tree("ls > out/a 2>&1 < x; y=1; > z")).toEqual([
      ["allow ls {> out/a 2>&1 < x}"],
      ["ask y=1"],
      ["allow > z {> z}"],
    ]);
    // What stands inside a word changes nothing outside it.
    expect(await tree("echo $(y=1)")).toEqual([["ask echo $(y=1)"]]);
    const { writes } = await explain({ kind: "Shell", target: "ls > out/a; tee .envrc > $X" }, situation());
    expect(writes).toMatchObject([
      { given: "out/a", real: join(fixture.workspace, "out/a"), inWorkspace: true, rule: { text: "Write(out/**)" } },
      { given: "$X" },
      { given: ".envrc", floor: expect.stringContaining("is protected") },
    ]);
  });

  it("explain names the deciding rules and gives decide's answer", async () => {
    const need: Need = { kind: "Shell", target: "git status && rm x" };
    const { verdict, reasons, rules: deciding } = await explain(need, situation());
    expect(deciding.map(({ text }) => text)).toEqual(["Shell(rm)", "Shell(git)"]);
    const texts = async (target: string) =>
      (await explain({ kind: "Shell", target }, situation())).rules.map(({ text }) => text);
    expect(await texts("bash -c 'git log; rm x'")).toEqual(["Shell(rm)", "Shell(git)"]);
    expect(await texts("ls > out/a")).toEqual(["Shell(ls)", "Write(out/**)"]);
    // The pager is judged with the variable that names it.
    expect(await texts("GIT_PAGER=ls git log")).toEqual(["Shell(git)"]);
    expect(await texts("git -c core.pager=ls log")).toEqual([]);
    expect({ verdict, reasons }).toEqual({ verdict: "deny", reasons: (await decide([need], situation())).reasons });
  });

  it("explain names the parts of a command that are only known when it runs", async () => {
    const { unseen, commands } = await explain({ kind: "Shell", target: "$X y | sh" }, situation());
    expect(unseen).toHaveLength(2);
    expect(commands!.map(({ verdict }) => verdict)).toEqual(["ask", "ask"]);
  });

  it("permissions explain also judges paths, addresses and tools", async () => {
    writeFileSync(join(fixture.workspace, "a.txt"), "");
    expect(await explain({ kind: "Write", target: "out/../.vscode/x" }, situation())).toMatchObject({
      verdict: "ask",
      personOnly: true,
      path: { real: join(fixture.workspace, ".vscode/x"), inWorkspace: true, floor: expect.any(String) },
      rules: [],
    });
    expect(await explain({ kind: "Write", target: "out/x" }, situation())).toMatchObject({
      verdict: "allow",
      rules: [{ text: "Write(out/**)" }],
    });
    const files = rulesOf({ allow: ["Read(../**)", "Write(../**)"] });
    for (const kind of ["Read", "Write"] as const)
      expect(await explain({ kind, target: "../outside.txt" }, situation({ rules: files }))).toMatchObject({
        rules: [{ kind }],
        path: { inWorkspace: false },
      });
    expect((await explain({ kind: "Read", target: ".envrc" }, situation())).path).not.toHaveProperty("floor");
    expect(await explain({ kind: "Delete", target: ".envrc" }, situation())).toMatchObject({
      path: { floor: expect.any(String) },
    });
    const web = rulesOf({
      allow: ["WebFetch(*)", "WebFetch(other.test)", "Mcp(a:*)", "Mcp(b:*)"],
      deny: ["WebFetch(evil.test)"],
    });
    expect(await explain({ kind: "WebFetch", target: "no address" }, situation({ rules: web }))).toMatchObject({
      verdict: "deny",
      rules: [],
    });
    expect(await explain({ kind: "WebFetch", target: "https://evil.test/x" }, situation({ rules: web }))).toMatchObject(
      {
        verdict: "deny",
        rules: [{ verdict: "deny" }, { verdict: "allow" }],
      },
    );
    expect(await explain({ kind: "Mcp", target: "a:b" }, situation({ rules: web }))).toMatchObject({
      verdict: "allow",
      rules: [{ text: "Mcp(a:*)" }],
    });
    expect(await explain({ kind: "Read", target: "a\0b" }, situation())).toMatchObject({ verdict: "deny", rules: [] });
    for (const need of [{ target: "ls\0" }, { target: "ls", cwd: "a\0b" }]) {
      const explanation = await explain({ kind: "Shell", ...need }, situation());
      expect(explanation).toMatchObject({ verdict: "deny", rules: [] });
      expect(explanation).not.toHaveProperty("commands");
    }
  });

  it("explain finds as many commands in a line as the parser does", () => {
    for (const source of [
      "a $(b `c`) | d <<E\n$(e)\nE\nf",
      "x=$(a) b; case $(c) in d) e;; esac",
      "a > $(b) < <(c); { d; } 2> $(e)",
      "[[ $(a) == $(b) ]] && (( $(c) + 1 ))",
      "for i in $(a); do b; done > $(c)",
      "f() { a; }; coproc b; select x in $(c); do d; done",
      'a "$(b "$(c)")" ${x:-$(d)} $((1 + $(e)))',
    ]) {
      expect([source, commandPositions(source).length]).toEqual([source, parseShell(source).commands.length]);
    }
  });

  it("permissions explain agrees with the permission decision about every case", async () => {
    const cases = ["shell", "benign"].flatMap((group) =>
      readFileSync(join(import.meta.dirname, `../cases/security-${group}.jsonl`), "utf8")
        .split("\n")
        .filter(Boolean),
    );
    const wrong: string[] = [];
    for (const { id, config, input } of cases.map((line) => JSON.parse(line) as ShellCase)) {
      for (const mode of ["default", "force"] as const) {
        const place = situationOf(fixture, { mode, rules: rulesOf(config) });
        const need: Need = { kind: "Shell", target: input.command };
        const { verdict, commands = [] } = await explain(need, place);
        const parts: string[] = [];
        const collect = (node: ExplainedCommand): void => {
          parts.push(node.verdict);
          node.runs.forEach(collect);
        };
        commands.forEach(collect);
        if (verdict !== (await decide([need], place)).verdict) wrong.push(`${id}: another answer`);
        if (verdict !== "deny" && parts.includes("deny")) wrong.push(`${id}: a part is denied`);
        if (verdict === "allow" && mode === "default" && parts.includes("ask"))
          wrong.push(`${id}: a part is not covered`);
      }
    }
    expect(cases.length).toBeGreaterThan(150);
    expect(wrong).toEqual([]);
  });

  it("permissions explain accepts any text as a command", async () => {
    for (const target of ["", "((", "a\0b", 'a "open', "$(".repeat(300), "x".repeat(200_000), "{ a; ".repeat(200)])
      expect((await explain({ kind: "Shell", target }, situation())).verdict).toMatch(/^(allow|ask|deny)$/);
  });
});

describe("permissions check", () => {
  it.each([
    ["Shell: git push -f", "Shell", "git push -f"],
    ["shell:ls", "Shell", "ls"],
    [" Read : ../a b ", "Read", "../a b"],
    ["WebFetch: https://a.test:8080/x", "WebFetch", "https://a.test:8080/x"],
    ["Mcp: server:tool", "Mcp", "server:tool"],
    ["Delete: a", "Delete", "a"],
    ["Write: a", "Write", "a"],
    ["WebSearch: https://a.test", "WebSearch", "https://a.test"],
  ])("check accepts %j", (text, kind, target) => {
    expect(parseNeed(text)).toEqual({ need: { kind, target } });
  });

  it.each(["", "ls", "Shell:", "Shel: ls", "Shell ls"])("permissions check refuses %j", (text) => {
    expect(parseNeed(text)).toHaveProperty("problem");
  });

  it.each([
    ["Shel: ls", "Shell: "],
    ["Raed: a", "Read: "],
    ["Mcp:", "Mcp: server:tool"],
    ["mpc: a:b", "Mcp: server:tool"],
    ["something else", "Shell: "],
  ])("permissions check of %j answers with %j", (text, example) => {
    expect(parseNeed(text)).toEqual({ problem: expect.stringContaining(`"${example}`) });
  });

  it("permissions check answers like the permission decision about a real call", async () => {
    expect(await check("Shell: rm x", situation())).toMatchObject({ verdict: "deny", need: { kind: "Shell" } });
    expect(await check({ kind: "Read", target: "README.md" }, situation())).toMatchObject({ verdict: "allow" });
    await expect(check("nothing", situation())).rejects.toThrow("is not a question");
  });
});

describe("suggested rules", () => {
  it.each([
    ["Shell", "make", ["Shell(make)"]],
    ["Shell", "git status && npm run build --watch", ["Shell(npm run)"]],
    ["Shell", "npm test | tee log", ["Shell(npm test)", "Shell(tee)"]],
    ["Shell", "git status > log", ["Write(log)"]],
    ["Shell", "docker ps -a; make", ["Shell(docker ps)", "Shell(make)"]],
    ["Shell", "ls", []],
    ["Shell", "rm x", []],
    ["Shell", "sudo make", []],
    ["Shell", "bash build.sh", []],
    ["Shell", "$X", []],
    ["Shell", "find . -delete", []],
    ["Shell", "echo > .envrc", []],
    ["Shell", "make ./x", ["Shell(make)"]],
    ["Shell", "npm --version", ["Shell(npm)"]],
    ["Shell", "l? y", []],
    ["Shell", "ls > $X", []],
    ["Shell", "ls > out/a; ls > log", ["Write(log)"]],
    ["Shell", "ls > 'a*'", []],
    ["Shell", "ls > ./~/a", ["Write({WS}/~/a)"]],
    ["Shell", "ls > ../log", ["Write({BASE}/log)"]],
    ["Shell", "cd x && make all && make", ["Shell(make)"]],
    ["Read", "../outside.txt", ["Read({BASE}/outside.txt)"]],
    ["Read", "../a)b", []],
    ["Read", "a\0b", []],
    ["Write", "../a", ["Write({BASE}/a)"]],
    ["Write", ".vscode/tasks.json", []],
    ["Write", "src/a", ["Write(src/a)"]],
    ["Delete", "README.md", ["Write(README.md)"]],
    ["WebFetch", "https://docs.test/a", ["WebFetch(docs.test)"]],
    ["WebFetch", "https://docs.test:8443/a", ["WebFetch(docs.test:8443)"]],
    ["WebFetch", "https://me@docs.test/", []],
    ["WebFetch", "http://127.0.0.1/", []],
    ["WebFetch", "no address", []],
    ["WebSearch", "https://search.test/", ["WebFetch(search.test)"]],
    ["Mcp", "a:b", ["Mcp(a:b)"]],
  ] as const)("the rules suggested for a refused %s call are the narrowest: %s", async (kind, target, expected) => {
    const texts = (await remedyFor({ kind, target }, situation(), "wide")).toSorted();
    const { base, workspace } = fixture;
    expect(texts).toEqual(expected.map((text) => text.replace("{WS}", workspace).replace("{BASE}", base)).toSorted());
  });

  it.each([
    ...["git status", "npm test", "pnpm test", "yarn test", "bun test", "cargo build", "go build", "docker ps"],
    ...["podman ps", "kubectl get", "helm list", "gh status", "pip list", "pip3 list", "poetry show", "uv sync"],
    ...["apt list", "brew list", "systemctl status", "terraform plan", "aws s3", "gcloud info", "az login"],
    ...["dotnet build", "composer show", "bundle list", "rails routes", "mvn test", "gradle test", "make test"],
  ])("the permission rule suggested for %s includes its subcommand", async (command) => {
    const need: Need = { kind: "Shell", target: `${command} x` };
    expect(await remedyFor(need, situation({ rules: [] }), "wide")).toEqual([`Shell(${command})`]);
  });

  it.each([
    ["node --test src/", ["Shell(node --test src/)"]],
    ["npm run build --watch", ["Shell(npm run build --watch)"]],
    ["docker ps -a; make", ["Shell(docker ps -a)", "Shell(make)"]],
    ["make 'a b'", ["Shell(make)"]], // no rule can spell a word with a blank
    ["make '*'", ["Shell(make)"]],
    ["make ''", ["Shell(make)"]],
    ["node x.js && make 'a b'", ["Shell(node x.js)", "Shell(make)"]],
  ])("%s: the narrowest suggested rule names every word", async (target, expected) => {
    expect(await remedyFor({ kind: "Shell", target }, situation())).toEqual(expected);
  });

  it("in a project without Write rules none is suggested, since it would make other edits ask", async () => {
    for (const need of [
      { kind: "Delete", target: "README.md" },
      { kind: "Shell", target: "ls > log" },
    ] as const)
      expect(await remedyFor(need, situation({ rules: rulesOf({ allow: ["Shell(ls)"] }) }))).toEqual([]);
  });

  it("a rule is suggested for a command that would otherwise run only in the sandbox", async () => {
    expect(await remedyFor({ kind: "Shell", target: "make" }, situation({ sandbox: "unlisted" }))).toEqual([
      "Shell(make)",
    ]);
  });
});

describe("commands shown in reasons", () => {
  it("a permission reason is on one line without invisible characters", () => {
    expect(showText("a\nb\u202e\u{1f600}")).toBe("a\\u{a}b\\u{202e}\\u{1f600}");
    expect(showText("a ~")).toBe("a ~");
  });

  it("permission reasons abbreviate long parts of a command", () => {
    expect(showText("x".repeat(100))).toBe("x".repeat(100));
    expect(showText("x".repeat(101))).toBe(`${"x".repeat(99)}…`);
  });

  it("a permission reason can be written as the beginning of a sentence", () => {
    expect(capitalize("it runs")).toBe("It runs");
    expect(capitalize("")).toBe("");
  });
});
