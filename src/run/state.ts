// RunState: what of a run may change while it works. Everything that depends on it reads it when it is used.
import type { AgentModel } from "../agent/agent.ts";
import type { Provider } from "../model/provider.ts";
import type { PermissionMode } from "../protocol/run.ts";

export type RunState = { mode: PermissionMode; provider: Provider; model: AgentModel };

/** Made once for each mode; `first`, of the present one, is made already. */
export function perMode<Value>(
  state: RunState,
  make: (mode: PermissionMode) => Value,
  first = make(state.mode),
): () => Value {
  const made = new Map([[state.mode, first]]);
  return () => {
    if (!made.has(state.mode)) made.set(state.mode, make(state.mode));
    return made.get(state.mode)!;
  };
}
