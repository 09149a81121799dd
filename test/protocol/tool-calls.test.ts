// Where the tool and the outcome stand in a call, and how an outcome reads.
import { expect, test } from "vitest";
import {
  callName,
  displayNameOf,
  errorTextOf,
  outcomeGroupOf,
  outcomeKinds,
  outcomeOf,
  type ToolShapes,
  toolKeyOf,
  unknownWireName,
} from "../../src/protocol/tool-calls.ts";

test.each([
  [{ readToolCall: {} }, "readToolCall"],
  [{ toolCallId: "c", startedAtMs: "1", mcpToolCall: {} }, "mcpToolCall"],
  [{ lastToolCall: "text", otherToolCall: null, lsToolCall: {} }, "lsToolCall"],
  [{ listToolCall: [] }, undefined],
  [{ ToolCall: {} }, undefined],
  [{ function: { name: "f" } }, undefined],
  [{}, undefined],
])("the stream reader finds the tool key of the call %j", (call, key) => {
  expect(toolKeyOf(call)).toBe(key);
});

test.each([
  [{ success: { a: 1 } }, { kind: "success", value: { a: 1 } }],
  [
    { isBackground: false, failure: {} },
    { kind: "failure", value: {}, siblings: { isBackground: false } },
  ],
  [
    { sandboxPolicy: {}, error: "no" },
    { kind: "error", value: "no", siblings: { sandboxPolicy: {} } },
  ],
  [
    { pid: 1, vanished: {} },
    { kind: "vanished", value: {}, siblings: { pid: 1 } },
  ],
  [{ pid: 1 }, undefined],
  [[{}], undefined],
  [undefined, undefined],
])("the stream reader finds the outcome of the call %j", (result, outcome) => {
  expect(outcomeOf(result)).toEqual(outcome);
});

test.each([
  ["success", { isError: false }, "ok", undefined],
  ["success", { isError: true, content: [{ text: { text: "bad" } }] }, "failed", "bad"],
  ["async", {}, "ok", undefined],
  ["error", { errorMessage: "File not found" }, "failed", "File not found"],
  ["error", { path: "", error: "gone" }, "failed", "gone"],
  ["error", { clientVisibleError: "c" }, "failed", "c"],
  ["error", { modelVisibleError: "m" }, "failed", "m"],
  ["error", { errorMessage: "", message: "m", stderr: "s" }, "failed", "m"],
  ["error", { reason: 1, stderr: "s" }, "failed", "s"],
  ["error", { content: [{ text: { text: "a" } }, { text: "b" }, null, { text: { text: "c" } }] }, "failed", "ac"],
  ["error", { content: [], exitCode: 3 }, "failed", "error"],
  ["error", null, "failed", "error"],
  ["error", "plain", "failed", "plain"],
  ["failure", { exitCode: 3, stderr: "" }, "failed", "exit code 3"],
  ["fileNotFound", {}, "failed", "fileNotFound"],
  ["rejected", { reason: "no" }, "refused", "no"],
  ["writePermissionDenied", { error: "ro" }, "refused", "ro"],
  ["vanished", { error: "x" }, "unknown", undefined],
])("the call %s %j is %s", (kind, value, group, text) => {
  expect(outcomeGroupOf({ kind, value })).toBe(group);
  expect(errorTextOf({ kind, value })).toBe(text);
});

test("a tool call without an outcome is unknown, never a success", () => {
  expect(outcomeGroupOf(undefined)).toBe("unknown");
  expect(errorTextOf(undefined)).toBeUndefined();
});

test.each([
  ["ok", "success startSuccess saveSuccess discardSuccess async"],
  ["failed", "error failure timeout spawnError fileNotFound notFile notFound fileBusy"],
  ["refused", "rejected permissionDenied readPermissionDenied writePermissionDenied"],
])("tool call outcomes counted as %s: %s", (group, kinds) => {
  expect(outcomeKinds.filter((kind) => outcomeGroupOf({ kind, value: {} }) === group).join(" ")).toBe(kinds);
});

test("the model sees tools under the names that models know", () => {
  expect(["read", "ls", "updateTodos", "semSearch", "mcp", "teleport"].map(displayNameOf)).toEqual(
    "Read LS TodoWrite SemanticSearch MCP Teleport".split(" "),
  );
  expect(["Search_docs", "read-a--file", "a", "__", ""].map(unknownWireName)).toEqual(
    "searchDocs readAFile a unknown unknown".split(" "),
  );
});

test("people see short display names of tools", () => {
  const tools = "shell ls updateTodos mcp createPlan askQuestion readMcpResource listMcpResources await semSearch glob";
  expect(tools.split(" ").map((tool) => callName(tool, {}))).toEqual(
    "Bash List Todo Mcp Plan Question Resource Resources Wait SemanticSearch Glob".split(" "),
  );
});

test("the TypeScript types of tool calls fit a call of a real stream", () => {
  const call: ToolShapes["globToolCall"] = {
    args: { globPattern: "**/app.ts" },
    result: {
      success: { pattern: "", path: "", files: [], totalFiles: 0, clientTruncated: false, ripgrepTruncated: false },
    },
  };
  expect(outcomeOf(call.result)?.kind).toBe("success");
});

test.each([
  ["mcp", { name: "docs-search" }, undefined, "Mcp"],
  ["edit", { path: "a", streamContent: "x" }, undefined, "Write"],
  ["edit", { path: "a", streamContent: "x" }, { beforeFullFileContent: "y", afterFullFileContent: "x" }, "Edit"],
  ["edit", { path: "a" }, { afterFullFileContent: "x" }, "Write"],
  ["edit", { path: "a", strReplace: {}, streamContent: "x" }, undefined, "Edit"],
  ["edit", { path: "a", multiStrReplace: {}, streamContent: "x" }, undefined, "Edit"],
  ["edit", { path: "a", applyPatch: {}, streamContent: "x" }, undefined, "Edit"],
  ["edit", { path: "a", streamContent: "x" }, { linesRemoved: 1 }, "Edit"],
  ["edit", { path: "a", streamContent: "x" }, { linesRemoved: 0 }, "Write"],
  ["edit", { path: "a" }, undefined, "Edit"],
  ["searchDocs", {}, undefined, "SearchDocs"],
])("the display name of %s with %j and %j is %s", (tool, args, value, name) => {
  expect(callName(tool, args, value)).toBe(name);
});
