// A workspace of real files in a temporary folder, and a call of one tool in it.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "../../../src/agent/tools/tool.ts";
import { toolContext } from "../../support/tool-context.ts";

type Extras = Partial<ToolContext>;

export type Workspace = {
  root: string;
  path(name: string): string;
  text(name: string): string;
  context(extras?: Extras): ToolContext;
  call(tool: Tool, args: unknown, extras?: Extras): Promise<ToolResult & { value: any }>;
  fail(tool: Tool, args: unknown, extras?: Extras): Promise<ToolFailure & { value: any }>;
};

export function workspace(files: Record<string, string | Buffer> = {}): Workspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "courser-tools-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  const context = (extras: Extras = {}): ToolContext => toolContext(root, extras);
  const call: Workspace["call"] = async (tool, args, extras) => {
    const result = await tool.run(tool.parse(args), context(extras));
    return { ...result, value: result.outcome.value };
  };
  return {
    root,
    path: (name) => join(root, name),
    text: (name) => readFileSync(join(root, name), "utf8"),
    context,
    call,
    async fail(tool, args, extras) {
      try {
        await call(tool, args, extras);
      } catch (error) {
        if (error instanceof ToolFailure) return error as ToolFailure & { value: any };
        throw error;
      }
      throw new Error(`${tool.name} succeeded where it should fail`);
    },
  };
}
