// Maps each tool's wire name to the component that renders it.
import type { ComponentType } from "preact";
import type { ToolProps } from "../card.tsx";
import { BashTool } from "./bash.tsx";
import { DeleteTool } from "./delete.tsx";
import { EditTool, WriteTool } from "./edit.tsx";
import { GenericTool } from "./generic.tsx";
import { GlobTool } from "./glob.tsx";
import { GrepTool } from "./grep.tsx";
import { ListTool } from "./list.tsx";
import { McpTool } from "./mcp.tsx";
import { PlanTool, QuestionTool } from "./plan.tsx";
import { ReadTool } from "./read.tsx";
import { SemanticSearchTool } from "./semantic-search.tsx";
import { TodoTool } from "./todo.tsx";
import { WebFetchTool, WebSearchTool } from "./web.tsx";

const components: Record<string, ComponentType<ToolProps>> = {
  ls: ListTool,
  read: ReadTool,
  edit: EditTool,
  write: WriteTool,
  delete: DeleteTool,
  glob: GlobTool,
  grep: GrepTool,
  shell: BashTool,
  updateTodos: TodoTool,
  mcp: McpTool,
  listMcpResources: McpTool,
  readMcpResource: McpTool,
  getMcpTools: GenericTool,
  webFetch: WebFetchTool,
  webSearch: WebSearchTool,
  semSearch: SemanticSearchTool,
  createPlan: PlanTool,
  askQuestion: QuestionTool,
};

/**
 * Returns the component for any tool except subagents, whose card contains others. `name` is as in events, `ls`, or as in the
 * stream, `lsToolCall`.
 */
export function toolComponent(name: string): ComponentType<ToolProps> {
  const tool = name.replace(/ToolCall$/, "");
  return Object.hasOwn(components, tool) ? components[tool]! : GenericTool;
}
