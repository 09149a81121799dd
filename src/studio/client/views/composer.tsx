// What is written to the agent: steers the run that works, waits for its end, or goes on with the session.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ContextMeter } from "../../components/index.ts";
import type { NewRun } from "../service/api.ts";
import { agents, runs, service } from "../state/app.ts";
import type { Pending } from "../state/conversation.ts";
import { attempt } from "../state/layout.ts";
import type { Subject } from "./conversation.tsx";
import { Select } from "./sidebar.tsx";

type Mode = "default" | "plan" | "ask";

const modes: [Mode, string][] = [
  ["default", "agent"],
  ["plan", "plan"],
  ["ask", "ask"],
];

/** What was begun to be written, for each conversation: looking elsewhere does not lose it. */
const drafts = new Map<string, string>();

export function Composer({ subject }: { subject: Subject }) {
  const { conversation, isLive, run, session, workspace } = subject;
  const draft = conversation.ref.value?.id ?? run?.id ?? "";
  const text = useSignal(drafts.get(draft) ?? "");
  const field = useRef<HTMLTextAreaElement>(null);
  const { init } = conversation.log.value;
  const mode = useSignal<Mode>("default");
  const model = useSignal("");
  const isSending = useSignal(false);
  const cli = run?.spec.cli ?? session?.agent ?? "courser";
  const isInstalled = agents.value.length === 0 || agents.value.some(({ name }) => name === cli);
  const cannot = isLive ? undefined : reasonAgainst({ workspace, session, isInstalled, cli });
  const canSteer = isLive && cli === "courser";
  useEffect(() => {
    grow(field.current);
    if (text.value === "") drafts.delete(draft);
    else drafts.set(draft, text.value);
  }, [text.value]);

  const send = async (kind: Pending["kind"]) => {
    const said = text.value.trim();
    if (said === "" || isSending.value) return;
    isSending.value = true;
    const done = await attempt(async () => {
      if (isLive) await conversation.tell(canSteer ? kind : "prompt", said);
      else await conversation.attach(await goOn(subject, said, { mode: mode.value, model: model.value }));
      return true;
    });
    isSending.value = false;
    if (done) text.value = "";
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") field.current?.blur();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send(event.altKey ? "prompt" : "steer");
  };
  return (
    <div class="composer">
      {conversation.pending.value.map((pending) => (
        <p key={pending.id} class="pending">
          <span class="soft">{pending.kind === "steer" ? "steers" : "queued"}</span>
          <span>{pending.text}</span>
          <button type="button" class="quiet" onClick={() => void attempt(() => conversation.withdraw(pending))}>
            Withdraw
          </button>
        </p>
      ))}
      <form
        class="box"
        onSubmit={(event) => {
          event.preventDefault();
          void send("steer");
        }}
      >
        <textarea
          ref={field}
          rows={1}
          aria-label={isLive ? "Message to the agent" : "Next prompt"}
          placeholder={
            cannot ??
            (canSteer
              ? "Steer, or queue the next message"
              : isLive
                ? "Queue the next message"
                : "Continue this session")
          }
          disabled={cannot !== undefined}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div class="box-line">
          {cli === "courser" && (
            <span class="picker">
              <Select
                label="Mode"
                value={mode.value}
                options={modes}
                onChange={(next) => {
                  mode.value = next as Mode;
                  if (isLive && run) void attempt(() => service().tell(run.id, { type: "mode", mode: next }));
                }}
              />
            </span>
          )}
          <ModelField
            subject={subject}
            shown={model.value || init?.model || ""}
            onChange={(next) => (model.value = next)}
          />
          <span class="fill" />
          {conversation.context.value && isLive && (
            <ContextMeter used={conversation.context.value.used} window={conversation.context.value.window} />
          )}
          {canSteer && text.value.trim() !== "" && (
            <button type="button" onClick={() => void send("prompt")} title="Sent when this turn ends (Alt+Enter)">
              Queue
            </button>
          )}
          {isLive && run && text.value.trim() === "" ? (
            <button type="button" onClick={() => void attempt(() => service().stop(run.id))}>
              Stop
            </button>
          ) : (
            <button type="submit" class="main" disabled={cannot !== undefined || text.value.trim() === ""}>
              {canSteer ? "Steer" : "Send"}
            </button>
          )}
        </div>
      </form>
    </div>
  );
}

/** As it is; on a click, a field with what the vendor calls others. */
function ModelField({ subject, shown, onChange }: { subject: Subject; shown: string; onChange(model: string): void }) {
  const isOpen = useSignal(false);
  const models = useSignal<readonly { id: string; displayName: string }[]>([]);
  const { isLive, run } = subject;
  const choose = (model: string) => {
    isOpen.value = false;
    if (model === "" || model === shown) return;
    onChange(model);
    if (isLive && run) void attempt(() => service().tell(run.id, { type: "model", model, id: `model-${Date.now()}` }));
  };
  if (!isOpen.value)
    return (
      <button
        type="button"
        class="quiet"
        onClick={async () => {
          isOpen.value = true;
          models.value = (await attempt(() => service().models())) ?? [];
        }}
      >
        <span>{shown || "model"}</span> <span aria-hidden="true">▾</span>
      </button>
    );
  return (
    <>
      <input
        type="text"
        class="model"
        list="models"
        aria-label="Model"
        placeholder="Name of a model"
        ref={(input) => input?.focus()}
        onKeyDown={(event) => {
          if (event.key === "Escape") isOpen.value = false;
          if (event.key !== "Enter") return;
          event.preventDefault();
          choose(event.currentTarget.value.trim());
        }}
        onChange={(event) => choose(event.currentTarget.value.trim())}
        onBlur={() => (isOpen.value = false)}
      />
      <datalist id="models">
        {models.value.map(({ id, displayName }) => (
          <option key={id} value={id}>
            {displayName}
          </option>
        ))}
      </datalist>
    </>
  );
}

/** The next run of the same agent, unless something else is wanted of it. */
export async function goOn(subject: Subject, text: string, { mode, model }: { mode?: Mode; model?: string } = {}) {
  const { conversation, run, session, workspace } = subject;
  const id = conversation.ref.value?.id;
  const isAsBefore = !model && (mode === undefined || mode === "default");
  const last = run ?? [...runs.value.values()].find((each) => id !== undefined && each.sessionId === id);
  if (last && isAsBefore) return service().followUp(last.id, text);
  if (id === undefined || workspace === undefined) throw new Error("This session has no directory to continue in.");
  const given: NewRun = {
    cli: run?.spec.cli ?? session?.agent ?? "courser",
    workspace,
    prompt: { text },
    session: { id },
    ...(model && { model }),
    ...(mode && mode !== "default" && { mode }),
  };
  return service().start(given);
}

type Circumstances = Pick<Subject, "workspace" | "session"> & { isInstalled: boolean; cli: string };

function reasonAgainst({ workspace, session, isInstalled, cli }: Circumstances): string | undefined {
  if (!isInstalled) return `${cli} is not installed here: this session can be read only`;
  if (workspace === undefined) return "This session has no recorded directory: it is read-only";
  if (session && !session.isTrusted) return "Its directory is not trusted. In a terminal: cd there, courser --trust";
  return undefined;
}

function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 240)}px`;
}
