// The package entry ./components: renders agent sessions with preact. Nothing here fetches, stores or knows a server.

export type { AgentEvent } from "../../protocol/event.ts";
export type { Answer, Question, Recorded } from "../../protocol/run.ts";
export type { ToolShapes } from "../../protocol/tool-shapes.ts";
export { type CallState, Card, type CardProps, stateOf, type ToolProps } from "./card.tsx";
export {
  ContextChart,
  ContextMeter,
  CostChart,
  type DayNumbers,
  DaysChart,
  TimeBar,
  TimeChart,
  UsageChart,
} from "./charts.tsx";
export { Copy, copyText } from "./copy.tsx";
export { Counts } from "./counts.tsx";
export { Diff, type DiffProps, type LineOfDiff } from "./diff.tsx";
export { AssistantMessage, Notice, ResultLine, Thinking, UserMessage } from "./messages.tsx";
export { QuestionCard, type QuestionProps } from "./question.tsx";
export { Ansi } from "./text/ansi.tsx";
export { Code } from "./text/code.tsx";
export { Markdown } from "./text/markdown.tsx";
export { type BlockProps, BlockView } from "./timeline/block.tsx";
export type { Block, BlockBody, Picture, ToolCall, TurnNumbers } from "./timeline/blocks.ts";
export { TimelineLog, timelineOf } from "./timeline/log.ts";
export type { TimelineControls } from "./timeline/scroller.ts";
export { Timeline, type TimelineProps } from "./timeline/timeline.tsx";
export { toolCall } from "./tool-call.ts";
export { BashTool } from "./tools/bash.tsx";
export { DeleteTool } from "./tools/delete.tsx";
export { EditTool, WriteTool } from "./tools/edit.tsx";
export { GenericTool } from "./tools/generic.tsx";
export { GlobTool } from "./tools/glob.tsx";
export { GrepTool } from "./tools/grep.tsx";
export { toolComponent } from "./tools/index.tsx";
export { ListTool } from "./tools/list.tsx";
export { McpTool } from "./tools/mcp.tsx";
export { PlanTool, QuestionTool } from "./tools/plan.tsx";
export { ReadTool } from "./tools/read.tsx";
export { SemanticSearchTool } from "./tools/semantic-search.tsx";
export { TaskTool } from "./tools/task.tsx";
export { TodoList, TodoTool } from "./tools/todo.tsx";
export { WebFetchTool, WebSearchTool } from "./tools/web.tsx";
export { loadHighlighter, type Openness, View, type ViewOptions } from "./view-options.tsx";
