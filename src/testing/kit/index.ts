// The package entry `./testing`: for tests of agents, and of programs that use them, without a model.

export type { AgentEvent, BackgroundWork, Denial, Outcome, Usage } from "../../protocol/event.ts";
export type { RunEvent, ToolEndEvent, ToolStartEvent } from "../../sdk/run-event.ts";
export { type AgentRun, type AgentRunOptions, agent, type TestAgent, type TestAgentOptions } from "./agent.ts";
export type { Change, ChangedFile } from "./changes.ts";
export { type CourserMatchers, courserMatchers, expectRun, type RunExpectations } from "./matchers.ts";
export {
  type ModelAnswer,
  type ModelServer,
  modelServer,
  type RecordedRequest,
  type ToolCallAnswer,
} from "./model-server.ts";
export {
  type ReplayOptions,
  replayModel,
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedStep,
  scriptedModel,
  type TestModel,
} from "./models.ts";
export { type CliOptions, type CliRun, type RunQuestion, runCli, type ToolUse } from "./run-cli.ts";
export type { AskedMessage, ModelRequest } from "./wires/asked.ts";
export type { Wire } from "./wires/index.ts";
export { type Workspace, type WorkspaceOptions, workspace } from "./workspace.ts";
