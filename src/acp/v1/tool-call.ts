// A tool call as version 1 spells it: kind, title, locations, input and output.

import { isAbsolute, resolve } from "node:path";
import { fenced } from "../../export/markdown-text.ts";
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import type { Outcome } from "../../protocol/event.ts";
import { callName, errorTextOf, outcomeGroupOf } from "../../protocol/tool-calls.ts";
import { collapsed, shortened } from "../../text/one-line.ts";
import { visible } from "../../text/visible.ts";
import { viewOfCall } from "../../view/call-view.ts";

export type WireCall = { callId: string; tool: string; args: unknown };

export type ContentBlock = { type: string } & JsonObject;

type ToolKind = "read" | "edit" | "delete" | "search" | "execute" | "think" | "fetch" | "other";

const kinds: Readonly<Record<string, ToolKind>> = {
  read: "read",
  ls: "read",
  edit: "edit",
  write: "edit",
  delete: "delete",
  glob: "search",
  grep: "search",
  semSearch: "search",
  shell: "execute",
  await: "execute",
  webFetch: "fetch",
  webSearch: "fetch",
  readMcpResource: "fetch",
  updateTodos: "think",
  createPlan: "think",
  task: "think",
};

/** Tools whose title is their argument alone, without the tool's name. */
const speaksForItself: ReadonlySet<string> = new Set(["shell", "task", "createPlan", "askQuestion"]);

const longestTitle = 1000;
const longestText = 50_000;
/** The file size in characters above which only changed lines are shown. */
const largestDiff = 1_000_000;

export function toolKind(tool: string): ToolKind {
  return Object.hasOwn(kinds, tool) ? kinds[tool]! : "other";
}

/** The tool and its target; for a shell call, the command itself. */
export function callTitle({ callId, tool, args }: WireCall, workspace: string): string {
  const { what } = viewOfCall({ callId, tool, args }, undefined, workspace);
  const name = callName(tool, args);
  const visibleText = collapsed(visible(what));
  if (visibleText === "") return name;
  return shortened(speaksForItself.has(tool) ? visibleText : `${name} ${visibleText}`, longestTitle);
}

/** Returns the fields that are known when a call begins. */
export function callFields(call: WireCall, workspace: string): JsonObject {
  const locations = locationsOf(call, workspace);
  return {
    toolCallId: call.callId,
    title: callTitle(call, workspace),
    name: callName(call.tool, call.args),
    kind: toolKind(call.tool),
    rawInput: call.args,
    ...(locations.length > 0 && { locations }),
  };
}

function locationsOf({ tool, args }: WireCall, workspace: string): { path: string; line?: number }[] {
  const { path, targetDirectory, offset } = fieldsOf(args);
  const place = typeof path === "string" ? path : targetDirectory;
  if (tool === "shell" || typeof place !== "string" || place === "") return [];
  const line = typeof offset === "number" && offset > 0 ? { line: offset } : {};
  return [{ path: isAbsolute(place) ? place : resolve(workspace, place), ...line }];
}

/** Returns the fields that are known when a call has ended. */
export function endFields(call: WireCall, outcome: Outcome | undefined, workspace: string): JsonObject {
  const content = callContent(call, outcome, workspace);
  return {
    toolCallId: call.callId,
    status: outcomeGroupOf(outcome) === "ok" ? "completed" : "failed",
    content,
    ...(outcome && { rawOutput: { [outcome.kind]: shortenValue(outcome.value), ...outcome.siblings } }),
  };
}

function callContent(call: WireCall, outcome: Outcome | undefined, workspace: string): ContentBlock[] {
  const value = isObject(outcome?.value) ? outcome.value : {};
  const diff = diffOf(value, workspace);
  if (diff) return [diff];
  const view = viewOfCall(call, outcome, workspace);
  const error = outcome?.kind === "failure" ? undefined : errorTextOf(outcome);
  const shown = view.output ?? (error === undefined && view.diff ? { language: "diff", text: view.diff } : undefined);
  return [
    ...(shown ? [textContent(shown.language === "markdown" ? shown.text : cutFence(shown.text, shown.language))] : []),
    ...(error === undefined || error === view.output?.text ? [] : [textContent(error)]),
    ...imagesIn(value),
  ];
}

/** Converts a change for the client. `oldText` is null for a new file. */
function diffOf({ path, beforeFullFileContent: before, afterFullFileContent: after }: JsonObject, workspace: string) {
  if (typeof path !== "string" || typeof after !== "string") return undefined;
  const oldText = typeof before === "string" ? before : null;
  if ((oldText?.length ?? 0) + after.length > largestDiff) return undefined;
  return { type: "diff", path: isAbsolute(path) ? path : resolve(workspace, path), oldText, newText: after };
}

function imagesIn({ content }: JsonObject): ContentBlock[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((item) => {
    const image = isObject(item) ? item["image"] : undefined;
    if (!isObject(image) || typeof image["data"] !== "string" || typeof image["mimeType"] !== "string") return [];
    return [{ type: "content", content: { type: "image", data: image["data"], mimeType: image["mimeType"] } }];
  });
}

export function textContent(text: string): ContentBlock {
  return { type: "content", content: { type: "text", text: shortened(text, longestText) } };
}

export function cutFence(text: string, language: string): string {
  return fenced(shortened(text, longestText), language);
}

/** Fields with the content of whole files, which are omitted since the diff shows it. */
const leftOut: ReadonlySet<string> = new Set(["beforeFullFileContent", "afterFullFileContent"]);

function shortenValue(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return shortened(value, longestText);
  if (typeof value !== "object" || value === null || depth > 20) return value;
  if (Array.isArray(value)) return value.map((each) => shortenValue(each, depth + 1));
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (leftOut.has(key) ? [] : [[key, shortenValue(each, depth + 1)]])),
  );
}
