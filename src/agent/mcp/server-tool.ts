// Wraps a tool of an MCP server as a Tool of the agent.
import type { Tool as Offered } from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../../json/object.ts";
import { valueFault } from "../../json/schema.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { mcpOutcome, mcpWireArgs } from "../../protocol/mcp-wire.ts";
import type { ToolPins } from "../../store/mcp-approvals.ts";
import { type Tool, ToolFailure } from "../tools/tool.ts";
import { type Connection, ServerProblem } from "./connection.ts";
import { shownResult, toolResult } from "./content.ts";

export type ServerToolContext = {
  connection: Pick<Connection, "callTool">;
  /** The name of the server in the MCP configuration. */
  server: string;
  /** The URL or command of the server, which hooks receive. */
  reached: { url?: string; command?: string };
  /** The stored approvals of tool descriptions. Absent for a server that was passed on the command line. */
  pins?: ToolPins;
  /** Whether the user approved calling this server's tools without asking. */
  consented: boolean;
};

const longestDescription = 4000;

/** Makes a tool from one that an MCP server offers. The model calls it by `name`, which differs from the names of all built-in tools. */
export function serverTool(offered: Offered, name: string, context: ServerToolContext): Tool<JsonObject> {
  const { connection, server, reached, pins, consented } = context;
  const described = approvedParts(offered);
  const target = `${server}:${offered.name}`;
  return {
    name,
    wire: "mcp",
    mcp: { server, tool: offered.name, ...reached },
    description: (offered.description ?? offered.title ?? "").slice(0, longestDescription),
    parameters: parametersOf(offered.inputSchema),
    // What a server says about its own tools cannot be verified.
    readOnly: false,
    parse: (input) => checkedArguments(input, name, offered.inputSchema),
    wireArgs: (args, { callId }) => ({ ...mcpWireArgs({ server, tool: offered.name, args, callId }) }),
    needs: () => [
      {
        kind: "Mcp",
        target,
        ...(pins?.status(described) === "changed" && { changed: true }),
        ...(consented && { consented }),
      },
    ],
    async run(args, { signal, print, resultLimit }) {
      // By permitting the call, the user has approved the tool's changed description.
      if (pins?.status(described) === "changed") approveNow(pins, described);
      try {
        const onProgress = (message: string) => print(`${message}\n`);
        const result = await connection.callTool(offered.name, args, { signal, onProgress });
        const rendered = shownResult(result, resultLimit);
        const isError = result.isError === true;
        const words = isError
          ? { ...rendered, text: rendered.text || "The tool failed and did not say why." }
          : rendered;
        return toolResult(mcpOutcome(rendered.wire, isError), words);
      } catch (error) {
        throw serverFailure(error);
      }
    },
  };
}

/** Approves the tool's current description. If this cannot be saved, it applies to this run only. */
function approveNow(pins: ToolPins, described: ReturnType<typeof approvedParts>): void {
  try {
    pins.approve(described);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

/** Returns the parts of a tool that its approval is bound to. */
export function approvedParts({ name, description, inputSchema }: Offered) {
  return { name, description, schema: inputSchema };
}

/** Converts an error to the stream's shape for MCP calls: the message alone. */
export function serverFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  if (!(error instanceof ServerProblem)) throw error;
  return new ToolFailure("error", { error: error.message }, error.message);
}

function objectArguments(input: unknown, name: string): JsonObject {
  if (isObject(input)) return input;
  if (input === undefined || input === null || input === "") return {};
  const message = `${name}: the arguments must be one complete JSON object.`;
  throw new ToolFailure("error", { error: message }, message);
}

/** Validates arguments against the tool's schema and reports errors to the model. Unknown keywords are ignored. */
function checkedArguments(input: unknown, name: string, schema: Offered["inputSchema"]): JsonObject {
  const args = objectArguments(input, name);
  const fault = valueFault(args, { ...schema, type: "object" }, { place: "arguments" });
  if (fault === undefined) return args;
  const message = `${name}: the arguments do not fit its schema: ${fault}. Nothing was called.`;
  throw new ToolFailure("error", { error: message }, message);
}

function parametersOf(schema: Offered["inputSchema"]): object {
  const { $schema: _schema, ...rest } = schema as JsonObject;
  return { ...rest, type: "object", properties: isObject(rest["properties"]) ? rest["properties"] : {} };
}

const longestName = 64;

/** Builds a unique name of at most 64 letters, digits, `_` and `-`, as vendors require. */
export function callableName(server: string, tool: string, taken: Set<string>): string {
  const plain = `${server}-${tool}`.replace(/[^a-zA-Z0-9_-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
  for (let number = 1; ; number++) {
    const end = number === 1 ? "" : `_${number}`;
    const name = plain.slice(0, longestName - end.length) + end;
    if (taken.has(name.toLowerCase())) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}
