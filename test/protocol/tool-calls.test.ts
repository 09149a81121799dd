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
} from "../../src/protocol/tool-calls.ts";

test.each([
  [{ readToolCall: {} }, "readToolCall"],
  [{ toolCallId: "c", startedAtMs: "1", mcpToolCall: {} }, "mcpToolCall"],
  [{ lastToolCall: "text", otherToolCall: null, lsToolCall: {} }, "lsToolCall"],
  [{ listToolCall: [] }, undefined],
  [{ ToolCall: {} }, undefined],
  [{ function: { name: "f" } }, undefined],
  [{}, undefined],
])("the tool key of %j", (call, key) => {
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
])("the outcome of %j", (result, outcome) => {
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
  ["error", "plain", "failed", "plain"],
  ["failure", { exitCode: 3, stderr: "" }, "failed", "exit code 3"],
  ["fileNotFound", {}, "failed", "fileNotFound"],
  ["rejected", { reason: "no" }, "refused", "no"],
  ["writePermissionDenied", { error: "ro" }, "refused", "ro"],
  ["vanished", { error: "x" }, "unknown", undefined],
])("%s %j is %s", (kind, value, group, text) => {
  expect(outcomeGroupOf({ kind, value })).toBe(group);
  expect(errorTextOf({ kind, value })).toBe(text);
});

test("no outcome is unknown, never a success", () => {
  expect(outcomeGroupOf(undefined)).toBe("unknown");
  expect(errorTextOf(undefined)).toBeUndefined();
  expect(outcomeKinds).toHaveLength(17);
});

test("names as a model knows them", () => {
  expect(["read", "ls", "updateTodos", "teleport"].map(displayNameOf)).toEqual(["Read", "LS", "TodoWrite", "Teleport"]);
});

test("the shapes fit a call of the real wire", () => {
  const call: ToolShapes["globToolCall"] = {
    args: { globPattern: "**/app.ts" },
    result: {
      success: { pattern: "", path: "", files: [], totalFiles: 0, clientTruncated: false, ripgrepTruncated: false },
    },
  };
  expect(outcomeOf(call.result)?.kind).toBe("success");
});

test.each([
  ["shell", {}, undefined, "Bash"],
  ["ls", {}, undefined, "List"],
  ["updateTodos", {}, undefined, "Todo"],
  ["mcp", { name: "docs-search" }, undefined, "Mcp"],
  ["semSearch", {}, undefined, "SemanticSearch"],
  ["webFetch", {}, undefined, "WebFetch"],
  ["edit", { path: "a", streamContent: "x" }, undefined, "Write"],
  ["edit", { path: "a", streamContent: "x" }, { beforeFullFileContent: "y", afterFullFileContent: "x" }, "Edit"],
  ["edit", { path: "a" }, { afterFullFileContent: "x" }, "Write"],
  ["edit", { path: "a", strReplace: {}, streamContent: "x" }, undefined, "Edit"],
  ["searchDocs", {}, undefined, "SearchDocs"],
])("people call %s with %j and %j: %s", (tool, args, value, name) => {
  expect(callName(tool, args, value)).toBe(name);
});
