// `permissions.deny` for CLIs without rules: a hook of the SDK denies; `npm run long -- try-agents` does it with the real ones.
import { afterAll, expect, it } from "vitest";
import { denying } from "../../src/sdk/callbacks/deny-rules.ts";
import type { CanUseTool, PermissionAnswer } from "../../src/sdk/callbacks/hook-callbacks.ts";
import { unifiedToolName } from "../../src/sdk/tool-names.ts";
import { createWorkspace } from "../support/run-cli.ts";

const deny = ["Shell(rm)", "Write(secret/**)", "Read(keys.txt)", "Mcp(db:drop)", "WebFetch(evil.example)"];
const here = createWorkspace();
const { path: cwd } = here;
afterAll(() => here.remove());

async function verdict(tool: "codex" | "gemini", cliName: string, input: object, otherwise?: CanUseTool) {
  const name = unifiedToolName(tool, cliName);
  const call = { id: "1", name, cliName, input: input as Record<string, unknown>, cwd, sessionId: "s" };
  const answer = await denying({ deny, tool, workspace: cwd }, otherwise)(call, {
    signal: new AbortController().signal,
  });
  return reasonOf(answer) ?? "allowed";
}

function reasonOf(answer: PermissionAnswer): string | undefined {
  return typeof answer === "object" && !answer.allow ? answer.reason : undefined;
}

const patch = (path: string) => `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\nEOF`;

it.each([
  ["codex", "exec_command", { cmd: "ls && rm -rf build" }, /Shell\(rm\)/],
  ["codex", "Bash", { command: "rm x" }, /Shell\(rm\)/],
  ["codex", "exec_command", { cmd: "echo x > secret/a" }, /Write\(secret\/\*\*\)/],
  ["codex", "exec_command", { cmd: patch("secret/b.txt") }, /Write\(secret\/\*\*\)/],
  ["codex", "apply_patch", { command: patch("secret/b.txt") }, /Write\(secret\/\*\*\)/],
  ["codex", "apply_patch", { command: patch("open/b.txt") }, /^allowed$/],
  ["codex", "exec_command", { cmd: "echo x > a", workdir: "secret" }, /Write\(secret\/\*\*\)/],
  ["codex", "mcp__db__drop", { table: "users" }, /Mcp\(db:drop\)/],
  ["codex", "mcp__db__list", {}, /^allowed$/],
  ["codex", "exec_command", { cmd: "git push --force" }, /^allowed$/],
  ["gemini", "write_file", { file_path: "secret/a", content: "x" }, /Write\(secret\/\*\*\)/],
  ["gemini", "replace", { file_path: `${cwd}/secret/a`, old_string: "a", new_string: "b" }, /Write\(secret\/\*\*\)/],
  ["gemini", "read_file", { file_path: "keys.txt" }, /Read\(keys\.txt\)/],
  ["gemini", "read_file", { file_path: "other.txt" }, /^allowed$/],
  ["gemini", "run_shell_command", { command: "rm x" }, /Shell\(rm\)/],
  ["gemini", "mcp_db_drop", {}, /Mcp\(db:drop\)/],
  ["gemini", "web_fetch", { url: "https://evil.example/x" }, /WebFetch\(evil\.example\)/],
] as const)("permissions.deny of the SDK is enforced on %s for %s %j", async (tool, name, input, expected) => {
  expect(await verdict(tool, name, input)).toMatch(expected);
});

it("the SDK's deny rules also apply to the input that canUseTool returns", async () => {
  const answer = await verdict("codex", "exec_command", { cmd: "ls" }, () => ({ allow: true, input: { cmd: "rm x" } }));
  expect(answer).toMatch(/Shell\(rm\)/);
});

it("the SDK does not pass a call that a deny rule covers to canUseTool", async () => {
  const asked: string[] = [];
  const canUseTool: CanUseTool = ({ input }) => asked.push(String(input.cmd)) > 0;
  await verdict("codex", "exec_command", { cmd: "rm x" }, canUseTool);
  await verdict("codex", "exec_command", { cmd: "ls" }, canUseTool);
  expect(asked).toEqual(["ls"]);
});

it("a deny rule that the SDK cannot parse throws an error to the caller", () => {
  expect(() => denying({ deny: ["Shell"], tool: "codex", workspace: cwd })).toThrow(/permissions\.deny: .*Shell/);
});
