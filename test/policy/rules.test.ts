import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { coversUrl } from "../../src/policy/network.ts";
import {
  allowsCommand,
  coversFile,
  coversMcp,
  coversPath,
  deniesCommand,
  nameOf,
  namesPath,
  parseRule,
  type Rule,
  rulesFor,
} from "../../src/policy/rules.ts";
import { makeFixture, removeFixture } from "./fixture.ts";

function rule(text: string, verdict: Rule["verdict"] = "allow"): Rule {
  const parsed = parseRule(text, { verdict, scope: "user", source: "f" });
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed.rule;
}

function words(command: string): { name: string; args: string[] } {
  const [name, ...args] = command.split(" ");
  return { name: name!, args };
}

describe("parseRule", () => {
  it.each([
    ["shell(ls)", "Shell(ls)"],
    ["Bash(npm run build)", "Shell(npm run build)"],
    ["Edit(src/**)", "Write(src/**)"],
    ["Shel(ls)", "Shell(ls)"],
    ["Shell(rm", "Shell(rm)"],
    ["rm -rf", "Shell(rm -rf)"],
    ["Shell", "Shell(**)"],
    ["WebFetch(https://example.com/x)", "WebFetch(example.com)"],
    ["Mcp(linear)", "Mcp(linear:*)"],
  ])("the misspelt rule %s suggests %s", (text, meant) => {
    expect(parseRule(text, { verdict: "deny", scope: "user", source: "f" })).toEqual({
      problem: expect.stringContaining(`did you mean ${meant}?`),
    });
  });

  it.each([
    "",
    "()",
    "Shell()",
    "Foo(x)",
    "Shell(a\u0000b)",
    `Read(${"x".repeat(3000)})`,
    "Mcp(:x)",
    "Shell(rm))",
    "Shell((rm)",
    "Shell(rm)(ls)",
  ])("the rule %j is refused", (text) => {
    expect(parseRule(text, { verdict: "deny", scope: "user", source: "f" })).toHaveProperty("problem");
  });

  it("a permission rule keeps parentheses inside its pattern", () => {
    expect(rule("Write(app/(group)/page.tsx)").pattern).toBe("app/(group)/page.tsx");
  });
});

describe("Shell rules", () => {
  it.each([
    ["Shell(git)", "git push -f", true],
    ["Shell(npm install)", "npm install x", true],
    ["Shell(npm install)", "npm install-test", false],
    ["Shell(npm install)", "npm --prefix x install", false],
    ["Shell(curl:*)", "curl -s x", true],
    ["Shell(curl:*)", "curl", true],
    ["Shell(npm:run *)", "npm run build", true],
    ["Shell(npm:run *)", "npm install", false],
    ["Shell(npm run:*)", "npm run build", true],
    ["Shell(npm run build:prod)", "npm run build:prod", true],
    ["Shell(npm run build:prod)", "npm run build", false],
    ["Shell(npm run)", "npm", false],
    ["Shell(npm*)", "npmx y", true],
    ["Shell(ls)", "LS", false],
    ["Shell(**)", "anything at all", true],
    ["Shell(*:*)", "anything at all", true],
  ])("the rule %s allows the command %s: %s", (text, command, expected) => {
    expect(allowsCommand(rule(text), words(command))).toBe(expected);
  });

  it.each([
    ["Shell(rm)", "/bin/rm x", true],
    ["Shell(rm)", "RM x", true],
    ["Shell(rm)", "rmdir x", false],
    ["Shell(/usr/bin/rm)", "rm x", true],
    ["Shell(rm)", "/bin/RM x", true],
    ["Shell(rm)", "rm.exe x", true],
    ["Shell(setup.exe)", "SETUP.exe /quiet", true],
    ["Shell(setup.exe)", "setups /quiet", false],
    ["Shell(git push)", "git -C dir push", true],
    ["Shell(git push)", "git", false],
    ["Shell(git push)", "git - push", false],
    ["Shell(git push)", "git --no-pager push --force", true],
    ["Shell(git push)", "git commit push", false],
    ["Shell(git push)", "git push-x", false],
    ["Shell(rm -rf)", "rm -fr x", true],
    ["Shell(rm -rf)", "rm -r -f x", true],
    ["Shell(rm -rf)", "rm x", false],
    ["Shell(rm -rf)", "rm -r x", false],
    ["Shell(rm -rf)", "rm -f x", false],
    ["Shell(curl --output)", "curl -s --output x y", true],
    ["Shell(curl --output)", "curl -s --output=x y", true],
    ["Shell(curl --output)", "curl --output-dir=x y", false],
    ["Shell(curl --output)", "curl x", false],
    ["Shell(ls --si)", "ls -si", false],
    ["Shell(git:push*)", "git push origin", true],
    ["Shell(git:push*)", "git --no-pager push origin", true],
    ["Shell(git:push*)", "git commit push", false],
    ["Shell(git:push*)", "git -C dir push origin", true],
    ["Shell(git:push*)", "git pull", false],
    ["Shell(*)", "x", true],
  ])("the rule %s denies the command %s: %s", (text, command, expected) => {
    expect(deniesCommand(rule(text, "deny"), words(command))).toBe(expected);
  });
});

describe("other rules", () => {
  const place = { workspace: "/nowhere/ws", home: "/nowhere/home" };
  const path = (real: string, given = real) => ({ given, real });

  it("permission rules match paths of workspace, home and system", () => {
    expect(coversPath(rule("Write(src/**)"), path("/nowhere/ws/src/a"), place)).toBe(true);
    expect(coversPath(rule("Write(src/)"), path("/nowhere/ws/src/a"), place)).toBe(true);
    expect(coversPath(rule("Write(src)"), path("/nowhere/ws/src/a"), place)).toBe(false);
    expect(coversPath(rule("Write(src)"), path("/nowhere/ws/src-evil"), place)).toBe(false);
    expect(coversPath(rule("Write(src)"), path("/nowhere/ws/src"), place)).toBe(true);
    expect(coversPath(rule("Write(**)"), path("/nowhere/ws-evil/a"), place)).toBe(false);
    expect(coversPath(rule("Read(/etc/*)"), path("/etc/hosts"), place)).toBe(true);
    expect(coversPath(rule("Read(~)"), path("/nowhere/home"), place)).toBe(true);
    expect(coversPath(rule("Read(~/notes/*)"), path("/nowhere/home/notes/a"), place)).toBe(true);
    expect(coversPath(rule("Read(../library/**)"), path("/nowhere/library/a"), place)).toBe(true);
    expect(coversPath(rule("Read(src)", "deny"), path("/nowhere/ws/src/a/b"), place)).toBe(true);
    expect(coversPath(rule("Read(.env*)", "deny"), path("/x", "/nowhere/ws/.ENV.local"), place)).toBe(true);
    expect(coversPath(rule("Read(.env[ab])", "deny"), path("/nowhere/ws/.enva"), place)).toBe(true);
    expect(coversPath(rule("Read(.env[ab])", "deny"), path("/nowhere/ws/.ENVB"), place)).toBe(true);
    expect(coversPath(rule("Read(.env[ab])", "deny"), path("/nowhere/ws/.env[ab]"), place)).toBe(true);
    expect(coversPath(rule("Read(.env[ab])", "deny"), path("/nowhere/ws/.envc"), place)).toBe(false);
    // What is allowed is where the path leads, not what it is called.
    expect(coversPath(rule("Read(a)"), path("/x", "/nowhere/ws/a"), place)).toBe(false);
  });

  it("permission rules follow links and match files under all of their names", () => {
    const fixture = makeFixture();
    const { base, workspace } = fixture;
    try {
      mkdirSync(join(base, "far/deep"), { recursive: true });
      writeFileSync(join(base, "far/deep/a.key"), "");
      writeFileSync(join(base, "far/plain.txt"), "");
      symlinkSync("../far", join(workspace, "near"));
      linkSync(join(base, "far/deep/a.key"), join(workspace, "second"));
      linkSync(join(base, "far/plain.txt"), join(workspace, "third"));
      const here = { workspace, home: fixture.home };
      const far = path(join(base, "far/deep/a.key"));
      const second = path(join(workspace, "second"));
      for (const verdict of ["allow", "deny"] as const) {
        for (const pattern of ["near/**", "near/deep/a.key", "near/**/*.key", "/**/*.key"])
          expect([pattern, coversPath(rule(`Read(${pattern})`, verdict), far, here)]).toEqual([pattern, true]);
        expect(coversPath(rule("Read(near/**/*.txt)", verdict), far, here)).toBe(false);
        expect(coversPath(rule("Read(near/**)", verdict), second, here)).toBe(false);
      }
      // By the name that the call gave, too.
      expect(coversPath(rule("Read(near/**)", "deny"), path("/x", join(workspace, "near/a")), here)).toBe(true);
      const covers = (text: string, file: string, verdict: "allow" | "deny" = "deny") =>
        coversFile(rule(text, verdict), path(join(workspace, file)), here);
      expect(covers("Read(../far/deep/a.key)", "second")).toBe(true);
      expect(covers("Read(../far/deep/*.key)", "second")).toBe(true);
      expect(covers("Read(second)", "second")).toBe(true);
      expect(covers("Read(../far/deep/*.key)", "README.md")).toBe(false);
      expect(covers("Read(../far/*.key)", "third")).toBe(false);
      expect(covers("Read(../far/deep/a.key)", "second", "allow")).toBe(false);
      expect(covers("Read(second)", "second", "allow")).toBe(true);
    } finally {
      removeFixture(fixture);
    }
  });

  it("a rule names a single path only without wildcards and links", () => {
    const names = (text: string, given: string, real = given) =>
      namesPath(rule(text), path(`/nowhere/ws/${real}`, `/nowhere/ws/${given}`), place);
    expect(names("Write(.vscode/a.json)", ".vscode/a.json")).toBe(true);
    expect(names("Write(.vscode/a.json)", ".vscode/b.json")).toBe(false);
    expect(names("Write(.vscode/a.json)", ".vscode/a.json", "x")).toBe(false);
    expect(names("Write(.vscode/a.json)", "x", ".vscode/a.json")).toBe(false);
    // A file may be called like a pattern: it is a pattern all the same.
    expect(names("Write(.vscode/*)", ".vscode/*")).toBe(false);
    expect(names("Write(.vscode/)", ".vscode/**")).toBe(false);
  });

  it("each permission rule records the file in which it is defined", () => {
    expect(nameOf(rule("Read(a)"))).toContain("f");
    expect(nameOf({ ...rule("Read(a)"), source: "built in" })).not.toContain("in built in");
  });

  it("permission rules are sorted by kind and verdict once per list", () => {
    const rules = [rule("Read(a)"), rule("Read(b)", "deny"), rule("Write(c)"), rule("Write(d)", "deny")];
    const texts = (...given: [Rule["kind"], Rule["verdict"]]) => rulesFor(rules, ...given).map(({ text }) => text);
    expect(texts("Read", "allow")).toEqual(["Read(a)"]);
    expect(texts("Read", "deny")).toEqual(["Read(b)"]);
    expect(texts("Write", "deny")).toEqual(["Write(d)"]);
    expect(texts("Shell", "deny")).toEqual([]);
    // What is made of such a list is kept with it.
    expect(rulesFor(rules, "Read", "allow")).toBe(rulesFor(rules, "Read", "allow"));
  });

  it.each([
    ["example.com", "https://example.com/x", true],
    ["example.com", "https://EXAMPLE.com./x", true],
    ["example.com", "https://a.example.com", false],
    ["*.example.com", "https://a.b.example.com", true],
    ["*.example.com", "https://example.com", false],
    ["*.example.com", "https://evilexample.com", false],
    ["*", "http://any.test", true],
    ["localhost:3000", "http://localhost:3000/", true],
    ["localhost:3000", "http://localhost:3001/", false],
  ])("the rule WebFetch(%s) matches %s: %s", (pattern, address, expected) => {
    expect(coversUrl(rule(`WebFetch(${pattern})`), new URL(address))).toBe(expected);
  });

  it("MCP rules match servers and tools by name", () => {
    expect(coversMcp(rule("Mcp(linear:get_*)"), "linear:get_issue")).toBe(true);
    expect(coversMcp(rule("Mcp(linear:get_*)"), "linear2:get_issue")).toBe(false);
    expect(coversMcp(rule("Mcp(Linear:*)"), "linear:x")).toBe(false);
    expect(coversMcp(rule("Mcp(Linear:*)", "deny"), "linear:x")).toBe(true);
    expect(coversMcp({ ...rule("Mcp(Linear:*)"), fold: true }, "linear:x")).toBe(true);
    expect(coversMcp(rule("Mcp(*:*)"), "a:b:c")).toBe(true);
    expect(coversMcp(rule("Mcp(*)"), "a:b")).toBe(true);
    expect(coversMcp(rule("Mcp(linear:*)"), "linear")).toBe(true);
    expect(coversMcp(rule("Mcp({linear,jira}:get)"), "jira:get")).toBe(true);
    // The first colon ends the name of the server.
    expect(coversMcp(rule("Mcp(*:read)"), "files:exec:read")).toBe(false);
  });
});
