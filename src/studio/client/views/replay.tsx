// Replay: plays a session again, at its own speed or faster, with the files as they were at each moment.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { FileChange } from "../../../serve/api.ts";
import { duration } from "../../../view/numbers.ts";
import { Code } from "../../components/text/code.tsx";
import { TimelineLog } from "../../components/timeline/log.ts";
import { Timeline } from "../../components/timeline/timeline.tsx";
import { pathIn } from "../model/figures.ts";
import { filesAt, momentTimes } from "../model/moments.ts";
import { offerActions } from "../state/keys.ts";
import { attempt } from "../state/layout.ts";
import { Select } from "./chips.tsx";
import type { Subject } from "./conversation.tsx";

/** Pauses longer than this many milliseconds are shortened to it. */
const longestPauseMs = 3000;
const speeds = [1, 2, 5, 10, 50];

export function Replay({ subject }: { subject: Subject }) {
  const { conversation, workspace } = subject;
  const steps = useMemo(() => [...conversation.steps], [conversation.isWhole.value]);
  const times = useMemo(() => momentTimes(steps, longestPauseMs), [steps]);
  const first =
    Math.max(
      0,
      steps.findIndex(({ event }) => event.type === "user"),
    ) + 1;
  const at = useSignal(Math.min(first, steps.length));
  const isPlaying = useSignal(false);
  const speed = useSignal(5);
  const shown = useSignal("");
  const changes = useSignal<readonly FileChange[]>([]);
  useEffect(() => {
    void attempt(() => conversation.changes()).then((found) => (changes.value = found?.items ?? []));
  }, []);
  useEffect(() => {
    if (!isPlaying.value) return;
    if (at.value >= steps.length) {
      isPlaying.value = false;
      return;
    }
    const pause = (times[at.value]! - (times[at.value - 1] ?? times[at.value]!)) / speed.value;
    const timer = setTimeout(() => (at.value = at.value + 1), Math.max(16, pause));
    return () => clearTimeout(timer);
  }, [isPlaying.value, at.value, speed.value, steps]);
  const go = (to: number) => (at.value = Math.max(0, Math.min(steps.length, to)));
  const play = () => {
    if (!isPlaying.value && at.value >= steps.length) at.value = 0;
    isPlaying.value = !isPlaying.value;
  };
  useEffect(
    () =>
      offerActions("replay", [
        { id: "play", title: "Play or pause the replay", keys: " ", run: play },
        { id: "step-on", title: "Replay: one step forward", keys: "l", run: () => go(at.peek() + 1) },
        { id: "step-back", title: "Replay: one step back", keys: "h", run: () => go(at.peek() - 1) },
      ]),
    [steps],
  );
  const log = useMoment(steps, at.value);
  const files = filesAt(changes.value, steps, at.value);
  const file = files.find(({ path }) => path === shown.value) ?? files.at(-1);
  const shortPath = (path: string) => pathIn(workspace, path);
  return (
    <div class="replay">
      <div class="replay-bar">
        <button type="button" class="main" onClick={play}>
          {isPlaying.value ? "Pause" : "Play"}
        </button>
        <input
          type="range"
          min={0}
          max={steps.length}
          value={at.value}
          aria-label="Moment"
          aria-valuetext={`Event ${at.value} of ${steps.length}`}
          onInput={(event) => {
            isPlaying.value = false;
            go(Number(event.currentTarget.value));
          }}
        />
        <span class="replay-time">
          {duration(at.value === 0 ? 0 : times[at.value - 1]!)} / {duration(times.at(-1) ?? 0)}
        </span>
        <Select
          label="Speed"
          value={String(speed.value)}
          options={speeds.map((each): [string, string] => [String(each), each === 1 ? "own speed" : `${each} ×`])}
          onChange={(next) => (speed.value = Number(next))}
        />
      </div>
      <div class={`replay-view${files.length > 0 ? " with-files" : ""}`}>
        <Timeline log={log} isPast label="The session at this moment" {...(workspace !== undefined && { workspace })} />
        {files.length > 0 && file && (
          <section class="files-then" aria-label="Files at this moment">
            <div class="files-list">
              {files.map(({ path, text, isUnknown }) => (
                <button
                  type="button"
                  key={path}
                  class={path === file.path ? "chosen" : ""}
                  aria-pressed={path === file.path}
                  onClick={() => (shown.value = path)}
                >
                  {text === undefined && !isUnknown ? <s>{shortPath(path)}</s> : shortPath(path)}
                </button>
              ))}
            </div>
            {file.byCommand && (
              <p class="soft">
                By a command in turn {file.byCommand.turn}
                {file.byCommand.isNow && ": as it is on the disk now"}
              </p>
            )}
            {file.text === undefined ? (
              <p class="soft">{file.isUnknown ? "Not text, or too large to be shown." : "Not there at this moment."}</p>
            ) : (
              <div class="file-then">
                <Code text={file.text} language={file.path.split(".").at(-1)!} start={1} first={400} />
              </div>
            )}
          </section>
        )}
      </div>
    </div>
  );
}

type Steps = Subject["conversation"]["steps"];

/** The log at a moment: moving forward appends to it, moving back rebuilds it. */
function useMoment(steps: Steps, at: number): TimelineLog {
  const state = useSignal<{ log: TimelineLog; at: number; steps: Steps } | undefined>(undefined);
  const currentState = state.peek();
  if (currentState && currentState.steps === steps && currentState.at <= at) {
    for (const { event, agent } of steps.slice(currentState.at, at))
      currentState.log.append(agent === undefined ? event : { agent, event });
    currentState.at = at;
    return currentState.log;
  }
  const log = new TimelineLog({ firstTurn: steps[0]?.turn ?? 1 });
  for (const { event, agent } of steps.slice(0, at)) log.append(agent === undefined ? event : { agent, event });
  state.value = { log, at, steps };
  return log;
}
