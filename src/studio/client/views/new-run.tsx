// The composer of a new run: the prompt, the agent, the folder, and the permissions.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { agentName } from "../model/agents.ts";
import { baseName } from "../model/figures.ts";
import { agents, noteRun, service } from "../state/app.ts";
import { choices, choose, keepChoices } from "../state/choices.ts";
import { attempt } from "../state/layout.ts";
import type { Picture } from "../state/pictures.ts";
import { navigate } from "../state/router.ts";
import { Chip, ModelChip, ToggleChip } from "./chips.tsx";
import { AttachButton, imagesOf, modeWords, permissions, permissionTitle, useDraft } from "./composer-parts.tsx";
import { Mark } from "./mark.tsx";
import { PromptField } from "./prompt-field.tsx";

export function NewRunComposer({ hasFocus }: { hasFocus: boolean }) {
  const text = useDraft("new");
  const pictures = useSignal<readonly Picture[]>([]);
  const found = useSignal<{ items: readonly string[]; isFleet: boolean; startedIn: string } | undefined>(undefined);
  const isSending = useSignal(false);
  const { cli, workspace, model, mode, permission, isWorktree, isAside, repository, pool } = choices.value;
  const isOurs = cli === "courser";
  const isFleet = found.value?.isFleet === true;
  const folders = offeredFolders(found.value);
  const isUntrusted = found.value !== undefined && workspace !== "" && !found.value.items.includes(workspace);
  const source = isFleet ? repository.trim() : "";
  useEffect(() => {
    void attempt(() => service().workspaces()).then((answer) => {
      if (!answer) return;
      found.value = answer;
      const knownFolders = offeredFolders(answer);
      const last = choices.value.workspace;
      choose({ workspace: knownFolders.includes(last) ? last : answer.startedIn });
    });
  }, []);
  const isReady = text.value.trim() !== "" && (source !== "" || (workspace !== "" && !isUntrusted));
  const start = async () => {
    if (!isReady || isSending.value) return;
    isSending.value = true;
    const run = await attempt(() =>
      service().start({
        cli,
        ...(source === "" ? { workspace } : { source: `git:${source}` }),
        ...(isFleet && pool.trim() !== "" && { pool: pool.trim() }),
        prompt: { text: text.value.trim(), ...imagesOf(pictures.value) },
        ...(model.trim() !== "" && { model: model.trim() }),
        ...(mode !== "agent" && (isOurs || mode === "plan") && { mode }),
        ...(permission === "force" && { force: true }),
        ...(isOurs && isWorktree && !isFleet && { worktree: {} }),
      }),
    );
    isSending.value = false;
    if (!run) return;
    keepChoices();
    text.value = "";
    pictures.value = [];
    noteRun(run);
    if (!isAside) navigate({ type: "run", id: run.id, tab: "timeline" });
  };
  return (
    <form
      class="box new-run"
      aria-label="New run"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <PromptField
        text={text}
        pictures={pictures}
        label="What should be done?"
        placeholder="What should be done?  @ files · / commands · paste pictures"
        isDisabled={false}
        workspace={isUntrusted ? undefined : workspace}
        rows={2}
        hasFocus={hasFocus}
        onKey={(event) => {
          const isStart = event.key === "Enter" && (event.metaKey || event.ctrlKey);
          if (isStart) void start();
          return isStart;
        }}
      />
      {isUntrusted && source === "" && (
        <div class="trust" role="group" aria-label="Trust">
          <p>
            <b>Do you trust {baseName(workspace)}/?</b> The agent reads and changes files in <code>{workspace}</code>,
            and follows the instructions of this project.
          </p>
          <button
            type="button"
            onClick={() =>
              void attempt(() => service().trust(workspace)).then((done) => {
                if (done) found.value = { ...found.value!, items: [...found.value!.items, workspace] };
              })
            }
          >
            Trust this directory
          </button>
        </div>
      )}
      <div class="box-line">
        <Chip
          label="Agent"
          value={cli}
          options={installed().map((name) => [name, agentName(name)])}
          onChange={(next) => choose({ cli: next, model: "", ...(next !== "courser" && { isWorktree: false }) })}
        >
          <Mark agent={cli} />
        </Chip>
        <ModelChip value={model} isListed={isOurs} onChange={(next) => choose({ model: next })} />
        {source === "" && (
          <Chip
            label="Folder"
            value={workspace}
            options={folders.map((path) => [path, `${baseName(path)}/`])}
            title={workspace}
            onChange={(next) => choose({ workspace: next })}
          />
        )}
        <Chip
          label="Mode"
          value={mode}
          options={modeWords.filter(([each]) => isOurs || each !== "ask")}
          onChange={(next) => choose({ mode: next })}
        />
        <Chip
          label="Permission"
          value={permission}
          title={permissionTitle(cli, permission)}
          options={isOurs ? permissions : [["ask", "By its own rules"], permissions[1]!]}
          onChange={(next) => choose({ permission: next })}
        />
        {isOurs && !isFleet && (
          <ToggleChip
            name="Worktree"
            title="Works in a copy of the repository"
            isOn={isWorktree}
            onChange={(isOn) => choose({ isWorktree: isOn })}
          />
        )}
        <ToggleChip
          name="Background"
          title="Starts it, and stays on this page"
          isOn={isAside}
          onChange={(isOn) => choose({ isAside: isOn })}
        />
        <AttachButton pictures={pictures} />
        {isFleet && (
          <>
            <input
              type="text"
              class="chip"
              aria-label="Repository"
              placeholder="Repository: as here"
              value={repository}
              onInput={(event) => choose({ repository: event.currentTarget.value })}
            />
            <input
              type="text"
              class="chip"
              aria-label="Pool"
              placeholder="Pool: default"
              value={pool}
              onInput={(event) => choose({ pool: event.currentTarget.value })}
            />
          </>
        )}
        <span class="box-end">
          <kbd class="hint">Ctrl ↵</kbd>
          <button type="submit" class="main" disabled={!isReady || isSending.value}>
            Start
          </button>
        </span>
      </div>
    </form>
  );
}

/** The trusted folders, and the one where the studio was started. */
function offeredFolders(found: { items: readonly string[]; startedIn: string } | undefined): readonly string[] {
  return found ? [...new Set([...found.items, found.startedIn])] : [];
}

function installed(): readonly string[] {
  return agents.value.length > 0 ? agents.value.map(({ name }) => name) : ["courser"];
}
