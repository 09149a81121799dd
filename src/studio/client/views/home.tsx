// What is seen before anything was chosen.
import { agents, liveRuns, questions, sessions } from "../state/app.ts";
import { agentName } from "./sidebar.tsx";
import { TopBar } from "./top-bar.tsx";

export function Home() {
  const count = sessions.value?.length ?? 0;
  const waiting = questions.value.length;
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <div class="empty">
        <h1>{count > 0 ? "Choose a session, or start a run" : "No sessions yet"}</h1>
        <p>
          {count > 0
            ? "Sessions of every agent on this machine are on the left, running ones first."
            : "Sessions of the agents on this machine are listed here. Start a run, or use an agent in a terminal."}
        </p>
        <p class="buttons">
          <a class="button main" href="/new">
            New run
          </a>
          {waiting > 0 && (
            <a class="button" href="/inbox">
              {waiting} waiting for you
            </a>
          )}
        </p>
        {agents.value.length > 0 && (
          <dl class="found">
            {agents.value.map(({ name, version }) => (
              <div key={name}>
                <dt>{agentName(name)}</dt>
                <dd>{version ?? "found"}</dd>
              </div>
            ))}
          </dl>
        )}
        {liveRuns.value.length > 0 && <p class="soft">{liveRuns.value.length} working now.</p>}
      </div>
    </main>
  );
}
