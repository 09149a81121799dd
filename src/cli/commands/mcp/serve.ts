// `mcp serve`: serves this agent over MCP to other agents. Its flags and files decide what it may do.
import { type CallToolResult, Server, type Tool } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { type Check, fields, oneOf, positive } from "../../../json/checks.ts";
import type { JsonObject } from "../../../json/object.ts";
import type { RunRequest } from "../../../protocol/run.ts";
import type { RunHost } from "../../../run/host.ts";
import { setUp } from "../../../run/setup.ts";
import { listChats } from "../../../store/chats/list-chats.ts";
import { configDir } from "../../../store/config-dir.ts";
import type { Invocation } from "../../main.ts";
import { runHost, runRequest } from "../../run-request.ts";
import { chatJson } from "../sessions/chat-lines.ts";
import { runForAgent, type ServedTask } from "./served-run.ts";

type CallProgress = { signal: AbortSignal; onStep(message: string): void };

type ServedTool = { tool: Tool; check: Check; call(args: JsonObject, step: CallProgress): Promise<CallToolResult> };

const filled: Check = (value) => (typeof value === "string" && value !== "" ? undefined : "must be a string");
const modes = ["plan", "ask"] as const;
const taskFields = { prompt: filled, workspace: filled, mode: oneOf(...modes) };
const count: Check = (value) => (Number.isInteger(value) ? positive(value) : "must be a positive integer");

const text = (description: string) => ({ type: "string", description });
const mode = { type: "string", enum: [...modes], description: "Only read: make a plan, or answer a question" };
const workspace = text("Directory to work in, inside the one that is served");

export async function serve(invocation: Invocation): Promise<number> {
  const served: ServeContext = { request: runRequest(invocation, "print"), host: runHost(invocation) };
  await setUp(served.request, served.host); // fail at the start if every run would fail
  const tools = servedTools(served);
  const server = new Server({ name: "courser", version: invocation.version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: tools.map(({ tool }) => tool) }));
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {}, _meta } }, { mcpReq }) => {
    const found = tools.find(({ tool }) => tool.name === name);
    if (!found)
      return errorResult(`Unknown tool ${name}. Available: ${tools.map(({ tool }) => tool.name).join(", ")}.`);
    const fault = found.check(args);
    if (fault !== undefined) return errorResult(`${name}: ${fault}.`);
    const token = _meta?.progressToken;
    let progress = 0;
    const onStep = (message: string) => {
      if (token === undefined) return;
      const params = { progressToken: token, progress: ++progress, message };
      void mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    };
    const work = found.call(args, { signal: AbortSignal.any([mcpReq.signal, closing.signal]), onStep });
    running.add(work);
    return work.finally(() => running.delete(work));
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await closed;
  closing.abort();
  await Promise.allSettled(running);
  return 0;
}

type ServeContext = { request: RunRequest; host: RunHost };

function servedTools(served: ServeContext): ServedTool[] {
  return [
    {
      tool: {
        name: "run",
        description:
          "Give the Courser agent a task in a new session. It reads, edits and runs commands by itself, and answers when it is done.",
        inputSchema: {
          type: "object",
          properties: { prompt: text("The task"), workspace, mode },
          required: ["prompt"],
          additionalProperties: false,
        },
      },
      check: fields(taskFields, ["prompt"]),
      call: (args, step) => run(served, taskOf(args), step),
    },
    {
      tool: {
        name: "continue",
        description: "Continue a session that run started.",
        inputSchema: {
          type: "object",
          properties: { session_id: text("From run, or from sessions"), prompt: text("What to say"), workspace, mode },
          required: ["session_id", "prompt"],
          additionalProperties: false,
        },
      },
      check: fields({ ...taskFields, session_id: filled }, ["session_id", "prompt"]),
      call: (args, step) => run(served, { ...taskOf(args), sessionId: String(args["session_id"]) }, step),
    },
    {
      tool: {
        name: "sessions",
        description: "List the sessions of the workspace, the latest first.",
        inputSchema: {
          type: "object",
          properties: { limit: { type: "integer", minimum: 1, maximum: 100 } },
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
      },
      check: fields({ limit: count }),
      call: async (args) => sessions(served, args),
    },
  ];
}

/** Converts the arguments of a tool call, which must already be validated. */
function taskOf({ prompt, workspace, mode }: JsonObject): ServedTask {
  return { prompt, ...(workspace !== undefined && { workspace }), ...(mode !== undefined && { mode }) } as ServedTask;
}

async function run(served: ServeContext, task: ServedTask, step: CallProgress): Promise<CallToolResult> {
  const { text: said, isError, sessionId, code, durationMs, usage, denials } = await runForAgent(served, task, step);
  const refused = denials.map(({ tool, reason }) => `Rejected: ${tool}: ${reason}`);
  const details = {
    session_id: sessionId,
    result: said,
    is_error: isError,
    ...(code !== undefined && { error_code: code }),
    duration_ms: durationMs,
    ...(usage && { usage }),
    ...(denials.length > 0 && { permission_denials: denials }),
  };
  return {
    content: [
      { type: "text", text: said },
      { type: "text", text: [`session_id: ${sessionId}`, ...refused].join("\n") },
    ],
    structuredContent: details,
    isError,
  };
}

function sessions(
  { request: { workspace: folder }, host: { env } }: ServeContext,
  { limit }: JsonObject,
): CallToolResult {
  const most = typeof limit === "number" ? Math.min(limit, 100) : 20;
  const listed = listChats(configDir(env), { workspace: folder }).slice(0, most).map(chatJson);
  return {
    content: [{ type: "text", text: JSON.stringify(listed, null, 2) }],
    structuredContent: { sessions: listed },
  };
}

function errorResult(message: string): CallToolResult {
  return { content: [{ type: "text", text: message }], isError: true };
}
