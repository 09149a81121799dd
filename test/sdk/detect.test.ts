import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { detectCli, detectCursorCli, getCapabilities, listModels } from "../../src/sdk/detect.ts";
import { cli } from "../support/run-cli.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-detect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function program(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const system = process.env["PATH"] ?? "";

test("the SDK distinguishes the original CLI, ours behind the same name, and neither", async () => {
  const file = program("cursor-agent", "echo 2026.09.10-fd3934a");
  const original = await detectCursorCli({ env: { PATH: `${folder}:${system}` } });
  expect(original).toEqual({ tool: "cursor", path: file, version: "2026.09.10-fd3934a", isOurs: false });
  expect((await getCapabilities("cursor", { env: { PATH: `${folder}:${system}` } })).fork).toBe(false);
  rmSync(file);
  symlinkSync(cli, file);
  const env = { PATH: `${folder}:${system}` };
  expect(await detectCursorCli({ env })).toMatchObject({ path: file, isOurs: true, version: expect.any(String) });
  expect((await getCapabilities("cursor", { env })).fork).toBe(true);
  rmSync(file);
  // The package's own stands in where no other is found.
  expect(await detectCursorCli({ env: { PATH: folder } })).toMatchObject({ isOurs: true });
  expect(await detectCli("codex", { env: { PATH: folder } })).toBeUndefined();
  expect(await detectCli("cursor", { executable: "/no/such/cli" })).toBeUndefined();
});

test("the SDK does not take the fake CLI of the testing kit for ours", async () => {
  const executable = [process.execPath, cli, "fake"];
  expect(await detectCli("cursor", { executable })).toMatchObject({ isOurs: false });
  expect(await getCapabilities("cursor", { executable })).toMatchObject({ live: false, fork: false });
});

test("an environment variable can name the CLI's program, even one without a known version", async () => {
  const file = program("my-claude", "exit 1");
  expect(await detectCli("claude", { env: { PATH: system, CLAUDE_CODE_PATH: file } })).toEqual({
    tool: "claude",
    path: file,
    version: undefined,
    isOurs: false,
  });
});

test("the SDK parses model lists of the original CLI and of ours", async () => {
  const text =
    "Available models\n\nauto - Auto (default)\ngpt-5 - GPT-5\nopus - Opus 4.5 (current)\n\nTip: use --model";
  const executable = program("lists", `cat <<'END'\n${text}\nEND`);
  expect(await listModels("cursor", { executable })).toEqual([
    { id: "auto", name: "Auto", isDefault: true },
    { id: "gpt-5", name: "GPT-5" },
    { id: "opus", name: "Opus 4.5" },
  ]);
  expect((await listModels("cursor", { executable: cli })).map(({ id }) => id)).toContain("offline");
  await expect(listModels("codex")).rejects.toThrow(/no list of models/);
  await expect(listModels("cursor", { executable: program("fails", "echo no >&2; exit 1") })).rejects.toThrow(/no$/);
});
