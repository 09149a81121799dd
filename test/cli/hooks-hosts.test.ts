// Payloads of the real Claude Code, Codex and Gemini CLI, recorded by `npm run long -- try-hosts`, given to a script of hooks init.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "../support/run-cli.ts";
import { createHookWorkspace, type HookWorkspace } from "./hooks-place.ts";

const recordings = join(repository, "test/recordings/hooks");
let place: HookWorkspace;
beforeAll(async () => {
  place = createHookWorkspace();
  await place.run(["hooks", "init", "guard"]);
});
afterAll(() => place.remove());

const rows = ["claude", "codex", "gemini"].flatMap((host) =>
  readdirSync(join(recordings, host)).map((file) => [host, file] as const),
);

describe("recorded hook payloads", () => {
  it.each(rows)("a hook script written by hooks init answers the recorded payload of %s in %s", async (host, file) => {
    const payload = readFileSync(join(recordings, host, file), "utf8");
    const { exit, stdout, stderr } = await place.start(join(place.path, ".hooks/guard.ts"), ["--host", host], payload);
    const isRefused = file.includes("rm-rf");
    expect(exit).toBe(isRefused ? 2 : 0);
    expect(stderr !== "").toBe(isRefused);
    if (!isRefused) return expect(stdout.includes("deny")).toBe(false);
    const reason = expect.stringContaining("rm -rf is blocked");
    if (host === "gemini") return expect(JSON.parse(stdout)).toMatchObject({ decision: "deny", reason });
    expect(JSON.parse(stdout).hookSpecificOutput).toMatchObject({
      hookEventName: "PreToolUse",
      permissionDecision: "deny",
      permissionDecisionReason: reason,
    });
  });

  it("recorded payloads contain nothing of the recording machine", () => {
    for (const [host, file] of rows) {
      const text = readFileSync(join(recordings, host, file), "utf8");
      expect(text).not.toMatch(/(?<!\.gemini)\/(tmp|root|Users|var)\//);
      for (const id of text.match(/[0-9a-f]{8}-[0-9a-f]{4}-/g) ?? []) expect(id).toBe("00000000-0000-");
    }
  });
});
