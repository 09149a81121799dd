// AcpSession: one conversation of a client. It owns a run, sends it prompts and reports its events as updates.
import { type ErrorCode, UserError, usageError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { onAbort } from "../protocol/on-abort.ts";
import type { ChatChoice, LiveRun, PermissionMode, Prompt, RunRequest, TurnEnding } from "../protocol/run.ts";
import { DeliveredEndings } from "../run/delivered-endings.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { type Setup, setUp } from "../run/setup.ts";
import type { ChatRecord } from "../store/chats/chat.ts";
import { firstLine } from "../store/chats/metadata.ts";
import { createChat } from "../store/chats/open-chat.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { clientBuffers } from "./buffers.ts";
import type { AcpClient } from "./client.ts";
import { type AskingSession, clientHuman } from "./human.ts";
import { listedId, offeredModels } from "./models.ts";
import { cursorNotification } from "./v1/cursor.ts";
import {
  configOptions,
  efforts,
  type ModeId,
  modeIdOf,
  modeState,
  modes,
  ownEffort,
  type SessionChoices,
} from "./v1/options.ts";
import type { WireCall } from "./v1/tool-call.ts";
import { type Update, Updates } from "./v1/updates.ts";

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** Errors for which the protocol has a stop reason. All others are sent as error replies. */
const stopReasons: Partial<Record<ErrorCode, StopReason>> = {
  MAX_TURNS: "max_turn_requests",
  MAX_TOKENS: "max_tokens",
  MODEL_TOO_LONG: "max_tokens",
  MODEL_REFUSED: "refusal",
  PROMPT_BLOCKED: "refusal",
  INTERRUPTED: "cancelled",
  TERMINATED: "cancelled",
};

/** Built-in commands. Those of the project and its skills come from the run. */
const ownCommands = [{ name: "compact", description: "Compact the conversation" }] as const;

const outputEveryMs = 100;

type SessionParts = {
  id: string;
  client: AcpClient;
  host: RunHost;
  /** Resolves when the request that opens the session has been answered. */
  answered: Promise<void>;
  /** The mode that the chat had when it was last used. */
  mode?: unknown;
};

export class AcpSession implements AskingSession {
  readonly id: string;
  readonly workspace: string;
  readonly calls = new Map<string, WireCall>();
  readonly #client: AcpClient;
  readonly #host: RunHost;
  readonly #updates: Updates;
  readonly #shown = new DeliveredEndings();
  readonly #abort = new AbortController();
  /** Resolves when the client knows the session id. */
  readonly #answered: Promise<void>;
  /** The permission mode behind "agent": force if the flags or the settings say so. */
  readonly #agentMode: PermissionMode;
  #request: RunRequest;
  #choices: SessionChoices;
  #cancel = new AbortController();
  #opening: Promise<LiveRun> | undefined;
  #run: LiveRun | undefined;
  #followed: Promise<void> | undefined;
  /** The number of prompts being answered, and callbacks that wait for one. */
  #prompts = 0;
  #waiting: (() => void)[] = [];
  #title: string | undefined;
  #outputTimer: NodeJS.Timeout | undefined;

  private constructor(request: RunRequest, setup: Setup, { id, client, host, answered, mode }: SessionParts) {
    this.id = id;
    this.workspace = request.workspace;
    this.#request = request;
    this.#client = client;
    this.#host = host;
    this.#answered = answered;
    this.#agentMode = setup.mode === "force" ? "force" : "default";
    this.#choices = {
      mode: modeIdOf(request.mode === undefined && (mode === "plan" || mode === "ask") ? mode : setup.mode),
      model: listedId(setup.model),
      effort: setup.model.effort ?? ownEffort,
      models: offeredModels(setup),
    };
    const { notices, compaction } = client.can;
    this.#updates = new Updates({ workspace: request.workspace, newId: randomUuid, notices, compaction });
  }

  /**
   * Throws a UserError if the session cannot be opened. In an untrusted workspace the run starts with the first prompt, because
   * a question can only be asked during a prompt.
   */
  static async begin(request: RunRequest, parts: SessionParts): Promise<AcpSession> {
    const setup = await setUp(request, parts.host, { gate: false });
    const mayOpen = setup.trusted || request.force === true;
    const chat = mayOpen ? request.chat : withCreatedChat(request, parts.id, setup);
    const session = new AcpSession({ ...request, chat, workspace: setup.workspace }, setup, parts);
    if (mayOpen) await session.open();
    return session;
  }

  get cancelled(): AbortSignal {
    return this.#cancel.signal;
  }

  /** The part of the response to session/new, session/load and session/resume that describes modes and options. */
  get state(): { modes: object; configOptions: object[] } {
    return { modes: modeState(this.#choices), configOptions: configOptions(this.#choices) };
  }

  open(): Promise<LiveRun> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<LiveRun> {
    const buffers = clientBuffers(this.#client, this.id, () => this.#cancel.signal);
    const run = await openRun(this.#request, {
      ...this.#host,
      human: clientHuman(this.#client, this),
      signal: this.#abort.signal,
      ...(buffers && { seams: { ...this.#host.seams, buffers } }),
    });
    this.#run = run;
    this.#followed = this.#follow(run);
    void this.#sendCommands(run);
    return run;
  }

  async prompt(prompt: Prompt, signal: AbortSignal): Promise<StopReason> {
    const { signal: cancelled } = this.#cancel;
    signal.addEventListener("abort", () => this.cancel(), { once: true });
    this.#prompts++;
    for (const wake of this.#waiting.splice(0)) wake();
    try {
      return await this.#answer(prompt, cancelled);
    } catch (error) {
      if (cancelled.aborted) return "cancelled";
      throw error instanceof UserError && error.code === "UNTRUSTED" ? this.#untrustedError() : error;
    } finally {
      this.#prompts--;
    }
  }

  async #answer(prompt: Prompt, cancelled: AbortSignal): Promise<StopReason> {
    const run = await this.open();
    if (cancelled.aborted) return "cancelled";
    if (/^\/compact\s*$/.test(prompt.text)) {
      await run.compact();
      await this.#settle(run);
      return "end_turn";
    }
    const sent = run.send(prompt);
    const stop = async () => {
      if (!(await sent.withdraw())) run.interrupt("The client cancelled the turn.");
    };
    const forget = onAbort(cancelled, stop);
    const ending = await sent.ending;
    forget();
    if (sent.state === "told") await this.#shown.until(ending);
    await this.#settle(run, prompt);
    return this.#stopReason(ending, cancelled);
  }

  /** Ends the running and waiting turns and withdraws their questions. */
  cancel(): void {
    this.#cancel.abort();
    this.#cancel = new AbortController();
  }

  prompted(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#prompts > 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const forget = onAbort(signal, () => resolve(false));
      this.#waiting.push(() => {
        forget();
        resolve(true);
      });
    });
  }

  setMode(id: string): void {
    const mode = modes.find((each) => each.id === id)?.id;
    if (!mode) throw usageError(`Unknown mode '${id}'. The modes are ${modes.map((each) => each.id).join(", ")}.`);
    if (this.#run) this.#run.setMode(mode === "agent" ? this.#agentMode : mode);
    else this.#request = { ...this.#request, mode };
    this.#recordChoice({ mode });
  }

  async setOption(id: string, value: string): Promise<object[]> {
    const { model, effort } = this.#choices;
    if (id === "mode") this.setMode(value);
    else if (id === "model") await this.#setModel(value, effort);
    else if (id === "effort" && [ownEffort, ...efforts].includes(value)) await this.#setModel(model, value);
    else if (id === "effort")
      throw usageError(`Unknown effort '${value}'. It must be one of ${[ownEffort, ...efforts].join(", ")}.`);
    else throw usageError(`Unknown option '${id}'. The options are mode, model and effort.`);
    return configOptions(this.#choices);
  }

  async #setModel(model: string, effort: string): Promise<void> {
    const existing = efforts.find((each) => each === effort);
    const wish = { model, ...(existing && { effort: existing }) };
    const { effort: _before, ...rest } = this.#request;
    if (this.#run) await this.#run.setModel(model, existing);
    else await setUp({ ...rest, ...wish }, this.#host, { gate: false });
    this.#request = { ...rest, ...wish };
    const { models } = this.#choices;
    const isListed = models.some(({ id }) => id === model);
    this.#recordChoice({ model, effort, models: isListed ? models : [...models, { id: model, name: model }] });
  }

  /** Sends the whole conversation to the client, before session/load is answered. */
  async replay(record: ChatRecord): Promise<void> {
    const { rebuildEvents } = await import("../sdk/rebuild-events.ts");
    for (const { events } of rebuildEvents(record)) {
      for (const event of events) {
        for (const update of this.#updates.past(event)) this.#sendUpdate(update);
        await this.#client.ready(this.#abort.signal);
      }
    }
    this.#updates.live({ type: "done", text: "", durationMs: 0, apiDurationMs: 0 });
  }

  sendTitle(title: string): void {
    this.#title = title;
    this.#sendUpdate({ sessionUpdate: "session_info_update", title });
  }

  async close(): Promise<void> {
    this.cancel();
    this.#abort.abort(new UserError("INTERRUPTED", "The session was closed."));
    const run = await this.#opening?.catch(() => undefined);
    await run?.close();
    await this.#followed;
    clearTimeout(this.#outputTimer);
  }

  #sendUpdate(update: Update): void {
    this.#client.update(this.id, update);
  }

  async #follow(run: LiveRun): Promise<void> {
    await this.#answered; // the client must first receive the session's id
    for await (const { event, agent } of run.events()) {
      // Skip events of subagents: their work is shown as the output of a tool call.
      if (agent !== undefined) continue;
      this.#applyEvent(event);
      for (const update of this.#updates.live(event)) this.#sendUpdate(update);
      this.#showOutputSoon();
      await this.#client.ready(this.#abort.signal);
      if (event.type === "done" || event.type === "fail") this.#shown.add(event);
    }
  }

  #applyEvent(event: AgentEvent): void {
    if (event.type === "init") this.#recordChoice({ mode: modeIdOf(event.permissionMode as PermissionMode) });
    if (event.type === "tool_start") this.calls.set(event.callId, event);
    if (event.type === "tool_end") this.calls.delete(event.callId);
    if (event.type === "done" || event.type === "fail") this.calls.clear();
    const extension = cursorNotification(event);
    if (extension && this.#client.can.cursor.has(extension.method))
      this.#client.notify(`cursor/${extension.method}`, { sessionId: this.id, ...extension.params });
    if (event.type !== "notice") return;
    const { permissionMode, model } = event.fields ?? {};
    if (event.kind === "mode_change") this.#recordChoice({ mode: modeIdOf(permissionMode as PermissionMode) });
    const other = event.kind === "model_change" && this.#choices.models.find(({ name }) => name === model);
    if (other) this.#recordChoice({ model: other.id });
  }

  /** Notifies the client of a change. Nothing is sent if it is the result of the client's own request. */
  #recordChoice(changed: Partial<SessionChoices>): void {
    const before = this.#choices;
    this.#choices = { ...before, ...changed };
    const { mode, model, effort } = this.#choices;
    if (mode !== before.mode)
      this.#sendUpdate({ sessionUpdate: "current_mode_update", currentModeId: mode satisfies ModeId });
    if (mode !== before.mode || model !== before.model || effort !== before.effort)
      this.#sendUpdate({ sessionUpdate: "config_option_update", configOptions: configOptions(this.#choices) });
  }

  #showOutputSoon(): void {
    if (this.#outputTimer || !this.#updates.hasUnshownOutput) return;
    this.#outputTimer = setTimeout(() => {
      this.#outputTimer = undefined;
      for (const update of this.#updates.liveOutput()) this.#sendUpdate(update);
    }, outputEveryMs);
  }

  /** Sends the updates that follow from a turn before the turn's answer. */
  async #settle(run: LiveRun, prompt?: Prompt): Promise<void> {
    const use = await run.context().catch(() => undefined);
    await new Promise(setImmediate); // wait for notices that arrive together with the end
    if (use) {
      const { used, window: size, costUsd } = use;
      const cost = costUsd === undefined ? {} : { cost: { amount: costUsd, currency: "USD" } };
      this.#sendUpdate({ sessionUpdate: "usage_update", used: Math.round(used), size, ...cost });
    }
    const title = prompt && this.#title === undefined ? firstLine(prompt.text) : "";
    if (title !== "") this.#title = title;
    const updatedAt = new Date().toISOString();
    this.#sendUpdate({ sessionUpdate: "session_info_update", ...(title !== "" && { title }), updatedAt });
  }

  #stopReason(ending: TurnEnding, cancelled: AbortSignal): StopReason {
    if (cancelled.aborted) return "cancelled";
    if (ending.type === "done") return "end_turn";
    const { code = "INTERNAL", message } = ending;
    const reason = stopReasons[code as ErrorCode];
    if (reason === undefined) throw new UserError(code as ErrorCode, message);
    if (reason !== "cancelled")
      this.#sendUpdate({
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: message },
        messageId: randomUuid(),
      });
    return reason;
  }

  async #sendCommands(run: LiveRun): Promise<void> {
    const names = await run.names().catch(() => undefined); // an error is reported by the first turn
    await this.#answered;
    if (!names || this.#abort.signal.aborted) return;
    const availableCommands = [
      ...ownCommands,
      ...names.map(({ name, kind, description }) => ({
        name,
        description: description ?? `A ${kind} of this project or the user`,
        input: { hint: kind === "command" || kind === "prompt" ? "arguments" : "task" },
      })),
    ];
    this.#sendUpdate({ sessionUpdate: "available_commands_update", availableCommands });
  }

  #untrustedError(): UserError {
    const { program } = this.#host;
    return new UserError(
      "UNTRUSTED",
      `Workspace Trust Required: ${this.workspace} is not trusted. Answer the question with yes, or start the agent with: ${program} --trust acp`,
    );
  }
}

/** Creates the chat at once under the id that the client was given, so that another process can resume it. */
function withCreatedChat({ chat, ephemeral }: RunRequest, id: string, setup: Setup): ChatChoice | undefined {
  if (chat?.type !== "new" || ephemeral) return chat;
  createChat(setup, { id, mode: "default" }).close();
  return { type: "resume", id };
}
