// The composer of a conversation: steers the running turn, queues a prompt, or continues the session.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { RunEnd } from "../../../serve/api.ts";
import { ContextMeter } from "../../components/charts.tsx";
import { agentName } from "../model/agents.ts";
import { agents, latestRunOf, service } from "../state/app.ts";
import type { Mode } from "../state/choices.ts";
import type { Pending } from "../state/conversation.ts";
import { attempt, showMessage } from "../state/layout.ts";
import type { Picture } from "../state/pictures.ts";
import { navigate } from "../state/router.ts";
import { Chip, ModelChip } from "./chips.tsx";
import { AttachButton, imagesOf, modeWords, permissions, permissionTitle, useDraft } from "./composer-parts.tsx";
import type { Subject } from "./conversation.tsx";
import { PromptField } from "./prompt-field.tsx";

export function Composer({ subject }: { subject: Subject }) {
  const { conversation, isLive, run, cli, workspace, sessionDetails: details } = subject;
  conversation.version.value; // reading the version subscribes to the mode and the model, which change with the log
  const log = conversation.log.value;
  const hasFailed = !isLive && (run?.end ? isFailure(run.end) : details?.state === "failed");
  const failed = hasFailed ? log.turns.at(-1)?.prompt : undefined;
  const key = conversation.ref.value?.id ?? run?.id ?? "";
  const text = useDraft(key);
  const pictures = useSignal<readonly Picture[]>([]);
  const chosen = useSignal<{ mode?: Mode; model?: string; force?: boolean }>({});
  const isSending = useSignal(false);
  const inForce = modeFromStream(log.mode) ?? run?.spec.request.mode ?? "agent";
  const mode = chosen.value.mode ?? inForce;
  const model = chosen.value.model ?? log.model ?? subject.model ?? "";
  const force = chosen.value.force ?? lastRunOf(subject)?.spec.request.force;
  const cannot = isLive ? undefined : whyReadOnly(subject);
  const canSteer = isLive && cli === "courser";
  const undelivered = conversation.undelivered.value;
  useEffect(() => {
    if (undelivered.length === 0) return;
    conversation.undelivered.value = [];
    text.value = [...undelivered, text.value].filter(Boolean).join("\n\n");
    showMessage("What was queued is back in the message field, and not sent.");
  }, [undelivered]);
  // Restore the prompt of a turn that failed, so that it can be sent again.
  useEffect(() => {
    if (failed && text.value === "") text.value = failed;
  }, [failed]);
  const send = async (kind: Pending["kind"]) => {
    const promptText = text.value.trim();
    if (promptText === "" || isSending.value || cannot !== undefined) return;
    isSending.value = true;
    const images = imagesOf(pictures.value).images;
    const done = await attempt(async () => {
      if (isLive) await conversation.sendMessage(canSteer ? kind : "prompt", promptText, images);
      else {
        const next = await continueSession(
          subject,
          { text: promptText, ...(images && { images }) },
          { ...chosen.value, mode, force },
        );
        if (failed && !conversation.ref.value) navigate({ type: "run", id: next.id, tab: "timeline" });
        else await conversation.attach(next);
      }
      return true;
    });
    isSending.value = false;
    if (!done) return;
    text.value = "";
    pictures.value = [];
  };
  const sendToRun = (message: object) => {
    if (isLive && run) void attempt(() => service().tell(run.id, message));
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
        <PromptField
          text={text}
          pictures={pictures}
          label={isLive ? "Message to the agent" : "Next prompt"}
          placeholder={
            cannot ??
            (canSteer
              ? "Steer it, or queue what comes next"
              : isLive
                ? "Queue what comes next"
                : "Continue this session")
          }
          isDisabled={cannot !== undefined}
          workspace={workspace}
          rows={1}
          onKey={(event) => {
            if (event.key !== "Enter" || event.shiftKey) return false;
            void send(event.altKey ? "prompt" : "steer");
            return true;
          }}
        />
        <div class="box-line">
          <Chip
            label="Mode"
            value={mode}
            options={modeWords.filter(([each]) => cli === "courser" || each !== "ask")}
            isDisabled={isLive && cli !== "courser"}
            onChange={(next) => {
              chosen.value = { ...chosen.value, mode: next };
              sendToRun({ type: "mode", mode: next === "agent" ? "default" : next });
            }}
          />
          <ModelChip
            value={model}
            isListed={cli === "courser"}
            isDisabled={isLive && cli !== "courser"}
            onChange={(next) => {
              chosen.value = { ...chosen.value, model: next };
              sendToRun({ type: "model", model: next, id: `model-${Date.now()}` });
            }}
          />
          <Chip
            label="Permission"
            value={force ? "force" : "ask"}
            title={permissionTitle(cli ?? "courser", force ? "force" : "ask")}
            options={cli === "courser" ? permissions : [["ask", "By its own rules"], permissions[1]!]}
            isDisabled={isLive}
            onChange={(next) => (chosen.value = { ...chosen.value, force: next === "force" })}
          />
          {!isLive && <AttachButton pictures={pictures} />}
          <span class="box-end">
            {conversation.context.value && isLive && (
              <ContextMeter used={conversation.context.value.used} window={conversation.context.value.window} />
            )}
            {canSteer && text.value.trim() !== "" && (
              <button type="button" onClick={() => void send("prompt")} title="Sent when this turn ends (Alt+Enter)">
                Queue
              </button>
            )}
            {isLive && run && (
              <button type="button" onClick={() => void attempt(() => service().stop(run.id))}>
                Stop
              </button>
            )}
            {(!isLive || text.value.trim() !== "") && (
              <button type="submit" class="main" disabled={cannot !== undefined || text.value.trim() === ""}>
                {canSteer ? "Steer" : failed?.trim() === text.value.trim() ? "Try again" : "Send"}
              </button>
            )}
          </span>
        </div>
      </form>
    </div>
  );
}

/** Returns whether a run failed. One that was stopped has not, unless it had not even begun. */
function isFailure({ outcome, turns }: RunEnd): boolean {
  return outcome === "error" || (turns === 0 && outcome === "cancelled");
}

/** Converts the name that the stream has for a mode. */
function modeFromStream(mode: string | undefined): Mode | undefined {
  if (mode === "plan" || mode === "ask") return mode;
  return mode === undefined ? undefined : "agent";
}

type Changed = { mode?: Mode; model?: string; force?: boolean | undefined };

/** The run that the next one continues. A session without one was started elsewhere, or long ago. */
function lastRunOf({ conversation, run }: Subject) {
  const ref = conversation.ref.value;
  return run ?? (ref && latestRunOf(ref.id));
}

/** Starts the next run of the same agent, in the selected mode. */
export async function continueSession(subject: Subject, prompt: Given, changed: Changed = {}) {
  const { conversation } = subject;
  const { mode, model, force } = changed;
  const wanted = { ...(mode && { mode }), ...(model && { model }), ...(force !== undefined && { force }) };
  const ref = conversation.ref.value;
  const last = lastRunOf(subject);
  if (last) return service().followUp(last.id, { prompt, ...forCli(last.spec.cli, wanted) });
  const details = conversation.sessionDetails.value ?? (ref && (await service().session(ref)));
  if (!details?.workspace) throw new Error("This session has no directory to continue in.");
  const { agent: cli, workspace, id } = details;
  return service().start({ cli, workspace, prompt, session: { id }, ...forCli(cli, wanted) });
}

type Given = { text: string; images?: readonly { mime: string; base64: string }[] };

/** Removes choices that another CLI does not support, such as all modes but plan. */
function forCli(cli: string, wanted: Changed): Changed {
  if (cli === "courser" || wanted.mode === "plan") return wanted;
  const { mode: _, ...rest } = wanted;
  return rest;
}

function whyReadOnly({ workspace, sessionDetails: details, cli, run }: Subject): string | undefined {
  if (cli === undefined) return undefined;
  if (agents.value.length > 0 && !agents.value.some(({ name }) => name === cli))
    return `${agentName(cli)} is not installed here: this session can be read only`;
  if (details && workspace === undefined) return "This session has no recorded directory: it is read-only";
  if (details && !details.isTrusted && !run)
    return "Its directory is not trusted. In a terminal: cd there, courser trust add";
  if (!run && details?.state === "running") return "It runs in another window: what it does is shown here as it comes";
  return undefined;
}
