// The details of a conversation: changed files, open todos, and usage.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RunRecord } from "../../../serve/api.ts";
import { dollars, tokenCount } from "../../../view/numbers.ts";
import { ContextChart, ContextMeter, CostChart, TimeBar, TimeChart, UsageChart } from "../../components/charts.tsx";
import { Copy } from "../../components/copy.tsx";
import { Counts } from "../../components/counts.tsx";
import type { TurnNumbers } from "../../components/timeline/blocks.ts";
import { TodoList } from "../../components/tools/todo.tsx";
import { pathIn } from "../model/figures.ts";
import { type ChangedFile, changedFiles, latestTodos, turnNumbers } from "../model/summary.ts";
import { service } from "../state/app.ts";
import { now } from "../state/now.ts";
import { addressOf, type Place } from "../state/router.ts";
import type { Subject } from "./conversation.tsx";
import { save } from "./save-file.ts";

type Where = Extract<Place, { type: "session" | "run" }>;

export function Details({ subject, where }: { subject: Subject; where: Where }) {
  const { conversation, workspace } = subject;
  const version = conversation.version.value;
  const shown = useSignal<ReturnType<typeof summarize> | undefined>(undefined);
  const details = conversation.sessionDetails.value;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // Throttle updates: the figures need not change with every word, but should not wait for the end of the text.
  useEffect(() => {
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        shown.value = summarize(subject);
      },
      shown.peek() ? 200 : 0,
    );
  }, [version, details, conversation.log.value, subject.isLive ? now.value : 0]);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (!shown.value) return null;
  const { files, todos, turns, usage, spent } = shown.value;
  const fills = turns.filter(({ context }) => context);
  const context = (subject.isLive ? conversation.context.value : undefined) ?? fillWithWindow(fills.at(-1)?.context);
  return (
    <div class="details">
      <section>
        <h2>Changes</h2>
        {files.length === 0 && <p class="soft">No file was changed.</p>}
        {files.slice(0, 30).map((file) => (
          <FileLine key={file.path} file={file} workspace={workspace} where={where} />
        ))}
        {files.length > 30 && <p class="soft">and {files.length - 30} more</p>}
      </section>
      {todos.length > 0 && (
        <section>
          <h2>Todos</h2>
          <TodoList items={todos} />
        </section>
      )}
      {turns.length > 0 && (
        <>
          <section>
            <h2>Usage</h2>
            {usage.inputTokens + usage.outputTokens > 0 ? (
              <dl class="numbers">
                <Figure name="Input" value={tokenCount(usage.inputTokens)} />
                <Figure name="Cached" value={tokenCount(usage.cacheReadTokens)} />
                <Figure name="Output" value={tokenCount(usage.outputTokens)} />
                {spent > 0 && <Figure name="Cost" value={dollars(spent)} />}
              </dl>
            ) : (
              <p class="soft">{subject.isLive ? "Reported when the turn ends." : "Not reported."}</p>
            )}
            {turns.length > 1 && usage.inputTokens + usage.outputTokens > 0 && <UsageChart turns={turns} />}
            {turns.length > 1 && spent > 0 && <CostChart turns={turns} />}
          </section>
          {(context || fills.length > 1) && (
            <section>
              <h2>Context</h2>
              {context && <ContextMeter used={context.used} window={context.window} />}
              {fills.length > 1 && <ContextChart turns={fills} />}
            </section>
          )}
          {turns.some(({ durationMs }) => durationMs > 0) && (
            <section>
              <h2>Time</h2>
              <TimeBar turns={turns} />
              {turns.length > 1 && <TimeChart turns={turns} />}
            </section>
          )}
        </>
      )}
      <SessionSummary subject={subject} />
    </div>
  );
}

/** Returns the context use if the window size is known, which a meter needs. */
function fillWithWindow(fill: TurnNumbers["context"]): { used: number; window: number } | undefined {
  return fill?.window === undefined ? undefined : { used: fill.used, window: fill.window };
}

function SessionSummary({ subject }: { subject: Subject }) {
  const { conversation, run } = subject;
  const workspace = run?.spec.request.workspace ?? subject.workspace;
  const id = conversation.ref.value?.id;
  const problems = conversation.sessionDetails.value?.problems ?? [];
  return (
    <section>
      <h2>About</h2>
      <dl class="facts">
        {workspace && <Fact name="Folder" value={workspace} />}
        {id && <Fact name="Session" value={id} />}
        {run && <Fact name="Run" value={run.id} />}
        {run?.spec.placement?.pool && <Figure name="Pool" value={run.spec.placement.pool} />}
        {run?.spec.source && <Figure name="Files from" value={sourceName(run.spec.source)} />}
        {run?.spec.source && conversation.worker.value && <Figure name="Worker" value={conversation.worker.value} />}
      </dl>
      {run?.end?.patch && (
        <p>
          <button type="button" onClick={() => void save(service().patchAddress(run.id), `${run.id}.patch`)}>
            Save patch
          </button>
        </p>
      )}
      {problems.map((problem) => (
        <p key={problem} class="problem">
          ! {problem}
        </p>
      ))}
    </section>
  );
}

function sourceName(source: NonNullable<RunRecord["spec"]["source"]>): string {
  if (source.type === "git") return source.ref === undefined ? source.from : `${source.from}#${source.ref}`;
  return source.type === "folder" ? source.path : "upload";
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd title={value}>{value}</dd>
    </div>
  );
}

/** Shows a name with its value. A long value is shortened on the screen, but copied as a whole. */
function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd title={value}>{value}</dd>
      <dd>
        <Copy text={value} label={`Copy: ${name.toLowerCase()}`} />
      </dd>
    </div>
  );
}

function FileLine({ file, workspace, where }: { file: ChangedFile; workspace: string | undefined; where: Where }) {
  const short = pathIn(workspace, file.path);
  return (
    <a class="file" href={`${addressOf({ ...where, tab: "changes" })}#file-${encodeURIComponent(short)}`} title={short}>
      <span class="file-path">{short}</span>
      {file.isDeleted ? (
        <span class="bad">deleted</span>
      ) : (
        <span>
          <Counts added={file.added} removed={file.removed} />
        </span>
      )}
    </a>
  );
}

function summarize({ conversation }: Subject) {
  const { blocks, turns } = conversation.log.value;
  const numbers = turnNumbers(turns, conversation.sessionDetails.value?.turns, (now) =>
    conversation.log.value.timesNow(now),
  );
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  for (const turn of numbers)
    for (const name of Object.keys(usage) as (keyof typeof usage)[]) usage[name] += turn.usage?.[name] ?? 0;
  return {
    files: changedFiles(blocks),
    todos: latestTodos(blocks),
    turns: numbers,
    usage,
    spent: numbers.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
  };
}
