// Which component shows which tool: one row a tool, by its name on the wire.
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

/** Any tool but a subagent's, whose card holds others. `name`: as events have it, `ls`, or as the stream does, `lsToolCall`. */
export function toolComponent(name: string): ComponentType<ToolProps> {
  const tool = name.replace(/ToolCall$/, "");
  return Object.hasOwn(components, tool) ? components[tool]! : GenericTool;
}
