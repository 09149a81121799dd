// The floor as people are shown it says what the policy does.
import { describe, expect, it } from "vitest";
import { beyondForce, protectedPathGroups } from "../../src/cli/commands/permissions/protected.ts";
import { floorOf } from "../../src/policy/paths.ts";
import { protectedExamples } from "./protected-examples.ts";

describe("the list of protected paths", () => {
  const place = { workspace: "/nowhere/ws", roots: [], home: "/nowhere/home", configDir: "/nowhere/home/.cursor" };

  it.each(protectedExamples)("the path %s is protected at the level %s", (path, level) => {
    const absolute = path.replace(/^~/, place.home).replace(/^\.(?=\/)/, place.workspace);
    expect(floorOf({ given: absolute, real: absolute }, place)?.level).toBe(level);
  });

  it.each([
    ["~/.cursor", "never"],
    ["/etc, /usr, /boot", "never"],
    ["sudoers", "protected"],
    [".cursor/**", "protected"],
    ["hooks", "protected"],
    [".vscode/**", "protected"],
    [".mcp.json", "protected"],
    [".envrc", "protected"],
    ["start-up files", "protected"],
    ["~/.ssh", "protected"],
  ])("permissions list names %s, as %s", (name, level) => {
    expect(protectedPathGroups.filter(({ what }) => what.includes(name)).map((each) => each.level)).toEqual([level]);
  });

  it.each([
    "of every file",
    ".cursorignore",
    "protected paths",
    "system folders",
    "this program",
    "Shell deny",
    "Read deny",
    "network",
  ])("permissions list says that --force does not lift %s", (part) => {
    expect(beyondForce.filter((text) => text.includes(part))).toHaveLength(1);
  });
});
