// Files of subagents: which are found, which one counts, what is understood of them.
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  builtInSubagents,
  callableSubagents,
  findSubagent,
  findSubagents,
  subagentSection,
} from "../../src/agent/subagents/definitions.ts";
import { type Fixture, fixture } from "./instructions-support.ts";

function find({ workspace, folder, configDir }: Fixture, options: { trusted?: boolean } = {}) {
  return findSubagents({ workspace, roots: [], configDir, home: folder, trusted: options.trusted ?? true });
}

const builtIn = builtInSubagents.map(({ name }) => name);

describe("choosing subagent files", () => {
  it("project subagents override the user's, .cursor overrides other folders, and files override built-ins", () => {
    const place = fixture({
      "ws/.codex/agents/a.md": "codex",
      "ws/.claude/agents/a.md": "claude",
      "ws/.claude/agents/b.md": "claude",
      "ws/.cursor/agents/b.md": "cursor",
      "config/agents/a.md": "mine",
      "config/agents/c.md": "mine",
      ".claude/agents/c.md": "mine, claude",
      ".codex/agents/d.md": "mine, codex",
      "config/agents/Explore.md": "my own way",
      "config/agents/notes.txt": "no",
      "config/agents/.hidden.md": "no",
    });
    const { subagents, warnings } = find(place);
    expect(warnings).toEqual([]);
    expect(subagents.map(({ name, prompt }) => `${name}: ${prompt.split("\n")[0]}`).slice(0, 5)).toEqual([
      "b: cursor",
      "a: claude",
      "Explore: my own way",
      "c: mine",
      "d: mine, codex",
    ]);
    expect(subagents.slice(5).map(({ name }) => name)).toEqual(["generalPurpose", "shell"]);
    expect(
      find(place, { trusted: false })
        .subagents.map(({ name }) => name)
        .slice(0, 2),
    ).toEqual(["Explore", "a"]);
  });

  it("subagent files behind links out of the project are ignored, and aliases of built-in subagents work", () => {
    const place = fixture({ "elsewhere.md": "stolen", "ws/.cursor/agents/real.md": "real" });
    symlinkSync(join(place.folder, "elsewhere.md"), join(place.workspace, ".cursor/agents/linked.md"));
    const { subagents, warnings } = find(place);
    expect(subagents.map(({ name }) => name)).toEqual(["real", ...builtIn]);
    expect(warnings.join()).toContain("linked.md was skipped");
    expect(["bash", "SHELL", "general-purpose", "Explore"].map((name) => findSubagent(subagents, name)?.name)).toEqual([
      "shell",
      "shell",
      "generalPurpose",
      "explore",
    ]);
    expect(findSubagent(subagents, "nobody")).toBeUndefined();
  });
});

describe("subagent files", () => {
  it("the agent reads valid fields of a subagent file, and reports invalid ones", () => {
    const place = fixture({
      "ws/.cursor/agents/one.md":
        '---\nname: checker\ndescription: >\n  Checks\n  things\nmodel: gpt-5[effort=high]\nreadonly: true\nis_background: yes\ntools: Read, Bash, "Grep"\n---\nCheck.',
      "ws/.cursor/agents/two.md": "---\nmodel: inherit\nreadonly: perhaps\nreadnoly: true\nname: ../x\n---\nText",
    });
    const { subagents, warnings } = find(place);
    expect(subagents[0]).toMatchObject({
      name: "checker",
      description: "Checks things",
      model: "gpt-5[effort=high]",
      readOnly: true,
      isBackground: true,
      tools: ["Read", "Bash", "Grep"],
    });
    expect(subagents[0]!.prompt).toMatch(/^Check\.\n\nYou work for another agent/);
    expect(subagents[1]).toMatchObject({ name: "two", readOnly: true, isBackground: false });
    expect(subagents[1]).not.toHaveProperty("model");
    expect(warnings.join("\n")).toMatch(
      /did you mean readonly[\s\S]*"\.\.\/x" is not a valid subagent name[\s\S]*readonly must be true or false; it is treated as true/,
    );
  });

  it("the list of subagents for the model is bounded", () => {
    expect(subagentSection(builtInSubagents)).toBe("");
    const many = Array.from({ length: 100 }, (_, index) => ({
      ...builtInSubagents[0]!,
      name: `agent${index}`,
      description: "word ".repeat(50),
      path: "x",
    }));
    const section = subagentSection(many);
    expect(section.length).toBeLessThan(6000);
    expect(section).toContain("- agent99");
  });

  it("a model calls a subagent by its exact name", () => {
    const { names, call } = callableSubagents(builtInSubagents);
    expect(names()).toEqual(builtIn);
    expect(call("explore", "the parser")?.text).toBe(
      'Start the subagent "explore" with the Task tool, and tell me what it answers. Its task is this:\n\nthe parser',
    );
    expect(call("bash", "x")).toBeUndefined();
  });
});
