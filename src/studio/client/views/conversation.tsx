// A conversation: the timeline in the middle, details at the side, and the composer below.
import { useSignal } from "@preact/signals";
import { type ComponentType, h } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Answer, Question } from "../../../protocol/run.ts";
import type { CliName, RunRecord, SessionDetails } from "../../../serve/api.ts";
import { wordsOfCall } from "../../../view/call-words.ts";
import { dollars, duration, runningFor } from "../../../view/numbers.ts";
import { Counts } from "../../components/counts.tsx";
import { UserMessage } from "../../components/messages.tsx";
import type { TimelineControls } from "../../components/timeline/scroller.ts";
import { Timeline } from "../../components/timeline/timeline.tsx";
import { agentName } from "../model/agents.ts";
import { baseName } from "../model/figures.ts";
import { changedFiles } from "../model/summary.ts";
import { answerQuestion, connection, questions, runs, sessions, sessionTitle } from "../state/app.ts";
import { Conversation } from "../state/conversation.ts";
import { offerActions } from "../state/keys.ts";
import { attempt, shownSheet } from "../state/layout.ts";
import { addressOf, type Place, type Tab, tabs } from "../state/router.ts";
import { Composer } from "./composer.tsx";
import { Details } from "./details.tsx";
import { Loading, lazyComponent } from "./lazy.tsx";
import { Mark } from "./mark.tsx";
import { SessionMenu, sessionActions } from "./session-menu.tsx";
import { Sheet } from "./sheet.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

type Where = Extract<Place, { type: "session" | "run" }>;

/** `cli`, `facts` and `model` come from the session itself, not from the list, which may not contain it. */
export type Subject = {
  conversation: Conversation;
  run: RunRecord | undefined;
  sessionDetails: SessionDetails | undefined;
  title: string;
  /** The agent CLI of the session; undefined until it is known. */
  cli: CliName | undefined;
  model: string | undefined;
  workspace: string | undefined;
  isLive: boolean;
};

export function ConversationView({ where }: { where: Where }) {
  const conversation = useMemo(() => new Conversation(), []);
  const open = () =>
    where.type === "session"
      ? conversation.openSession({ tool: where.tool, id: where.id })
      : conversation.openRun(where.id);
  useEffect(() => {
    void open();
    return () => conversation.close();
  }, []);
  // When the service is back, retry what could not be loaded.
  const isBack = connection.value === "open";
  useEffect(() => {
    if (!isBack) return;
    const again = () => {
      if (conversation.status.peek() === "error") void open();
    };
    again();
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [isBack]);
  const subject = subjectOf(conversation);
  useTitle(subject.title);
  useEffect(
    () => offerActions("session", sessionActions(subject)),
    [subject.sessionDetails?.id, subject.run?.id, subject.isLive, subject.title],
  );
  // A review has its own file list and needs the space; a replay has its own details.
  const isWide = where.tab === "changes" || where.tab === "files" || where.tab === "replay";
  if (conversation.status.value === "error")
    return <Unreadable conversation={conversation} onRetry={() => void open()} />;
  return (
    <>
      <main id="main" class={`middle${isWide && where.tab !== "replay" ? " wide" : ""}`} tabIndex={-1}>
        <TopBar hasDetails={!isWide} />
        <Header subject={subject} where={where} />
        <Body subject={subject} where={where} />
      </main>
      {!isWide && (
        <aside class="pane right" aria-label="Details">
          <Details subject={subject} where={where} />
        </aside>
      )}
      <Sheet name="details" title="Details">
        {shownSheet.value === "details" && <Details subject={subject} where={where} />}
      </Sheet>
    </>
  );
}

/** Shown if the session cannot be read: there are neither blocks nor figures. */
function Unreadable({ conversation, onRetry }: { conversation: Conversation; onRetry(): void }) {
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <div class="empty">
        <h1>This cannot be shown</h1>
        <p>{conversation.error.value}</p>
        <p class="buttons">
          <button type="button" onClick={onRetry}>
            Try again
          </button>
          <a class="button" href="/">
            Back to the list
          </a>
        </p>
      </div>
    </main>
  );
}

function subjectOf(conversation: Conversation): Subject {
  const ref = conversation.ref.value;
  const run = conversation.run.value === undefined ? undefined : runs.value.get(conversation.run.value);
  const sessionDetails = conversation.sessionDetails.value;
  // Use the entry in the session list for the title until the session is loaded.
  const listed = sessions.value?.find(({ tool, id }) => tool === ref?.tool && id === ref.id);
  return {
    conversation,
    run,
    sessionDetails: sessionDetails,
    title: sessionTitle(sessionDetails ?? listed, run) ?? "",
    cli: run?.spec.cli ?? sessionDetails?.agent,
    model: sessionDetails?.model,
    workspace: workspacePath(run, conversation) ?? sessionDetails?.workspace,
    isLive: run?.state === "queued" || run?.state === "running",
  };
}

/** Returns the workspace's path. For a run with its own source the worker chooses it. */
function workspacePath(run: RunRecord | undefined, { cwd }: Conversation): string | undefined {
  return (run?.spec.source && cwd.value) ?? run?.spec.request.workspace;
}

function Header({ subject, where }: { subject: Subject; where: Where }) {
  const { conversation, title, cli, run } = subject;
  const workspace = run?.spec.request.workspace ?? subject.workspace;
  conversation.version.value; // reading the version subscribes to the numbers, which change with the log
  const { turns } = conversation.log.value;
  const model = conversation.log.value.model ?? subject.model;
  const last = turns.at(-1);
  const figures = conversation.sessionDetails.value?.turns;
  const spent = (figures ?? turns).reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  const since = last?.state === "running" ? last.startedAt : undefined;
  const running = since === undefined ? 0 : Math.max(0, Date.now() - since);
  const timeMs = (figures ?? turns).reduce((sum, { durationMs }) => sum + durationMs, 0) + running;
  const time = since === undefined ? duration(timeMs) : runningFor(timeMs);
  const parts = [last && `turn ${last.number}`, timeMs > 0 && time, spent > 0 && dollars(spent)];
  return (
    <header class="head">
      <div class="head-line">
        {cli && <Mark agent={cli} />}
        <h1 title={title} dir="auto">
          {title || "…"}
        </h1>
        <span class="head-facts">{[workspace && `${baseName(workspace)}/`, model].filter(Boolean).join(" · ")}</span>
        <span class="head-numbers">{parts.filter(Boolean).join(" · ")}</span>
        <button type="button" class="quiet for-details" onClick={() => (shownSheet.value = "details")}>
          Details
        </button>
        <SessionMenu subject={subject} />
      </div>
      <nav class="tabs" aria-label="Views of this session">
        {tabs.map((tab) => (
          <a
            key={tab}
            href={addressOf({ ...where, tab })}
            class={tab === where.tab ? "chosen" : ""}
            aria-current={tab === where.tab ? "page" : undefined}
          >
            {tabNames[tab]}
            {tab === "changes" && <ChangeCounts conversation={conversation} />}
          </a>
        ))}
      </nav>
    </header>
  );
}

const tabNames: Record<Tab, string> = {
  timeline: "Timeline",
  changes: "Review",
  files: "Files",
  replay: "Replay",
  events: "Events",
};

function ChangeCounts({ conversation }: { conversation: Conversation }) {
  conversation.version.value; // reading the version subscribes to the log
  const files = changedFiles(conversation.log.value.blocks);
  const [added, removed] = [
    files.reduce((sum, file) => sum + file.added, 0),
    files.reduce((sum, file) => sum + file.removed, 0),
  ];
  if (added + removed === 0) return null;
  return (
    <>
      {" "}
      <Counts added={added} removed={removed} />
    </>
  );
}

function Body({ subject, where }: { subject: Subject; where: Where }) {
  if (subject.conversation.status.value === "loading") return <Loading widths={[62, 88, 74]} />;
  const isTimeline = where.tab === "timeline";
  return (
    <>
      {/* keep the timeline mounted while another view is shown, to preserve its scroll position, open folds and the draft */}
      <div class="conversed" hidden={!isTimeline}>
        <Conversed subject={subject} where={where} isShown={isTimeline} />
        <Composer subject={subject} />
      </div>
      {where.tab !== "timeline" && h(views[where.tab], { subject })}
    </>
  );
}

const views: Record<Exclude<Tab, "timeline">, ComponentType<{ subject: Subject }>> = {
  changes: lazyComponent(() => import("./more.ts").then(({ Changes }) => Changes)),
  files: lazyComponent(() => import("./more.ts").then(({ Files }) => Files)),
  replay: lazyComponent(() => import("./more.ts").then(({ Replay }) => Replay)),
  events: lazyComponent(() => import("./more.ts").then(({ RawEvents }) => RawEvents)),
};

/** The last reading position of each conversation, restored when the user returns. */
const lastRead = new Map<string, ReturnType<TimelineControls["read"]>>();

function Conversed({ subject, where, isShown }: { subject: Subject; where: Where; isShown: boolean }) {
  const { conversation, run, workspace } = subject;
  const controls = useRef<TimelineControls | undefined>(undefined);
  useEffect(() => {
    if (isShown)
      return offerActions(
        "timeline",
        timelineActions(() => controls.current),
      );
    return undefined;
  }, [isShown]);
  const asked = questions.value.filter((each) => each.run === run?.id).map(({ question }) => question);
  const sent = useSignal<ReadonlySet<string>>(new Set());
  const answer = async (run: string, question: Question, given: Answer) => {
    sent.value = new Set([...sent.value, question.id]);
    await attempt(() => answerQuestion(run, question, given));
    sent.value = new Set([...sent.value].filter((id) => id !== question.id));
  };
  const address = addressOf({ ...where, tab: "timeline" });
  const start = useMemo(() => lastRead.get(address), []);
  useEffect(() => () => lastRead.set(address, controls.current?.read()), []);
  const linkTo = useMemo(() => (id: string) => `${address}#${id}`, [address]);
  const keep = useMemo(() => (given: TimelineControls) => (controls.current = given), []);
  const log = conversation.log.value;
  if (log.blocks.length === 0 && !subject.isLive && conversation.opening.value === undefined)
    return (
      <div class="empty">
        <h2>Nothing here yet</h2>
        <p>Write a message below to start the conversation.</p>
      </div>
    );
  return (
    <Timeline
      log={log}
      linkTo={linkTo}
      controls={keep}
      questions={asked}
      target={isShown && /^#turn-/.test(location.hash) ? location.hash.slice(1) : undefined}
      start={start}
      onAnswer={(question, given) => run && void answer(run.id, question, given)}
      sent={sent.value}
      {...(workspace !== undefined && { workspace })}
      canRewind={conversation.ref.value?.tool === "cursor"}
    >
      <Now subject={subject} />
    </Timeline>
  );
}

/** Shows below the timeline what is happening: the prompt on its way, and what the run waits for. */
function Now({ subject }: { subject: Subject }) {
  const { conversation, isLive, run, cli } = subject;
  conversation.version.value; // reading the version subscribes to the log
  const prompt = conversation.opening.value;
  const asked = questions.value.some((each) => each.run === run?.id);
  return (
    <>
      {prompt !== undefined && (
        <div class="cr-row cr-row-user">
          <UserMessage text={prompt} pictures={conversation.pictures} />
        </div>
      )}
      {isLive && run && (
        <p class="now">
          <span class={asked ? "dot waiting" : "dot running"} aria-hidden="true" />
          <span>{asked ? "Waiting for you" : workOf(conversation, run, agentName(cli ?? ""))}</span>
        </p>
      )}
    </>
  );
}

function workOf({ log, opening }: Conversation, { state }: RunRecord, agent: string): string {
  if (state === "queued") return `Waiting for room to start ${agent} …`;
  if (opening.value !== undefined) return `Starting ${agent} …`;
  const { running, blocks, isWorking } = log.value;
  const call = running.at(-1);
  if (call) {
    const { name, target } = wordsOfCall(call.tool, call.args, undefined);
    return `${name} ${target.slice(0, 80)}`.trim();
  }
  const last = blocks.at(-1);
  if (!isWorking) return "Between turns";
  return last?.type === "thinking" && last.isOpen
    ? "Thinking"
    : last?.type === "text" && last.isOpen
      ? "Writing"
      : "Waiting for the model";
}

/** Returns the actions for the timeline's keys when the focus is elsewhere; otherwise the timeline handles them itself. */
function timelineActions(controls: () => TimelineControls | undefined) {
  const move = (by: Parameters<TimelineControls["move"]>[0]) => () => controls()?.move(by);
  return [
    { id: "next-row", title: "Next step", keys: "j", run: move("next") },
    { id: "previous-row", title: "Previous step", keys: "k", run: move("previous") },
    { id: "next-turn", title: "Next turn", keys: "]", run: move("next-turn") },
    { id: "previous-turn", title: "Previous turn", keys: "[", run: move("previous-turn") },
    { id: "first-row", title: "To the start", keys: "g g", run: move("first") },
    { id: "last-row", title: "To the end", keys: "G", run: move("last") },
    { id: "toggle", title: "Open or close a step", keys: "o", run: () => controls()?.toggle() },
    { id: "toggle-all", title: "Open or close all steps", keys: "O", run: () => controls()?.toggleAll() },
  ];
}
