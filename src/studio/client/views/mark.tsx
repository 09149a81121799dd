// Marks: an agent as two letters on a coloured square, with its name for screen readers, and the state of a session.
import type { SessionState } from "../../../serve/api.ts";
import { agentLetters, agentName } from "../model/agents.ts";

export function Mark({ agent }: { agent: string }) {
  return (
    <span class={`mark mark-${agent}`} role="img" aria-label={agentName(agent)} title={agentName(agent)}>
      {agentLetters(agent)}
    </span>
  );
}

const stateSigns: Record<SessionState, [sign: string, word: string, kind: string]> = {
  running: ["▸", "running", "accent"],
  waiting: ["●", "asks", "problem"],
  done: ["✓", "done", "good"],
  failed: ["✕", "failed", "bad"],
  interrupted: ["■", "stopped", "soft"],
};

/** Shows the state of a run, by shape, word and colour. */
export function StateWord({ state, isShort = false, word }: { state: SessionState; isShort?: boolean; word?: string }) {
  const [sign, usual, kind] = stateSigns[state];
  return (
    <span class={kind}>
      <span aria-hidden="true">{sign}</span>
      {isShort ? <span class="cr-unseen">{usual}</span> : ` ${word ?? usual}`}
    </span>
  );
}
