// Skills: which are found, what the model is told of them and when, how a prompt calls one, and what may be read.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildSystemPrompt, createSkillRegistry, expandPrompt } from "../../src/agent/instructions/index.ts";
import { createWorkspace } from "../support/run-cli.ts";
import { type Fixture, fixture } from "./instructions-support.ts";

function skill(name: string, more = "", body = `Do ${name}.`): string {
  return `---\nname: ${name}\ndescription: About ${name}\n${more}---\n${body}\n`;
}

function bookOf({ workspace, folder, configDir }: Fixture, options: { trusted?: boolean } = {}) {
  return createSkillRegistry({ workspace, roots: [], configDir, home: folder, trusted: options.trusted ?? true });
}

describe("finding skills", () => {
  it("the agent finds skills in the usual folders, the project's first, and .cursor before others", () => {
    const place = fixture({
      "ws/.cursor/skills/one/SKILL.md": skill("one"),
      "ws/.agents/skills/two/SKILL.md": skill("two"),
      "ws/.claude/skills/three/SKILL.md": skill("three"),
      "ws/.codex/skills/deep/er/four/SKILL.md": skill("four"),
      "ws/.claude/skills/one/SKILL.md": skill("one", "", "not this one"),
      "config/skills/five/SKILL.md": skill("five"),
      "config/skills-cursor/six/SKILL.md": skill("six"),
      ".agents/skills/seven/SKILL.md": skill("seven"),
      ".claude/skills/eight/SKILL.md": skill("eight"),
      ".codex/skills/two/SKILL.md": skill("two", "", "nor this"),
    });
    const book = bookOf(place);
    const names = ["one", "two", "three", "four", "five", "seven", "eight", "six"];
    expect(book.names()).toEqual(names);
    expect(book.section.split("\n").slice(2)).toEqual([
      "- one (.cursor/skills/one/SKILL.md): About one",
      "- two (.agents/skills/two/SKILL.md): About two",
      "- three (.claude/skills/three/SKILL.md): About three",
      "- four (.codex/skills/deep/er/four/SKILL.md): About four",
      ...["config/skills/five", ".agents/skills/seven", ".claude/skills/eight", "config/skills-cursor/six"].map(
        (path) => `- ${path.split("/").at(-1)} (${place.folder}/${path}/SKILL.md): About ${path.split("/").at(-1)}`,
      ),
    ]);
    expect(book.call("one", "")?.text).toContain("Do one.");
    expect(book.takeWarnings()).toEqual([]);
    const { system } = buildSystemPrompt({ ...place.input, sections: [book.section] });
    expect(system).toContain("# Skills\nRead a skill below");
  });

  it("the agent finds no skills in hidden folders, inside skills or through links that leave the project", () => {
    const place = fixture({
      "ws/.cursor/skills/.hidden/SKILL.md": skill("hidden"),
      "ws/.cursor/skills/one/SKILL.md": skill("one"),
      "ws/.cursor/skills/one/examples/two/SKILL.md": skill("two"),
      "elsewhere/stolen/SKILL.md": skill("stolen"),
      "ws/shared/three/SKILL.md": skill("three"),
      "mine/four/SKILL.md": skill("four"),
    });
    symlinkSync(join(place.folder, "elsewhere"), join(place.workspace, ".cursor/skills/out"));
    symlinkSync(join(place.workspace, "shared"), join(place.workspace, ".cursor/skills/in"));
    symlinkSync(join(place.workspace, ".cursor/skills"), join(place.workspace, ".cursor/skills/round"));
    mkdirSync(join(place.configDir, "skills"));
    symlinkSync(join(place.folder, "mine"), join(place.configDir, "skills/mine"));
    expect(bookOf(place).names()).toEqual(["three", "one", "four"]);
  });

  it("project skills are available only in a trusted project", () => {
    const place = fixture({
      "ws/.cursor/skills/one/SKILL.md": skill("one"),
      "ws/packages/a/.cursor/skills/two/SKILL.md": skill("two"),
      "config/skills/three/SKILL.md": skill("three"),
    });
    const book = bookOf(place, { trusted: false });
    expect(book.forPath("packages/a/x.ts")).toBeUndefined();
    expect(book.names()).toEqual(["three"]);
  });

  it("a skill with an invalid file gives a warning", () => {
    const place = fixture({
      "ws/.cursor/skills/a/SKILL.md": "---\ndescription: x\n---\ntext",
      "ws/.cursor/skills/b/SKILL.md": "---\nname: b\n---\ntext",
      "ws/.cursor/skills/c/SKILL.md": "---\nname: other\ndescription: x\ndisable-model-invocatoin: true\n---\ntext",
      "ws/.cursor/skills/d/SKILL.md": "---\nname: ../../etc\ndescription: x\n---\ntext",
      "ws/.cursor/skills/e/SKILL.md": Buffer.from([0, 1, 2, 3]),
    });
    const book = bookOf(place);
    expect(book.names()).toEqual(["a", "b", "other", "d"]);
    expect(book.section).not.toContain("- b (");
    expect(book.takeWarnings().join("\n")).toMatch(
      /a\/SKILL.md: it has no name.*\n.*b\/SKILL.md: it has no description.*\n.*did you mean disable-model-invocation.*\n.*its name is other, but its directory is called c.*\n.*"\.\.\/\.\.\/etc" is not a valid skill name.*\n.*e\/SKILL.md was skipped: it is not text/,
    );
  });
});

describe("skills in the model's context", () => {
  it("the agent lists skills for paths and subprojects once, when it touches a matching file", () => {
    const place = fixture({
      "ws/.cursor/skills/sql/SKILL.md": skill("sql", "paths: ['**/*.sql']\n"),
      "ws/.cursor/skills/css/SKILL.md": skill("css", "globs: web/**/*.css, *.scss\n"),
      "ws/packages/a/.cursor/skills/pack/SKILL.md": skill("pack"),
      "ws/packages/a/.agents/skills/tests/SKILL.md": skill("tests", "paths: test/**\n"),
      "ws/node_modules/x/.cursor/skills/foreign/SKILL.md": skill("foreign"),
    });
    const book = bookOf(place);
    expect(book.section).toBe("");
    expect(book.forPath("README.md")).toBeUndefined();
    expect(book.forPath("db/one.sql")).toMatch(/^Read a skill below.*\n- sql \(.*\): About sql$/);
    expect(book.forPath("db/two.sql")).toBeUndefined();
    expect(book.forPath("web/a/b.css")).toContain("- css (");
    expect(book.forPath(join(place.workspace, "packages/a/src/x.ts"))).toMatch(/^.*\n- pack \(.*$/);
    expect(book.forPath("packages/a/test/x.ts")).toMatch(/^.*\n- tests \(.*$/);
    expect(book.forPath("packages/b/test/x.ts")).toBeUndefined();
    expect(book.forPath("node_modules/x/index.js")).toBeUndefined();
    expect(book.forPath("/etc/passwd")).toBeUndefined();
  });

  it("the system prompt limits the size of its list of skills", () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `ws/.cursor/skills/s${index}/SKILL.md`,
        `---\nname: s${index}\ndescription: ${"word ".repeat(200)}\n---\nx`,
      ]),
    );
    const { section } = bookOf(fixture(files));
    expect(section.length).toBeLessThan(8000);
    expect(section).toMatch(/\n- \d+ more: s/);
  });

  it("the model does not see user-only skills, and the user cannot call model-only skills", () => {
    const place = fixture({
      "ws/.cursor/skills/mine/SKILL.md": skill("mine", "disable-model-invocation: true\n"),
      "ws/.cursor/skills/yours/SKILL.md": skill("yours", "user-invocable: false\n"),
    });
    const book = bookOf(place);
    expect(book.section).toContain("yours");
    expect(book.section).not.toContain("mine");
    expect(book.names()).toEqual(["mine"]);
    expect(book.call("yours", "")).toBeUndefined();
  });
});

describe("calling a skill by /name", () => {
  it("a prompt that begins with /name inserts that skill; commands come first, and typos get a suggestion", () => {
    const place = fixture({
      "ws/.cursor/skills/deploy/SKILL.md": skill("deploy", "", "Deploy $ARGUMENTS with scripts/run.sh"),
      "ws/.cursor/skills/both/SKILL.md": skill("both"),
      "ws/.cursor/commands/both.md": "the command",
    });
    const input = { workspace: place.workspace, roots: [], configDir: place.configDir, callable: [bookOf(place)] };
    const { parts, attachments } = expandPrompt("/deploy to staging", input);
    expect(parts).toEqual([
      {
        type: "text",
        text: `Follow this skill. Paths in it start at ${place.workspace}/.cursor/skills/deploy\n<skill name="deploy" path=".cursor/skills/deploy/SKILL.md">\nDeploy to staging with scripts/run.sh\n</skill>`,
      },
    ]);
    expect(attachments).toEqual([{ type: "command", path: join(place.workspace, ".cursor/skills/deploy/SKILL.md") }]);
    expect(expandPrompt("/both", input).parts).toEqual([{ type: "text", text: "the command" }]);
    expect(expandPrompt("/depoly now", input).warnings.join()).toContain("did you mean /deploy?");
  });
});

it("when a skill links into a larger folder, the model may read only the skill file there", () => {
  const place = fixture({ "notes.md": skill("one"), "SKILL.md": skill("two"), "dots/three/SKILL.md": skill("three") });
  mkdirSync(join(place.configDir, "skills/one"), { recursive: true });
  symlinkSync(join(place.folder, "notes.md"), join(place.configDir, "skills/one/SKILL.md"));
  symlinkSync(place.folder, join(place.configDir, "skills/two"));
  symlinkSync(join(place.folder, "dots/three"), join(place.configDir, "skills/three"));
  expect(
    bookOf(place)
      .readRules()
      .map(({ pattern }) => pattern.replace(place.folder, "~")),
  ).toEqual(["~/notes.md", "~/config/skills/one/**", "~/dots/three/SKILL.md", "~/dots/three/**", "~/SKILL.md"]);
});

it("the model may read a listed skill wherever it is, but not the files beside it", async () => {
  using workspace = createWorkspace({ "a.txt": "a" });
  workspace.file(join(workspace.config, "skills/one/SKILL.md"), skill("one"));
  workspace.file(join(workspace.config, "skills/one/references/more.md"), "the reference");
  workspace.file(join(workspace.config, "secret.md"), "not this");
  const read = (path: string) => ({ name: "Read", args: { path: join(workspace.config, path) } });
  const script = workspace.file(
    "script.json",
    JSON.stringify([
      { calls: [read("skills/one/SKILL.md"), read("skills/one/references/more.md"), read("secret.md")] },
      { text: "done" },
    ]),
  );
  const run = await workspace.run([
    ...["-p", "--trust", "--output-format", "stream-json", "--model", `script:${script}`, "/one please"],
  ]);
  const ends = run.lines().filter((line) => line["subtype"] === "completed" && line["type"] === "tool_call");
  const results = ends.map((line) => Object.keys(line["tool_call"].readToolCall.result)[0]);
  expect(results.sort()).toEqual(["rejected", "success", "success"]);
  expect(run.exit).toBe(0);
});
