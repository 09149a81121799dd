// `hooks test` in the built program: hooks run for real, on samples and on payloads.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHookWorkspace, type HookWorkspace } from "./hooks-place.ts";

let place: HookWorkspace;
beforeAll(async () => {
  place = await trustedPlace();
  await hooks("init");
  await hooks("install", "--hosts", "cursor");
});
afterAll(() => place.remove());

async function trustedPlace(): Promise<HookWorkspace> {
  const made = createHookWorkspace();
  await made.run(["-p", "--trust", "--model", "offline", "what is 1+1?"]);
  return made;
}

const hooks = (...args: string[]) => place.run(["hooks", ...args]);
const json = async (...args: string[]) => JSON.parse((await hooks(...args, "--format", "json")).stdout) as any;

describe("hooks test", () => {
  it("hooks test runs the hooks on a sample", async () => {
    const { exit, stdout } = await hooks("test", "preToolUse");
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^preToolUse with a sample: .*echo hello/);
    expect(stdout).toMatch(
      /✓ \.\/\.hooks\/format\.ts --host cursor\n.*hooks\.preToolUse\[0\]\n {4}allow, \d+ ms\n→ It continues/,
    );
  });

  it("hooks test accepts a payload and Claude's event names, and shows what would happen", async () => {
    place.file("call.json", '{"tool_name":"Bash","tool_input":{"command":"rm -rf x"}}');
    const { hooks: ran, outcome } = await json("test", "PreToolUse", "--payload", "call.json");
    expect(ran).toMatchObject([{ level: "project", answer: "deny", exit: 2, entry: "hooks.preToolUse[0]" }]);
    expect(outcome).toMatchObject({
      effect: "permit",
      permission: "deny",
      happens: expect.stringContaining("It is refused. The model gets: rm -rf is blocked"),
    });
    const piped = await place.run(["hooks", "test", "preToolUse", "--payload", "-"], {
      stdin: '{"tool_name":"Shell","tool_input":{"command":"ls"}}',
    });
    expect(piped.stdout).toContain("→ It continues");
  });

  it.each(["sessionStart", "postToolUse", "beforeSubmitPrompt", "stop"])(
    "hooks test has a sample of %s that the bridge accepts",
    async (event) => {
      const { hooks: ran } = await json("test", event);
      expect(ran).toMatchObject([{ exit: 0, stderr: "" }]);
    },
  );

  it("hooks test says what is wrong with its arguments", async () => {
    expect((await hooks("test", "preTool")).stderr).toContain("unknown event 'preTool'");
    expect((await hooks("test", "stop", "--payload", "nowhere.json")).stderr).toContain("[FILE_UNREADABLE]");
    place.file("list.json", "[]");
    expect((await hooks("test", "stop", "--payload", "list.json")).stderr).toContain("is not a JSON object");
    expect((await hooks("test", "sessionEnd")).stdout).toContain("No hook is set up for sessionEnd here.");
  });

  it("hooks test shows what a host cannot express, which hooks did not run, and which failed", async () => {
    const own = await trustedPlace();
    own.script("loud.sh", '#!/bin/sh\necho "dropped a field" >&2\necho "{}"\n');
    own.file(
      ".cursor/hooks.json",
      JSON.stringify({
        version: 1,
        hooks: { preToolUse: [{ command: "./loud.sh" }, { command: "true", matcher: "Read" }, { command: "exit 3" }] },
      }),
    );
    const unapproved = await own.run(["hooks", "test", "preToolUse"]);
    const { exit, stdout } = await own.run(["hooks", "test", "preToolUse", "--trust"]);
    own.remove();
    expect(unapproved.stdout).toContain("it is new or has changed since it was approved");
    expect(exit).toBe(1);
    expect(stdout).toContain("    stderr: dropped a field\n");
    expect(stdout).toContain("not asked: its matcher Read does not match");
    expect(stdout).toContain("failed, ");
    expect(stdout).toContain("exit code 3");
  });
});
