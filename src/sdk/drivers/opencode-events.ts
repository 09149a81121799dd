// Decodes lines of opencode (`opencode run --format json`) into events. Its stream has no first and no last line.
import { fieldsOf, isObject, type JsonObject, stringOrEmpty } from "../../json/object.ts";
import type { AgentEvent, Outcome, Usage } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { changeOf, printed, shellRun } from "../wire-calls.ts";
import type { AgentStream } from "./agent-stream.ts";
import type { LineReader } from "./define-agent.ts";
import { type DriverRequest, serversOf } from "./driver.ts";
import { codeOfStatus } from "./failures.ts";
import { countOf } from "./foreign-calls.ts";

export function opencodeReaders(stream: AgentStream, request: DriverRequest): Record<string, LineReader> {
  const { calls, text } = stream;
  const servers = Object.keys(serversOf(request));

  const readers: Readonly<Record<string, (part: JsonObject, line: JsonObject) => AgentEvent[] | undefined>> = {
    text: (part, { timestamp }) => text.segment(stringOrEmpty(part.text), countOf(timestamp)),
    reasoning: (part) => [{ type: "thinking", text: stringOrEmpty(part.text) }, { type: "thinking_end" }],
    tool_use(part) {
      const { callID: id, tool, state } = part;
      if (typeof id !== "string" || !isObject(state)) return undefined;
      const isError = state.status === "error";
      const result = { text: stringOrEmpty(isError ? state.error : state.output), isError };
      const refused =
        isError && /rejected permission|a rule which prevents|permission.*(?:denied|rejected)/i.test(result.text);
      return [
        calls.start({ id, name: stringOrEmpty(tool), ...serverTool(stringOrEmpty(tool)), input: state.input }),
        calls.end(id, {
          ...result,
          refused,
          outcome: (call) => (isError ? undefined : callOutcome(call, result.text, state)),
        }),
      ];
    },
    step_finish(part) {
      const spent = stream.used(parseTokens(part.tokens), typeof part.cost === "number" ? part.cost : undefined);
      return part.reason === "tool-calls" ? spent : stream.done();
    },
    error(_part, { error }) {
      const { _tag: tag, name = tag, data } = fieldsOf(error);
      const { message, statusCode } = fieldsOf(data);
      const code = typeof statusCode === "number" && statusCode >= 400 ? { code: codeOfStatus(statusCode) } : {};
      return stream.fail(stringOrEmpty(message) || stringOrEmpty(name) || "opencode failed.", code);
    },
  };

  /** Returns the server and the tool of an MCP call, which opencode names `<server>_<tool>`. */
  function serverTool(name: string): { as?: string } {
    const server = servers.find((each) => name.startsWith(`${each}_`));
    return server === undefined ? {} : { as: `mcp__${server}__${name.slice(server.length + 1)}` };
  }

  return Object.fromEntries(
    Object.entries(readers).map(([type, read]) => [type, (line) => read(fieldsOf(line.part), line)]),
  );
}

function parseTokens(tokens: unknown): Usage | undefined {
  if (!isObject(tokens)) return undefined;
  const cache = fieldsOf(tokens.cache);
  return {
    inputTokens: countOf(tokens.input),
    outputTokens: countOf(tokens.output) + countOf(tokens.reasoning),
    cacheReadTokens: countOf(cache.read),
    cacheWriteTokens: countOf(cache.write),
  };
}

/** Returns the outcome of a call in the unified form, or undefined if the CLI reports no more than the text that its model received. */
function callOutcome({ name, args }: ToolCallPart, text: string, { metadata }: JsonObject): Outcome | undefined {
  const argsObject = fieldsOf(args);
  const spending = fieldsOf(metadata);
  const success = (value: JsonObject): Outcome => ({ kind: "success", value });
  if (name === "Shell") {
    const { exit } = spending;
    const end = { stdout: printed(text), ...(typeof exit === "number" && { exitCode: exit }) };
    return { kind: typeof exit === "number" && exit !== 0 ? "failure" : "success", value: shellRun(argsObject, end) };
  }
  if (name === "Read" && isObject(spending.display) && typeof spending.display.text === "string") {
    const { path, text: content, lineStart: startLine, lineEnd: endLine, totalLines } = spending.display;
    return success({ path, content, isEmpty: content === "", totalLines, readRange: { startLine, endLine } });
  }
  if (name === "Edit" && typeof spending.diff === "string")
    return success({ path: argsObject.path, ...changeOf({ diff: spending.diff }), message: text });
  if (name === "Write" && spending.exists === false && typeof argsObject.content === "string")
    return success({
      path: argsObject.path,
      ...changeOf({ added: argsObject.content }),
      afterFullFileContent: argsObject.content,
    });
  return undefined;
}
