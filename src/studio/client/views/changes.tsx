// The review of a session: its changes by file or by turn, beside a list of the files. Comments on lines are kept here until they
// are sent to the agent together.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { tryParse } from "../../../json/object.ts";
import type { FileChange } from "../../../serve/api.ts";
import { counted } from "../../../view/numbers.ts";
import { Counts } from "../../components/counts.tsx";
import type { LineOfDiff } from "../../components/diff.tsx";
import { View } from "../../components/view-options.tsx";
import { type Comment, commentsPrompt } from "../model/comments.ts";
import { pathIn } from "../model/figures.ts";
import { service } from "../state/app.ts";
import { offerActions } from "../state/keys.ts";
import { attempt, showMessage } from "../state/layout.ts";
import { navigate, place } from "../state/router.ts";
import { ChangeStep, type Step } from "./change-step.tsx";
import { continueSession } from "./composer.tsx";
import type { Subject } from "./conversation.tsx";
import { askToConfirm } from "./dialogs.tsx";
import { Loading } from "./lazy.tsx";

type Shown = { path: string; added: number; removed: number; steps: Step[] };

export function Changes({ subject }: { subject: Subject }) {
  const { conversation, workspace, isLive } = subject;
  const found = useSignal<{ items: readonly FileChange[]; since?: number } | undefined>(undefined);
  const isNow = useSignal(false);
  const by = useSignal<"file" | "turn">("file");
  const layout = useSignal<"unified" | "split">("unified");
  const comments = useSignal<readonly Comment[]>([]);
  const writing = useSignal<{ path: string; step: string; line: LineOfDiff } | undefined>(undefined);
  const isSending = useSignal(false);
  const viewed = useViewed(conversation.ref.value?.id ?? conversation.run.value ?? "");
  const calls = conversation.log.value.turns.reduce((sum, turn) => sum + turn.changed.length, 0);
  const undone = useSignal<string | undefined>(undefined);
  useEffect(() => {
    void attempt(() => conversation.changes(isNow.value)).then((answer) => (found.value = answer ?? { items: [] }));
  }, [conversation.ref.value?.id, calls, isLive, isNow.value, undone.value]);
  useEffect(() => {
    if (found.value && location.hash.startsWith("#file-"))
      document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [found.value]);
  const files = found.value?.items ?? [];
  useEffect(() => offerActions("changes", fileActions()), []);
  if (!found.value) return <Loading widths={[40, 80]} />;
  const shortPath = (path: string) => pathIn(workspace, path);
  const send = async () => {
    isSending.value = true;
    const text = commentsPrompt(comments.value);
    const done = await attempt(async () => {
      if (isLive) await conversation.sendMessage("prompt", text);
      else await conversation.attach(await continueSession(subject, { text }));
      return true;
    });
    isSending.value = false;
    if (!done) return;
    comments.value = [];
    showMessage("The comments were sent to the agent");
    const where = place.value;
    if (where.type === "session" || where.type === "run") navigate({ ...where, tab: "timeline" });
  };
  const undo = async ({ path, heldBefore = 1 }: FileChange) => {
    const isSure = await askToConfirm({
      title: `Undo the changes of ${shortPath(path)}?`,
      text: `It becomes as it was before turn ${heldBefore}. What is there now is saved, and can be brought back.`,
      yes: "Undo",
    });
    if (!isSure || !(await attempt(() => service().rewind(conversation.ref.value!, heldBefore, path)))) return;
    undone.value = path;
    showMessage(`${shortPath(path)} is as it was before turn ${heldBefore}`);
  };
  const bringBack = async (path: string) => {
    if (!(await attempt(() => service().undoRewind(conversation.ref.value!)))) return;
    undone.value = undefined;
    showMessage(`${shortPath(path)} is changed again`);
  };
  const drawStep = (path: string, step: Step, steps: readonly Step[]) => {
    // Include the path in the key, since a command may have changed several files.
    const key = `${step.callId} ${step.kind} ${path} ${step.isLater ?? ""}`;
    return (
      <ChangeStep
        key={key}
        path={path}
        step={step}
        isMixed={steps.some(({ kind }) => kind === "command")}
        comments={comments.value.filter((each) => each.step === key)}
        writing={writing.value?.step === key ? writing.value.line : undefined}
        onWrite={(line) => (writing.value = line && { path, step: key, line })}
        onComment={(line, text) => {
          comments.value = [
            ...comments.value,
            { path: shortPath(path), step: key, line: line.number, code: line.text, text },
          ];
          writing.value = undefined;
        }}
        onDrop={(comment) => (comments.value = comments.value.filter((each) => each !== comment))}
      />
    );
  };
  const since = found.value.since ?? 0;
  return (
    <View diffLayout={layout.value} {...(workspace !== undefined && { workspace })}>
      <div class="review">
        {files.length > 0 && (
          <nav class="rail" aria-label="Changed files">
            {files.map((file) => (
              <RailLine key={file.path} file={file} path={shortPath(file.path)} isViewed={viewed.has(file)} />
            ))}
          </nav>
        )}
        <div class="scroll changes">
          <div class="toolbar">
            <Switch
              value={by.value}
              options={{ file: "By file", turn: "By turn" }}
              label="Order"
              onChange={(next) => (by.value = next)}
            />
            <Switch
              value={layout.value}
              options={{ unified: "Unified", split: "Split" }}
              label="Layout of changes"
              onChange={(next) => (layout.value = next)}
            />
            {(since > 0 || isNow.value) && (
              <label class="tick">
                <input
                  type="checkbox"
                  checked={isNow.value}
                  onChange={(event) => (isNow.value = event.currentTarget.checked)}
                />
                Compare with the disk now
                {since > 0 && <span class="soft"> ({counted(since, "file")} differ since the session ended)</span>}
              </label>
            )}
            <span class="fill" />
            <span class="soft">
              {files.length > 0 && `${files.filter((file) => viewed.has(file)).length} of ${files.length} viewed`}
            </span>
          </div>
          {files.length === 0 && (
            <div class="empty">
              <h2>No file was changed</h2>
              <p>What the agent and its commands change is shown here, line by line.</p>
            </div>
          )}
          {by.value === "file"
            ? files.map((file) => (
                <section
                  key={file.path}
                  id={`file-${encodeURIComponent(shortPath(file.path))}`}
                  class="changed"
                  tabIndex={-1}
                  aria-label={shortPath(file.path)}
                >
                  <FileHead
                    level="h2"
                    path={shortPath(file.path)}
                    added={file.linesAdded}
                    removed={file.linesRemoved}
                    steps={file.steps}
                  >
                    {undone.value === file.path ? (
                      <button type="button" class="quiet" onClick={() => void bringBack(file.path)}>
                        Undone · bring it back
                      </button>
                    ) : (
                      file.heldBefore !== undefined &&
                      !isLive && (
                        <button type="button" class="quiet" onClick={() => void undo(file)}>
                          Undo
                        </button>
                      )
                    )}
                    <label class="tick">
                      <input
                        type="checkbox"
                        checked={viewed.has(file)}
                        onChange={(event) => viewed.set(file, event.currentTarget.checked)}
                      />
                      Viewed
                    </label>
                  </FileHead>
                  {!viewed.has(file) && file.steps.map((step) => drawStep(file.path, step, file.steps))}
                </section>
              ))
            : byTurn(files).map(([turn, list]) => (
                <section key={turn} class="changed-turn">
                  <h2>Turn {turn}</h2>
                  {list.map(({ path, steps, ...counts }) => (
                    <div key={path} class="changed">
                      <FileHead level="h3" path={shortPath(path)} {...counts} steps={steps} />
                      {steps.map((step) => drawStep(path, step, steps))}
                    </div>
                  ))}
                </section>
              ))}
        </div>
      </div>
      {comments.value.length > 0 && (
        <div class="send-comments">
          <span>{counted(comments.value.length, "comment")}</span>
          <span class="fill" />
          <button type="button" onClick={() => (comments.value = [])}>
            Discard
          </button>
          <button type="button" class="main" disabled={isSending.value} onClick={() => void send()}>
            Send to the agent
          </button>
        </div>
      )}
    </View>
  );
}

/** Returns the actions for j and k, which move from file to file. */
function fileActions() {
  const move = (by: number) => () => {
    const all = [...document.querySelectorAll<HTMLElement>(".changed")];
    const at = all.findIndex((each) => each.contains(document.activeElement));
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "start" });
  };
  return [
    { id: "next-file", title: "Next file", keys: "j", run: move(1) },
    { id: "previous-file", title: "Previous file", keys: "k", run: move(-1) },
  ];
}

/** Remembers which files were viewed, by their number of changes: a file that changes again has to be viewed again. */
function useViewed(session: string) {
  const name = `courser.viewed.${session}`;
  const kept = useSignal((tryParse(localStorage.getItem(name) ?? "") ?? []) as readonly string[]);
  const changeKey = ({ path, steps }: FileChange) => `${path} ${steps.length}`;
  return {
    has: (file: FileChange) => kept.value.includes(changeKey(file)),
    set(file: FileChange, isViewed: boolean) {
      const others = kept.value.filter((each) => each !== changeKey(file));
      kept.value = isViewed ? [...others, changeKey(file)] : others;
      localStorage.setItem(name, JSON.stringify(kept.value));
    },
  };
}

function RailLine({ file, path, isViewed }: { file: FileChange; path: string; isViewed: boolean }) {
  const cut = path.lastIndexOf("/") + 1;
  return (
    <a class={`rail-line${isViewed ? " viewed" : ""}`} href={`#file-${encodeURIComponent(path)}`} title={path}>
      <span class="rail-name">
        {isViewed && (
          <span role="img" aria-label="viewed">
            ✓{" "}
          </span>
        )}
        {path.slice(cut)}
      </span>
      <span>
        <Counts added={file.linesAdded} removed={file.linesRemoved} />
      </span>
      {cut > 0 && <span class="rail-folder">{path.slice(0, cut)}</span>}
    </a>
  );
}

type FileHeadProps = Shown & { level: "h2" | "h3"; children?: ComponentChildren };

function FileHead({ level: Heading, path, added, removed, steps, children }: FileHeadProps) {
  const last = steps.at(-1);
  const isDeleted = last?.kind === "delete" || last?.isGone;
  return (
    <div class="changed-head">
      <Heading class="file-path">{isDeleted ? <s>{path}</s> : path}</Heading>
      <span class="changed-counts">
        {isDeleted ? <span class="bad">deleted</span> : <Counts added={added} removed={removed} />}
      </span>
      {children}
    </div>
  );
}

type SwitchProps<Value extends string> = {
  value: Value;
  options: Record<Value, string>;
  label: string;
  onChange(value: Value): void;
};

function Switch<Value extends string>({ value, options, label, onChange }: SwitchProps<Value>) {
  return (
    <fieldset class="switch" aria-label={label}>
      {(Object.entries(options) as [Value, string][]).map(([option, words]) => (
        <button type="button" key={option} aria-pressed={option === value} onClick={() => onChange(option)}>
          {words}
        </button>
      ))}
    </fieldset>
  );
}

function byTurn(files: readonly FileChange[]): [number, Shown[]][] {
  const turns = new Map<number, Map<string, Step[]>>();
  for (const { path, steps } of files)
    for (const step of steps) {
      const list = turns.get(step.turn) ?? new Map<string, Step[]>();
      turns.set(step.turn, list.set(path, [...(list.get(path) ?? []), step]));
    }
  return [...turns]
    .sort(([one], [other]) => one - other)
    .map(([turn, list]) => [turn, [...list].map(([path, steps]) => ({ path, steps, ...countLines(steps) }))]);
}

function countLines(steps: readonly Step[]): { added: number; removed: number } {
  const lines = steps.flatMap(({ diff }) => (diff ?? "").split("\n"));
  return {
    added: lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length,
    removed: lines.filter((line) => /^-(?!-- )/.test(line)).length,
  };
}
