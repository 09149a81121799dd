// A refusal in print mode names the rules that would have allowed the call.
import { afterEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
afterEach(() => workspace.remove());

describe("calls when nobody can be asked", () => {
  it("a refusal names the rule to add, unless only a person may allow it", async () => {
    workspace = createWorkspace();
    workspace.file("../home/.cursor/cli-config.json", '{"permissions":{"allow":["WebFetch(a.test)"],"deny":[]}}');
    const shell = (command: string) => ({ name: "Shell", args: { command } });
    const calls = [
      shell("npm publish --tag x"),
      shell("cat a | sort > b"),
      shell("sudo ls"),
      { name: "Read", args: { path: "/etc/hosts" } },
      { name: "WebFetch", args: { url: "https://example.com/a" } },
    ];
    const script = workspace.file("../script.json", JSON.stringify([{ calls }, { text: "done" }]));
    const args = [
      "-p",
      "--trust",
      "--sandbox",
      "disabled",
      "--output-format",
      "stream-json",
      "--model",
      `script:${script}`,
    ];
    const run = await workspace.run([...args, "go"]);
    const reasons = run.lines().flatMap((line) => {
      const [call] = Object.values((line["tool_call"] ?? {}) as Record<string, any>);
      return line["subtype"] === "completed" && call ? [call.result.rejected?.reason as string] : [];
    });
    expect(reasons.sort()).toEqual([
      expect.stringContaining('allow it with "Read(/etc/hosts)"'),
      expect.stringContaining("It would be allowed by WebFetch(example.com)."),
      expect.stringContaining("It would be allowed by Shell(cat a) and Shell(sort) and Write(b)."),
      expect.stringContaining("It would be allowed by Shell(npm publish --tag x)."),
      expect.not.stringContaining("would be allowed"),
    ]);
  });
});
