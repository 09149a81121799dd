// A new run: which agent, where, with what model and how freely.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { baseName } from "../model/figures.ts";
import type { NewRun as Given } from "../service/api.ts";
import { agents, noteRun, service, sessions } from "../state/app.ts";
import { attempt } from "../state/layout.ts";
import { go } from "../state/router.ts";
import { agentName } from "./sidebar.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

const remembered = "courser.new-run";

type Choices = {
  cli: string;
  workspace: string;
  model: string;
  mode: string;
  permission: string;
  repository: string;
  pool: string;
};

export function NewRun() {
  useTitle("New run");
  const choices = useSignal<Choices>({
    cli: "courser",
    workspace: "",
    model: "",
    mode: "agent",
    permission: "default",
    repository: "",
    pool: "",
    ...recall(),
  });
  const text = useSignal("");
  const folders = useSignal<readonly string[] | undefined>(undefined);
  const models = useSignal<readonly { id: string; displayName: string }[]>([]);
  const isFleet = useSignal(false);
  const isSending = useSignal(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    void attempt(() => service().workspaces()).then((found) => {
      folders.value = found?.items ?? [];
      isFleet.value = found?.isFleet ?? false;
      const latest = sessions.value?.find(({ isTrusted }) => isTrusted)?.workspace;
      if (!folders.value.includes(choices.value.workspace))
        change({ workspace: (latest && folders.value.includes(latest) ? latest : folders.value[0]) ?? "" });
    });
    void service()
      .models()
      .then((found) => (models.value = found))
      .catch(() => {});
  }, []);
  const change = (change: Partial<Choices>) => (choices.value = { ...choices.value, ...change });
  const { cli, workspace, model, mode, permission } = choices.value;
  const repository = isFleet.value ? choices.value.repository.trim() : "";
  const pool = isFleet.value ? choices.value.pool.trim() : "";
  const isReady = text.value.trim() !== "" && (workspace !== "" || repository !== "");
  const isOurs = cli === "courser";
  const start = async () => {
    if (!isReady || isSending.value) return;
    isSending.value = true;
    const given: Given = {
      cli,
      ...(repository === "" ? { workspace } : { source: `git:${repository}` }),
      ...(pool !== "" && { pool }),
      prompt: { text: text.value.trim() },
      ...(model.trim() !== "" && { model: model.trim() }),
      ...(mode !== "agent" && (isOurs || mode === "plan") && { mode: mode as "plan" | "ask" }),
      ...(permission === "force" && { force: true }),
    };
    const run = await attempt(() => service().start(given));
    isSending.value = false;
    if (!run) return;
    localStorage.setItem(remembered, JSON.stringify({ cli, workspace, model, mode, repository, pool }));
    noteRun(run);
    go({ type: "run", id: run.id, tab: "timeline" });
  };
  return (
    <main id="main" class="middle" tabIndex={-1}>
      <TopBar />
      <header class="head">
        <div class="head-line">
          <h1>New run</h1>
        </div>
      </header>
      <form
        class="new-run"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label class="wide">
          <span>What should the agent do?</span>
          <textarea
            ref={field}
            rows={5}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void start();
            }}
          />
        </label>
        <label>
          <span>Agent</span>
          <select value={cli} onChange={(event) => change({ cli: event.currentTarget.value, model: "" })}>
            {(agents.value.length > 0 ? agents.value : [{ name: "courser", version: null }]).map(
              ({ name, version }) => (
                <option key={name} value={name} selected={name === cli}>
                  {agentName(name)} {version ?? ""}
                </option>
              ),
            )}
          </select>
        </label>
        <label>
          <span>Folder</span>
          <select
            value={workspace}
            required={repository === ""}
            onChange={(event) => change({ workspace: event.currentTarget.value })}
            disabled={folders.value?.length === 0 || repository !== ""}
          >
            {(folders.value ?? []).map((path) => (
              <option key={path} value={path} selected={path === workspace}>
                {baseName(path)} — {path}
              </option>
            ))}
          </select>
        </label>
        {isFleet.value && (
          <>
            <label>
              <span>Repository</span>
              <input
                type="text"
                placeholder="Empty: the files of the directory are sent"
                value={choices.value.repository}
                onInput={(event) => change({ repository: event.currentTarget.value })}
              />
            </label>
            <label>
              <span>Pool</span>
              <input
                type="text"
                placeholder="default"
                value={choices.value.pool}
                onInput={(event) => change({ pool: event.currentTarget.value })}
              />
            </label>
          </>
        )}
        <label>
          <span>Model</span>
          <input
            type="text"
            list="new-models"
            placeholder="As configured"
            value={model}
            onInput={(event) => change({ model: event.currentTarget.value })}
          />
          <datalist id="new-models">
            {isOurs &&
              models.value.map(({ id, displayName }) => (
                <option key={id} value={id}>
                  {displayName}
                </option>
              ))}
          </datalist>
        </label>
        <label>
          <span>Mode</span>
          <select value={mode} onChange={(event) => change({ mode: event.currentTarget.value })}>
            <option value="agent">Agent: works</option>
            <option value="plan">Plan: makes a plan, changes nothing</option>
            {isOurs && <option value="ask">Ask: answers, changes nothing</option>}
          </select>
        </label>
        <label class="wide">
          <span>Permission</span>
          <select value={permission} onChange={(event) => change({ permission: event.currentTarget.value })}>
            <option value="default">By the rules; anything else is asked here</option>
            <option value="force">Everything except deny rules and protected paths (--force)</option>
          </select>
        </label>
        {folders.value?.length === 0 && !isFleet.value && (
          <p class="wide problem">
            No folder is trusted yet. A page cannot trust one: in a terminal, <code>cd</code> to it and run{" "}
            <code>courser --trust</code>.
          </p>
        )}
        {!isOurs && (
          <p class="wide soft">
            {agentName(cli)} decides by its own rules: it cannot be asked, steered or rewound from here.
          </p>
        )}
        <p class="wide buttons">
          <button type="submit" class="main" disabled={!isReady || isSending.value}>
            Start
          </button>
          <span class="soft">Ctrl+Enter</span>
        </p>
      </form>
    </main>
  );
}

function recall(): Partial<Choices> {
  try {
    return JSON.parse(localStorage.getItem(remembered) ?? "{}") as Partial<Choices>;
  } catch {
    return {};
  }
}
