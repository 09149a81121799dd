// RunState: what of a run may change while it works. Everything that depends on it reads it when it is used.
import type { AgentModel } from "../agent/agent.ts";
import type { Provider } from "../model/provider.ts";
import type { PermissionMode } from "../protocol/run.ts";

export type RunState = { mode: PermissionMode; provider: Provider; model: AgentModel };
