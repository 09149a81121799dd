// What a tool is given, for calls outside of a run.
import { createProcessRunner } from "../../src/agent/process.ts";
import { TodoList } from "../../src/agent/tools/todos.ts";
import type { ToolContext } from "../../src/agent/tools/tool.ts";
import { createPageCache } from "../../src/web/page-cache.ts";

export function toolContext(workspace: string, extras: Partial<ToolContext> = {}): ToolContext {
  return {
    callId: "call_1",
    sessionId: "session_1",
    workspace,
    roots: [],
    signal: new AbortController().signal,
    print: () => {},
    processes: createProcessRunner(),
    background: undefined as never,
    todos: new TodoList(),
    resultLimit: 30_000,
    web: { mode: "default", rules: [], env: {}, pages: createPageCache(), engine: undefined },
    ...extras,
  };
}
