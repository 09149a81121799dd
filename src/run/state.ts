// RunState: the part of a run that may change while it works. Code that depends on it reads it on each use.
import type { AgentModel } from "../agent/agent.ts";
import type { Provider } from "../model/provider.ts";
import type { PermissionMode } from "../protocol/run.ts";

export type RunState = { mode: PermissionMode; provider: Provider; model: AgentModel };

/** Caches one value per mode; `first` is the value for the current mode. */
export function perMode<Value>(
  state: RunState,
  make: (mode: PermissionMode) => Value,
  first = make(state.mode),
): () => Value {
  const byMode = new Map([[state.mode, first]]);
  return () => {
    if (!byMode.has(state.mode)) byMode.set(state.mode, make(state.mode));
    return byMode.get(state.mode)!;
  };
}
