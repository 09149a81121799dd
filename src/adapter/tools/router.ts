// The tools of a turn: known by name, checked by schema, run one at a time. Whatever goes wrong is a result.
import { callback, fields, object, text, words } from "../../json/checks.ts";
import { isObject } from "../../json/object.ts";
import { misuse } from "../../protocol/check-options.ts";
import { callFault, type KnownTool, type TurnTool, toolTable } from "../../protocol/turn-contract.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";

export type ToolContext = { signal: AbortSignal };

export type ToolOutput = { content: string; isError: boolean };

/** A tool that a model may call. */
export type AdapterTool = {
  name: string;
  /** Other names that CLIs have for it. */
  aliases?: readonly string[];
  description?: string;
  /** JSON Schema of its arguments. */
  schema: object;
  /** The text that the model is told. What it throws is told as well, as an error. */
  run(args: any, context: ToolContext): Promise<string | ToolOutput>;
};

const isTool = fields({ name: text, aliases: words, description: text, schema: object, run: callback }, [
  "name",
  "schema",
  "run",
]);

export interface ToolRouter {
  /** What a model is told. */
  list(): TurnTool[];
  /** Every name that is accepted, aliases included. */
  known(): KnownTool[];
  /** Never throws. Unknown names and arguments that do not fit run nothing. */
  call(name: string, args: unknown, context?: Partial<ToolContext>): Promise<ToolOutput>;
}

export function createToolRouter(tools: readonly AdapterTool[]): ToolRouter {
  if (!Array.isArray(tools)) throw misuse("createToolRouter takes a list of tools: createToolRouter([…]).");
  const byName = new Map<string, AdapterTool>();
  for (const [index, tool] of tools.entries()) {
    const fault = isTool(tool);
    if (fault !== undefined) throw misuse(`createToolRouter: tool ${index + 1} ${fault}.`);
    for (const name of [tool.name, ...(tool.aliases ?? [])]) {
      if (byName.has(name)) throw misuse(`createToolRouter: two tools are named ${JSON.stringify(name)}.`);
      byName.set(name, tool);
    }
  }
  const known = [...byName].map(([name, { schema }]) => ({ name, schema }));
  const table = toolTable(known);
  return {
    list: () =>
      tools.map(({ name, schema, description }) => ({
        name,
        schema,
        ...(description !== undefined && { description }),
      })),
    known: () => known,
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
