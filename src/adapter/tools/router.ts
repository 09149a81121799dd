// Routes tool calls: finds a tool by name, checks its arguments and runs it. Every failure is returned as a result.

import { callback, fields, object, text, words } from "../../json/checks.ts";
import { isObject } from "../../json/object.ts";
import { usageError } from "../../protocol/error-codes.ts";
import { callFault, type KnownTool, type TurnTool, toolTable } from "../../protocol/turn-contract.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";

/** What a tool gets besides its arguments. */
export type ToolContext = { signal: AbortSignal };

/** What a tool returns to the model. */
export type ToolOutput = { content: string; isError: boolean };

/** A tool that a model may call. */
export type AdapterTool = {
  name: string;
  /** Other names that CLIs use for it. */
  aliases?: readonly string[];
  description?: string;
  /** The JSON Schema of its arguments. */
  schema: object;
  /** Returns the text for the model. An error that it throws is reported to the model too. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of the arguments is the implementer's to choose
  run(args: any, context: ToolContext): Promise<string | ToolOutput>;
};

const isTool = fields({ name: text, aliases: words, description: text, schema: object, run: callback }, [
  "name",
  "schema",
  "run",
]);

/** The tools that a model may call in a turn. */
export interface ToolRouter {
  /** The tools as described to the model. */
  list(): TurnTool[];
  /** Every name that is accepted, including aliases. */
  known(): KnownTool[];
  /** Never throws. Unknown names and invalid arguments run nothing. */
  call(name: string, args: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

/** Creates a router for a list of tools. */
export function createToolRouter(tools: readonly AdapterTool[]): ToolRouter {
  if (!Array.isArray(tools)) throw usageError("createToolRouter takes a list of tools: createToolRouter([…]).");
  const byName = new Map<string, AdapterTool>();
  for (const [index, tool] of tools.entries()) {
    const fault = isTool(tool);
    if (fault !== undefined) throw usageError(`createToolRouter: tool ${index + 1} ${fault}.`);
    for (const name of [tool.name, ...(tool.aliases ?? [])]) {
      if (byName.has(name)) throw usageError(`createToolRouter: two tools are named ${JSON.stringify(name)}.`);
      byName.set(name, tool);
    }
  }
  const toolSchemas = [...byName].map(([name, { schema }]) => ({ name, schema }));
  const table = toolTable(toolSchemas);
  return {
    list: () =>
      tools.map(({ name, schema, description }) => ({
        name,
        schema,
        ...(description !== undefined && { description }),
      })),
    known: () => toolSchemas,
    async call(name, args, { signal = new AbortController().signal } = {}) {
      const fault = callFault(name, args, table);
      if (fault) return { content: `${fault.message} Nothing was run. [${fault.code}]`, isError: true };
      try {
        const output = await unlessStopped(signal, () => byName.get(name)!.run(args, { signal }));
        return typeof output === "string" ? { content: output, isError: false } : output;
      } catch (error) {
        return { content: error instanceof Error ? error.message : String(error), isError: true };
      }
    },
  };
}

export function isRouter(value: unknown): value is ToolRouter {
  return isObject(value) && ["list", "known", "call"].every((name) => typeof value[name] === "function");
}
