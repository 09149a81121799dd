// Compares two runs of one task side by side: how each ended, its figures, its answer and its changes.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { FileChange, ListedSession, SessionDetails } from "../../../serve/api.ts";
import { counted, dollars, duration, tokenCount } from "../../../view/numbers.ts";
import { Counts } from "../../components/counts.tsx";
import { Diff } from "../../components/diff.tsx";
import { languageForPath } from "../../components/text/code.tsx";
import { Markdown } from "../../components/text/markdown.tsx";
import { View } from "../../components/view-options.tsx";
import { agentName } from "../model/agents.ts";
import { moment, pathIn } from "../model/figures.ts";
import type { SessionRef } from "../service/api.ts";
import { recent, service, sessionTitle } from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf } from "../state/router.ts";
import { Loading } from "./lazy.tsx";
import { Mark, StateWord } from "./mark.tsx";
import { Row } from "./row.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

/** A session to compare; `answer` is its last text. */
type Compared = {
  ref: SessionRef;
  details: SessionDetails;
  prompt: string;
  answer: string;
  files: readonly FileChange[];
};

export function Compare({ sessions }: { sessions: readonly SessionRef[] }) {
  useTitle("Compare");
  const found = useSignal<readonly Compared[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const key = addressOf({ type: "compare", sessions });
  useEffect(() => {
    found.value = undefined;
    problem.value = undefined;
    Promise.all(sessions.map(read)).then(
      (both) => (found.value = both),
      (error: Error) => (problem.value = error.message),
    );
  }, [key]);
  const both = found.value;
  return (
    <main id="main" class="middle wide" tabIndex={-1}>
      <TopBar />
      <header class="head">
        <div class="head-line">
          <h1>Compare</h1>
          <span class="head-facts">{both?.[0]?.prompt.split("\n")[0]}</span>
        </div>
      </header>
      <div class="scroll broad compare">
        {problem.value !== undefined && <p class="problem">{problem.value}</p>}
        {!both && problem.value === undefined && <Loading widths={[60, 80]} />}
        {both?.length === 1 && <Choose first={both[0]!} />}
        {both?.length === 2 && <SideBySide both={both as [Compared, Compared]} />}
      </div>
    </main>
  );
}

async function read(ref: SessionRef): Promise<Compared> {
  const [details, { items }, changes] = await Promise.all([
    service().session(ref),
    service().lastEvents(ref, 1),
    service().changes(ref, { commands: true }),
  ]);
  const prompt = items.find(({ event }) => event.type === "user")?.event;
  const isLive = details.state === "running" || details.state === "waiting";
  // A session that is still running has not failed.
  const lastEvent = items.findLast(({ event: { type } }) => type === "text_end" || (type === "fail" && !isLive))?.event;
  return {
    ref,
    details: details,
    prompt: prompt?.type === "user" ? prompt.text : details.title,
    answer: lastEvent?.type === "text_end" ? lastEvent.text : lastEvent?.type === "fail" ? lastEvent.message : "",
    files: changes.items,
  };
}

/** Chooses the second session: those of the same task first, then those of the same project. */
function Choose({ first: { ref, details } }: { first: Compared }) {
  const others = (recent.value ?? []).filter(({ tool, id }) => tool !== ref.tool || id !== ref.id);
  const nearness = ({ title, workspace }: ListedSession) =>
    (title === details.title ? 2 : 0) + (workspace === details.workspace ? 1 : 0);
  const sorted = others.toSorted((one, other) => nearness(other) - nearness(one)).slice(0, 30);
  return (
    <section class="choose">
      <h2>With which session?</h2>
      {sorted.map((session) => (
        <Row
          key={`${session.tool} ${session.id}`}
          href={addressOf({ type: "compare", sessions: [ref, { tool: session.tool, id: session.id }] })}
          agent={session.agent}
          title={sessionTitle(session, undefined)}
          workspace={session.workspace}
          figure={moment(session.updatedAt, now.value)}
        >
          <StateWord state={session.state} />
        </Row>
      ))}
      {sorted.length === 0 && <p class="soft">There is no other session yet.</p>}
    </section>
  );
}

function SideBySide({ both }: { both: readonly [Compared, Compared] }) {
  const shortPath = ({ details: { workspace } }: Compared, path: string) => pathIn(workspace, path);
  const paths = [...new Set(both.flatMap((each) => each.files.map(({ path }) => shortPath(each, path))))].sort();
  const pair = (draw: (each: Compared) => ComponentChildren) => (
    <div class="pair">
      {both.map((each, index) => (
        <div key={each.ref.id} role="group" aria-label={`${index + 1}. ${each.details.title}`}>
          {draw(each)}
        </div>
      ))}
    </div>
  );
  return (
    <>
      {pair(({ ref, details }) => (
        <h2 class="compared">
          <Mark agent={details.agent} />
          <a href={addressOf({ type: "session", ...ref, tab: "timeline" })}>{details.title}</a>
          <span class="soft">{details.model ?? agentName(details.agent)}</span>
        </h2>
      ))}
      {pair((each) => (
        <Figures of={each} />
      ))}
      <h2>Answer</h2>
      {pair(({ answer }) => (answer === "" ? <p class="soft">Nothing was said.</p> : <Markdown text={answer} />))}
      <h2>
        Changes <span class="soft">{counted(paths.length, "file")}</span>
      </h2>
      {paths.map((path) => (
        <section key={path} class="changed" aria-label={path}>
          <div class="changed-head">
            <h3 class="file-path">{path}</h3>
          </div>
          {pair((each) => (
            <Changed file={each.files.find((file) => shortPath(each, file.path) === path)} />
          ))}
        </section>
      ))}
      {paths.length === 0 && <p class="soft">Neither changed a file.</p>}
    </>
  );
}

function Figures({ of: { details, files } }: { of: Compared }) {
  const sum = (of: (turn: SessionDetails["turns"][number]) => number) =>
    details.turns.reduce((all, turn) => all + of(turn), 0);
  const cost = sum(({ costUsd }) => costUsd ?? 0);
  const tokens = sum(({ usage }) => (usage ? usage.inputTokens + usage.cacheReadTokens + usage.outputTokens : 0));
  const lines = (of: (file: FileChange) => number) => files.reduce((all, file) => all + of(file), 0);
  const figures: [name: string, value: ComponentChildren][] = [
    ["Outcome", <StateWord state={details.state} />],
    ["Time", duration(sum(({ durationMs, waitMs }) => Math.max(0, durationMs - waitMs)))],
    ["Cost", cost > 0 ? dollars(cost) : "not known"],
    ["Tokens", tokens > 0 ? tokenCount(tokens) : "not known"],
    ["Calls", sum(({ calls }) => calls)],
    [
      "Changes",
      <>
        {counted(files.length, "file")}{" "}
        <Counts added={lines(({ linesAdded }) => linesAdded)} removed={lines(({ linesRemoved }) => linesRemoved)} />
      </>,
    ],
  ];
  return (
    <dl class="numbers">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Changed({ file }: { file: FileChange | undefined }) {
  if (!file) return <p class="soft changed-note">Not changed.</p>;
  return (
    <View>
      {file.steps.map(({ callId, diff, kind, isGone }) =>
        kind === "delete" || isGone ? (
          <p key={callId} class="bad changed-note">
            Deleted.
          </p>
        ) : diff === null ? (
          <p key={callId} class="soft changed-note">
            What changed here was not recorded.
          </p>
        ) : (
          <Diff key={callId} diff={diff} language={languageForPath(file.path)} />
        ),
      )}
    </View>
  );
}
