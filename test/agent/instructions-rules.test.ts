// Rules: frontmatter as people write it, patterns, and the moment each rule is given.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { booleanOf, fieldList, fieldText, parseFrontmatter } from "../../src/agent/instructions/frontmatter.ts";
import { buildSystemPrompt, createPathInstructions } from "../../src/agent/instructions/index.ts";
import { pathMatcher } from "../../src/agent/instructions/path-instructions.ts";
import { parseRule } from "../../src/agent/instructions/rules.ts";
import { fixture as make } from "./instructions-support.ts";

describe("rule frontmatter", () => {
  const globs = (lines: string) => fieldList(parseFrontmatter(`---\n${lines}\n---\nbody`).fields.get("globs"));

  it.each([
    ["globs: *.ts", ["*.ts"]],
    ["globs: **/*.ts, src/**/*.tsx", ["**/*.ts", "src/**/*.tsx"]],
    ['globs: "**/*.ts,**/*.js"', ["**/*.ts", "**/*.js"]],
    [`globs: '**/*.ts', "b.js"`, ["**/*.ts", "b.js"]],
    ["globs: [\"a/**\", 'b/**', c]", ["a/**", "b/**", "c"]],
    ["globs: [\n  a,\n  b\n]", ["a", "b"]],
    ["globs: [ # these\n  a, # first ]\n  b # last\n]", ["a", "b"]],
    ["globs:\n  - a/**\n  - 'b, c'\n", ["a/**", "b", "c"]],
    ["globs:\n- a/**\n- b", ["a/**", "b"]],
    ["globs: src/**/*.{ts,tsx}, d", ["src/**/*.{ts,tsx}", "d"]],
    ["globs: a.ts # only this", ["a.ts"]],
    ["globs:", []],
    ["Globs: a", ["a"]],
    ["globs:a", ["a"]],
    ["globs:\n  a, b", ["a", "b"]],
  ])("frontmatter accepts %j", (lines, expected) => {
    expect(globs(lines)).toEqual(expected);
  });

  it.each([
    ["true", true],
    ['"true"', true],
    ["True # yes", true],
    ["false", false],
    ["", false],
    ["maybe", undefined],
  ])("frontmatter accepts alwaysApply: %s", (word, expected) => {
    expect(booleanOf(parseFrontmatter(`---\nalwaysApply: ${word}\n---\n`).fields.get("alwaysapply"))).toBe(expected);
  });

  it.each([
    ['description: It\'s: a "test" #12', 'It\'s: a "test" #12'],
    ["description: 'quoted'", "quoted"],
    ["description: >-\n  one\n  two", "one two"],
    ["description: one\n  two", "one two"],
    ["description:", undefined],
  ])("frontmatter accepts the form %j", (lines, expected) => {
    expect(fieldText(parseFrontmatter(`---\n${lines}\n---\n`).fields.get("description"))).toBe(expected);
  });

  it("frontmatter accepts CRLF, a byte order mark and leading blank lines", () => {
    const parsed = parseFrontmatter("\uFEFF\r\n---\r\ndescription: a\r\n--- \r\n\r\nbody\r\n---\r\nend");
    expect(fieldText(parsed.fields.get("description"))).toBe("a");
    expect(parsed.body).toBe("body\n---\nend");
    expect(parsed.warnings).toEqual([]);
  });

  it("a rule file with unterminated frontmatter is read as text, with a warning", () => {
    const parsed = parseFrontmatter("---\nalwaysApply: true\n# Title");
    expect(parsed.fields.size).toBe(0);
    expect(parsed.body).toBe("---\nalwaysApply: true\n# Title");
    expect(parsed.warnings).toHaveLength(1);
  });

  it("a misspelt frontmatter field of a rule gets a suggestion, and fields of other tools are ignored", () => {
    expect(parseRule("---\nglob: a\nalways_apply: true\nowner: me\n---\nx").problems).toEqual([
      'unknown field "glob" (did you mean globs?)',
      'unknown field "always_apply" (did you mean alwaysApply?)',
    ]);
    expect(parseRule("---\nalwaysApply: perhaps\n---\nx").problems).toEqual([
      "alwaysApply must be true or false; it is treated as false",
    ]);
    expect(parseRule("---\n???\n---\nx").problems).toHaveLength(1);
  });

  it.each([
    ["alwaysApply: true\nglobs: a\ndescription: b", "always"],
    ["globs: a\ndescription: b", "files"],
    ["description: b\nglobs:\nalwaysApply: false", "described"],
    ["alwaysApply: false", "manual"],
  ])("a rule with the frontmatter %j applies as %s", (lines, how) => {
    expect(parseRule(`---\n${lines}\n---\nx`).rule.how).toBe(how);
  });

  it("frontmatter of any shape is parsed quickly", () => {
    const nasty = `---\nglobs: ${"[".repeat(5000)}${'"'.repeat(5000)}${"{,".repeat(5000)}\n${"- \n".repeat(2000)}---\n`;
    expect(fieldList(parseFrontmatter(nasty).fields.get("globs"))).toBeInstanceOf(Array);
  });
});

describe("rule patterns", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["src/**", "src/a/b", true],
    ["src/**", "lib/a", false],
    ["src/**/*.tsx", "src/a.tsx", true],
    ["src/**/test/*.ts", "src/a/b/test/c.ts", true],
    ["tailwind.config.*", "tailwind.config.js", true],
    ["*.{ts,tsx}", "a.tsx", true],
    ["{src,lib}/**/*.{j,t}s", "lib/x/a.ts", true],
    ["{a,{b,c}}.ts", "c.ts", true],
    ["a?.ts", "ab.ts", true],
    ["a?.ts", "a/.ts", false],
    ["[a-c].ts", "b.ts", true],
    ["[!a-c].ts", "b.ts", false],
    ["[.ts", "[.ts", true],
    ["./src/*.ts", "src/a.ts", true],
    ["/src/*.ts", "src/a.ts", true],
    ["src/", "src/a/b.ts", true],
    ["src/components", "src/components/a.ts", true],
    ["src/components", "src/components2/a.ts", false],
    ["**", ".github/x", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "aXbY", false],
    ["", "a", false],
  ])("the rule pattern %s matches the path %s: %s", (pattern, path, expected) => {
    expect(pathMatcher([pattern])(path)).toBe(expected);
  });

  it("a rule's glob pattern that begins with ! excludes files", () => {
    const matches = pathMatcher(["src/**", "!src/gen/**"]);
    expect(matches("src/a.ts")).toBe(true);
    expect(matches("src/gen/a.ts")).toBe(false);
  });

  it("a rule's glob pattern of any shape is matched quickly", () => {
    const matches = pathMatcher(["*a".repeat(500), `${"**/a*".repeat(200)}z`, "{a,b}".repeat(60)]);
    expect(matches(`${"a".repeat(5000)}/`.repeat(100))).toBe(false);
  });
});

describe("rules that apply to paths", () => {
  it("the agent adds a path rule once, when it touches a matching file", () => {
    const { input, workspace } = make({
      "ws/AGENTS.md": "root words",
      "ws/web/AGENTS.md": "web words",
      "ws/web/ui/AGENTS.md": "ui words",
      "ws/web/ui/a.tsx": "",
      "ws/.cursor/rules/tsx.mdc": "---\nglobs: web/**/*.tsx\n---\ntsx words",
      "ws/.cursor/rules/py.mdc": "---\nglobs: '**/*.py'\n---\npy words",
    });
    const instructions = createPathInstructions(input);
    expect(instructions.forPath(join(workspace, "README.md"))).toBeUndefined();
    const first = instructions.forPath(join(workspace, "web/ui/a.tsx"));
    expect(first).toBe(
      '<instructions path="web/AGENTS.md">\nweb words\n</instructions>\n<instructions path="web/ui/AGENTS.md">\nui words\n</instructions>\n<instructions path=".cursor/rules/tsx.mdc">\ntsx words\n</instructions>',
    );
    expect(instructions.forPath("web/ui/a.tsx")).toBeUndefined();
    expect(instructions.forPath("new/file.py")).toContain("py words");
    expect(instructions.forPath("other.py")).toBeUndefined();
    expect(instructions.forPath(join(workspace, "../elsewhere.py"))).toBeUndefined();
  });

  it("the agent finds path rules for folders and in nested .cursor/rules", () => {
    const { input } = make({
      "ws/api/.cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nalways api",
      "ws/api/.cursor/rules/local.mdc": "---\nglobs: src/*.ts\n---\nlocal words",
      "ws/api/.cursor/rules/rooted.mdc": "---\nglobs: api/src/*.ts\n---\nrooted words",
      "ws/api/.cursor/rules/told.mdc": "---\ndescription: told\n---\ntold words",
      "ws/src/a.ts": "",
    });
    const instructions = createPathInstructions(input);
    expect(instructions.forPath("src/a.ts")).toBeUndefined();
    expect(instructions.rule("local")).toBeUndefined();
    const listing = instructions.forPath("api");
    expect(listing).toContain("always api");
    expect(listing).toContain("- api/.cursor/rules/told.mdc: told");
    const file = instructions.forPath("api/src/b.ts");
    expect(file).toContain("local words");
    expect(file).toContain("rooted words");
    expect(file).not.toContain("always api");
  });

  it("path rules do not repeat what the system prompt already contains", () => {
    const { input } = make({
      "ws/AGENTS.md": "root words",
      "ws/.cursor/rules/a.mdc": "---\nalwaysApply: true\nglobs: '**'\n---\na words",
    });
    const { loaded } = buildSystemPrompt(input);
    const instructions = createPathInstructions(input, loaded);
    expect(instructions.forPath("a.ts")).toBeUndefined();
    expect(instructions.rule("a")).toEqual({ path: join(input.workspace, ".cursor/rules/a.mdc") });
  });

  it("the agent ignores rules in dependencies and cloned repositories, but not those in submodules", () => {
    const files = {
      "ws/node_modules/x/AGENTS.md": "dependency words",
      "ws/clone/.git/HEAD": "ref: refs/heads/main\n",
      "ws/clone/AGENTS.md": "clone words",
      "ws/clone/deep/AGENTS.md": "deep words",
      "ws/sub/.git": "gitdir: ../.git/modules/sub\n",
      "ws/sub/AGENTS.md": "sub words",
    };
    const repository = make({ ...files, "ws/.git/HEAD": "ref: refs/heads/main\n" });
    const instructions = createPathInstructions(repository.input);
    expect(instructions.forPath("node_modules/x/index.js")).toBeUndefined();
    expect(instructions.forPath("clone/a.ts")).toBeUndefined();
    expect(instructions.forPath("clone/deep/a.ts")).toBeUndefined();
    expect(instructions.forPath("sub/a.ts")).toContain("sub words");
    // A plain folder of projects is not a repository: each project speaks for itself.
    expect(createPathInstructions(make(files).input).forPath("clone/a.ts")).toContain("clone words");
  });

  it("path rules apply in additional workspace roots too", () => {
    const { input, folder } = make({
      "lib/AGENTS.md": "lib words",
      "lib/.cursor/rules/c.mdc": "---\nglobs: '*.c'\n---\nc words",
      "lib/a.c": "",
    });
    expect(createPathInstructions(input).forPath(join(folder, "lib/a.c"))).toBeUndefined();
    const text = createPathInstructions({ ...input, roots: [join(folder, "lib")] }).forPath(join(folder, "lib/a.c"));
    expect(text).toContain("lib words");
    expect(text).toContain("c words");
  });

  it("path rules and the system prompt share one size limit", () => {
    const long = `${"0123456789abcde\n".repeat(1900)}`;
    const { input } = make({ "ws/AGENTS.md": long, "ws/a/AGENTS.md": `a${long}`, "ws/b/AGENTS.md": `b${long}` });
    const instructions = createPathInstructions(input);
    expect(instructions.forPath("a/x")?.length).toBeGreaterThan(30_000);
    expect(instructions.forPath("b/x")).toBe(
      "Instructions that apply here but are too long to include, Read when needed: b/AGENTS.md",
    );
    expect(instructions.takeWarnings()).toHaveLength(1);
    expect(instructions.takeWarnings()).toHaveLength(0);
    expect(instructions.forPath("b/x")).toBeUndefined();
  });
});
