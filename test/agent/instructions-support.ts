// Real folders for the instruction tests.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { SystemPromptInput } from "../../src/agent/instructions/index.ts";

export type Fixture = {
  folder: string;
  workspace: string;
  configDir: string;
  input: SystemPromptInput;
};

/** Files by path relative to the fixture: the workspace is `ws`, the config folder `config`. */
export function fixture(files: Record<string, string | Buffer>): Fixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "instructions-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = join(folder, "ws");
  const configDir = join(folder, "config");
  mkdirSync(workspace);
  mkdirSync(configDir);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const input: SystemPromptInput = {
    workspace,
    roots: [],
    configDir,
    home: folder,
    mode: "default",
    headless: true,
    platform: "linux",
    osRelease: "6.1",
    shell: "/bin/bash",
    today: new Date(2026, 0, 5),
  };
  return { folder, workspace, configDir, input };
}
