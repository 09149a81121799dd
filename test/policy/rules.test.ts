import { describe, expect, it } from "vitest";
import { compilePath, fold, matchesText, patternsMeet } from "../../src/policy/glob.ts";
import { coversUrl } from "../../src/policy/network.ts";
import { allowsCommand, coversMcp, coversPath, deniesCommand, parseRule, type Rule } from "../../src/policy/rules.ts";

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
  ])("%s: did you mean %s?", (text, meant) => {
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
  ])("refuses %j", (text) => {
    expect(parseRule(text, { verdict: "deny", scope: "user", source: "f" })).toHaveProperty("problem");
  });

  it("keeps parentheses inside", () => {
    expect(rule("Write(app/(group)/page.tsx)").pattern).toBe("app/(group)/page.tsx");
  });
});

describe("globs", () => {
  it.each([
    ["/w/**", "/w/a/b", true],
    ["/w/**", "/w", true],
    ["/w/*.ts", "/w/a.ts", true],
    ["/w/*.ts", "/w/a/b.ts", false],
    ["/w/**/*.key", "/w/a/b/c.key", true],
    ["/w/**/*.key", "/w/c.key", true],
    ["/w/a?c", "/w/abc", true],
    ["/w/a?c", "/w/a/c", false],
    ["/w/*.{ts,tsx}", "/w/a.tsx", true],
    ["/w/[id]/x", "/w/[id]/x", true],
    ["/w/[id]/x", "/w/i/x", false],
    ["/w/**/a/**/b", "/w/a/x/a/y/b", true],
    ["/w/a**b/c", "/w/axxb/c", true],
  ])("%s on %s: %s", (pattern, path, expected) => {
    expect(compilePath(pattern)(path)).toBe(expected);
  });

  it("folds case, width and invisible characters", () => {
    expect(fold(".cUr\u200bsor")).toBe(".cursor");
    expect(fold("\uff52\uff4d")).toBe("rm");
    expect(compilePath("/w/*.key", { fold: true })("/w/A.KEY")).toBe(true);
    expect(compilePath("/w/*.key")("/w/A.KEY")).toBe(false);
  });

  it("finds patterns that can mean the same", () => {
    expect(patternsMeet("/w/.e?v", "/w/.env*")).toBe(true);
    expect(patternsMeet("/w/*", "/w/**/a.key")).toBe(true);
    expect(patternsMeet("/w/.*", "/w/**/.env")).toBe(true);
    expect(patternsMeet("/w/*", "/w/.env*")).toBe(false);
    expect(patternsMeet("/w/.[de]nv", "/w/.env")).toBe(true);
    expect(patternsMeet("/w/src/*.ts", "/w/.env*")).toBe(false);
    expect(patternsMeet("/w/*", "/w/a/b")).toBe(false);
  });

  it("needs no more than the product of the lengths", () => {
    const time = (size: number) => {
      const started = performance.now();
      for (let round = 0; round < 20; round++) matchesText("*a".repeat(20) + "b", "a".repeat(size));
      return performance.now() - started;
    };
    time(2000);
    // Four times the text, four times the work; the catastrophic kind never comes back.
    expect(time(8000)).toBeLessThan(time(2000) * 40 + 50);
    const deep = "/x".repeat(2000);
    expect(compilePath("/**/a".repeat(100))(deep)).toBe(false);
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
    ["Shell(npm*)", "npmx y", true],
    ["Shell(ls)", "LS", false],
    ["Shell(**)", "anything at all", true],
  ])("%s allows %s: %s", (text, command, expected) => {
    expect(allowsCommand(rule(text), words(command))).toBe(expected);
  });

  it.each([
    ["Shell(rm)", "/bin/rm x", true],
    ["Shell(rm)", "RM x", true],
    ["Shell(rm)", "rmdir x", false],
    ["Shell(/usr/bin/rm)", "rm x", true],
    ["Shell(git push)", "git -C dir push", true],
    ["Shell(git push)", "git --no-pager push --force", true],
    ["Shell(git push)", "git commit push", false],
    ["Shell(git push)", "git push-x", false],
    ["Shell(rm -rf)", "rm -fr x", true],
    ["Shell(rm -rf)", "rm -r -f x", true],
    ["Shell(rm -rf)", "rm x", false],
    ["Shell(git:push*)", "git -C dir push origin", true],
    ["Shell(git:push*)", "git pull", false],
    ["Shell(*)", "x", true],
  ])("%s denies %s: %s", (text, command, expected) => {
    expect(deniesCommand(rule(text, "deny"), words(command))).toBe(expected);
  });
});

describe("other rules", () => {
  const place = { workspace: "/nowhere/ws", home: "/nowhere/home" };
  const path = (real: string, given = real) => ({ given, real });

  it("compares paths of the workspace, the home and the system", () => {
    expect(coversPath(rule("Write(src/**)"), path("/nowhere/ws/src/a"), place)).toBe(true);
    expect(coversPath(rule("Write(src/)"), path("/nowhere/ws/src/a"), place)).toBe(true);
    expect(coversPath(rule("Write(src)"), path("/nowhere/ws/src/a"), place)).toBe(false);
    expect(coversPath(rule("Write(**)"), path("/nowhere/ws-evil/a"), place)).toBe(false);
    expect(coversPath(rule("Read(~/notes/*)"), path("/nowhere/home/notes/a"), place)).toBe(true);
    expect(coversPath(rule("Read(../shared/**)"), path("/nowhere/shared/a"), place)).toBe(true);
    expect(coversPath(rule("Read(src)", "deny"), path("/nowhere/ws/src/a/b"), place)).toBe(true);
    expect(coversPath(rule("Read(.env*)", "deny"), path("/x", "/nowhere/ws/.ENV.local"), place)).toBe(true);
    // What is allowed is where the path leads, not what it is called.
    expect(coversPath(rule("Read(a)"), path("/x", "/nowhere/ws/a"), place)).toBe(false);
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
  ])("WebFetch(%s) on %s: %s", (pattern, address, expected) => {
    expect(coversUrl(rule(`WebFetch(${pattern})`), new URL(address))).toBe(expected);
  });

  it("compares servers and tools", () => {
    expect(coversMcp(rule("Mcp(linear:get_*)"), "linear:get_issue")).toBe(true);
    expect(coversMcp(rule("Mcp(linear:get_*)"), "linear2:get_issue")).toBe(false);
    expect(coversMcp(rule("Mcp(Linear:*)"), "linear:x")).toBe(false);
    expect(coversMcp(rule("Mcp(Linear:*)", "deny"), "linear:x")).toBe(true);
    expect(coversMcp({ ...rule("Mcp(Linear:*)"), fold: true }, "linear:x")).toBe(true);
    expect(coversMcp(rule("Mcp(*:*)"), "a:b:c")).toBe(true);
  });
});
