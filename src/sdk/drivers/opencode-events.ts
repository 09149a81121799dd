// Decodes lines of opencode (`opencode run --format json`) into events. Its stream has no first and no last line.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent, Outcome, Usage } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { derived } from "../../protocol/stream-json.ts";
import { addUsage } from "../../protocol/usage.ts";
import { changeOf, shellRun } from "../wire-calls.ts";
import { LineCarrier } from "./carry.ts";
import type { DriverRequest } from "./driver.ts";
import { codeOfStatus } from "./failures.ts";
import { countOf, ForeignCalls, ForeignText, stringOrEmpty } from "./foreign-calls.ts";

type OpencodeRequest = Pick<DriverRequest, "prompt" | "cwd" | "model" | "permissionMode" | "mcpServers" | "connection">;

export function opencodeDecoder(request: OpencodeRequest): (line: unknown) => AgentEvent[] {
  const { prompt, cwd, model, permissionMode, mcpServers = {}, connection } = request;
  const lines = new LineCarrier("opencode");
  const calls = new ForeignCalls("opencode");
  const text = new ForeignText();
  const servers = [...Object.keys(mcpServers), ...(connection?.mcp ? [connection.mcp.name] : [])];
  const startedAt = Date.now();
  let hasBegun = false;
  let usage: Usage | undefined;
  let costUsd: number | undefined;

  const readers: Readonly<Record<string, (part: JsonObject, line: JsonObject) => AgentEvent[] | undefined>> = {
    step_start: () => [],
    text: (part, { timestamp }) => text.segment(stringOrEmpty(part.text), countOf(timestamp)),
    reasoning: (part) => [{ type: "thinking", text: stringOrEmpty(part.text) }, { type: "thinking_end" }],
    tool_use(part) {
      const { callID: id, tool, state } = part;
      if (typeof id !== "string" || !isObject(state)) return undefined;
      const isError = state.status === "error";
      const said = { text: stringOrEmpty(isError ? state.error : state.output), isError };
      const refused =
        isError && /rejected permission|a rule which prevents|permission.*(?:denied|rejected)/i.test(said.text);
      return [
        calls.start({ id, name: stringOrEmpty(tool), ...serverTool(stringOrEmpty(tool)), input: state.input }),
        calls.end(id, {
          ...said,
          refused,
          outcome: (call) => (isError ? undefined : outcomeOf(call, said.text, state)),
        }),
      ];
    },
    step_finish(part) {
      const spent = usageOf(part.tokens);
      if (spent) usage = usage ? addUsage(usage, spent) : spent;
      if (typeof part.cost === "number") costUsd = (costUsd ?? 0) + part.cost;
      if (part.reason !== "tool-calls") return [{ type: "done", text: text.whole, ...facts() }];
      return spent ? [{ type: "notice", kind: "usage", message: "", fields: spent }] : [];
    },
    error(_part, { error }) {
      const { name, data } = isObject(error) ? error : {};
      const { message, statusCode } = isObject(data) ? data : {};
      const code = typeof statusCode === "number" && statusCode >= 400 ? { code: codeOfStatus(statusCode) } : {};
      return [
        {
          type: "fail",
          message: stringOrEmpty(message) || stringOrEmpty(name) || "opencode failed.",
          ...code,
          ...facts(),
        },
      ];
    },
  };

  /** opencode names the tools of MCP servers `<server>_<tool>`. */
  function serverTool(name: string): { as?: string } {
    const server = servers.find((each) => name.startsWith(`${each}_`));
    return server === undefined ? {} : { as: `mcp__${server}__${name.slice(server.length + 1)}` };
  }

  function facts() {
    const durationMs = Date.now() - startedAt;
    const told = { ...(usage && { usage }), ...(costUsd !== undefined && { costUsd }) };
    // A later answer is counted from here.
    usage = undefined;
    costUsd = undefined;
    return { durationMs, apiDurationMs: durationMs, ...told };
  }

  return (line) => {
    const isKnown = isObject(line) && typeof line.type === "string" && Object.hasOwn(readers, line.type);
    const part = isKnown && isObject(line.part) ? line.part : {};
    const told = lines.carry(line, isKnown ? readers[line.type as string]!(part, line) : undefined);
    if (hasBegun || !isKnown) return told;
    hasBegun = true;
    const init: AgentEvent = {
      type: "init",
      sessionId: stringOrEmpty(line.sessionID),
      cwd,
      permissionMode,
      apiKeySource: "",
      ...(model !== undefined && { model }),
      carried: derived,
    };
    return [init, { type: "user", text: prompt, carried: derived }, ...told];
  };
}

function usageOf(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const cache = isObject(tokens.cache) ? tokens.cache : {};
  return {
    inputTokens: countOf(tokens.input),
    outputTokens: countOf(tokens.output) + countOf(tokens.reasoning),
    cacheReadTokens: countOf(cache.read),
    cacheWriteTokens: countOf(cache.write),
  };
}

/** Returns undefined if there is nothing beyond the text for the model. */
function outcomeOf({ name, args }: ToolCallPart, text: string, { metadata }: JsonObject): Outcome | undefined {
  const given = isObject(args) ? args : {};
  const facts = isObject(metadata) ? metadata : {};
  const success = (value: JsonObject): Outcome => ({ kind: "success", value });
  if (name === "Shell") {
    const { exit } = facts;
    const end = { stdout: text, ...(typeof exit === "number" && { exitCode: exit }) };
    return { kind: typeof exit === "number" && exit !== 0 ? "failure" : "success", value: shellRun(given, end) };
  }
  if (name === "Read" && isObject(facts.display) && typeof facts.display.text === "string") {
    const { path, text: content, lineStart: startLine, lineEnd: endLine, totalLines } = facts.display;
    return success({ path, content, isEmpty: content === "", totalLines, readRange: { startLine, endLine } });
  }
  if (name === "Edit" && typeof facts.diff === "string")
    return success({ path: given.path, ...changeOf({ diff: facts.diff }), message: text });
  if (name === "Write" && facts.exists === false && typeof given.content === "string")
    return success({ path: given.path, ...changeOf({ added: given.content }), afterFullFileContent: given.content });
  return undefined;
}
