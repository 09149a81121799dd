// CursorAgentModelAdapter: drives agent CLIs as models, behind the turn contract.
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { type Check, callback, listOf, object, oneOf, positive, signal, text, words } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import { checkOptions } from "../protocol/check-options.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { KnownTool, TurnMessage, TurnTool } from "../protocol/turn-contract.ts";
import { createRedactor, type Redactor } from "../redact/redact.ts";
import { isSecretName, isWord, secretValues } from "../redact/secret-names.ts";
import { type AdapterConfig, type CheckedConfig, checkConfig } from "./config.ts";
import { Rotation } from "./rotation.ts";
import { isRouter, type ToolRouter } from "./tools/router.ts";
import { SentTurn } from "./turn-attempts.ts";

/** The options of `CursorAgentModelAdapter`. */
export type AdapterOptions = {
  /** The directory to start CLIs in. Default: the current directory. */
  cwd?: string;
  /** Tools for every turn that has none of its own. */
  tools?: ToolRouter;
  /** Called with progress messages, line by line, with secrets redacted. */
  log?(line: string): void;
  /** Called with every frame of every CLI as a line of JSON, forwarded or not, with secrets redacted. */
  debug?(line: string): void;
  /** The longest line accepted from a CLI. Default: 16 MiB. */
  maxLineBytes?: number;
  /** The versions of the contract to accept. */
  supportedVersions?: readonly string[];
  /** The platform to build command lines for. Default: that of this machine. */
  platform?: NodeJS.Platform;
};

const adapterChecks = {
  cwd: text,
  tools: object,
  log: callback,
  debug: callback,
  maxLineBytes: positive,
  supportedVersions: words,
  platform: text,
} satisfies Record<keyof AdapterOptions, Check>;

/** A session of the adapter. */
export type Session = { readonly id: string; readonly model: string; readonly cwd: string };

/** The request of `sendTurn`. */
export type TurnRequest = {
  messages: readonly TurnMessage[];
  /** The tools that the model is told it may call. Default: the tools of the adapter. */
  tools?: readonly TurnTool[] | ToolRouter;
  /** Tool names that are also accepted, without the model being told of them. */
  alsoKnown?: readonly KnownTool[];
  turnId?: string;
  /** "full" (default): text that a CLI sends twice is delivered twice. "new": no text is delivered twice. */
  text?: "full" | "new";
  /** The candidate to ask first, for a turn that continues the tool calls of another. */
  preferred?: { model: string; profile: string };
  signal?: AbortSignal;
};

const turnChecks = {
  messages: messageList,
  tools: (value) => (isRouter(value) ? undefined : toolList(value)),
  alsoKnown: listOf(object),
  turnId: text,
  text: oneOf("full", "new"),
  preferred: object,
  signal,
} satisfies Record<keyof TurnRequest, Check>;

const toolList = listOf((tool) =>
  isObject(tool) && typeof tool.name === "string" ? undefined : "must be a list of tools, or a router",
);

/** Drives agent CLIs as models: each turn starts a CLI and reports its events by the turn contract. */
export class CursorAgentModelAdapter {
  /** What was ignored in the configuration. */
  readonly warnings: readonly string[];
  readonly #config: CheckedConfig;
  readonly #options: AdapterOptions;
  readonly #redactor: Redactor;
  readonly #rotation: Rotation;
  readonly #sessions = new Map<string, Session>();
  readonly #running = new Map<SentTurn, Session>();
  #isClosed = false;

  /** Throws a UserError for an invalid configuration. From a file: `new CursorAgentModelAdapter(loadConfig("openclaw.json"))`. */
  constructor(config: AdapterConfig, options: AdapterOptions = {}) {
    this.#config = checkConfig(config);
    checkOptions("CursorAgentModelAdapter", options, adapterChecks, { example: "config, { … }" });
    this.#options = options;
    this.#redactor = createRedactor({ values: [...secretValues(process.env), ...profileSecrets(this.#config)] });
    this.warnings = this.#config.warnings.map((text) => this.#redactor.redact(text));
    this.#rotation = new Rotation(this.#config);
  }

  async createSession(options: { model?: string; cwd?: string } = {}): Promise<Session> {
    checkOptions("createSession", options, { model: text, cwd: text });
    const { model, cwd } = options;
    if (this.#isClosed) throw usageError("The adapter is closed: make a new one.");
    const name = model ?? this.#config.defaultModel;
    const enabledModels = [...this.#config.models.values()].filter((each) => each.enabled).map((each) => each.name);
    if (!enabledModels.includes(name)) {
      const state = this.#config.models.has(name) ? "not enabled" : "not configured";
      throw new UserError("MODEL_UNKNOWN", `The model "${name}" is ${state}. Available: ${enabledModels.join(", ")}.`);
    }
    const session = { id: randomUUID(), model: name, cwd: resolve(cwd ?? this.#options.cwd ?? ".") };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Returns the events of a turn, which end with one `done` or `error`. The CLI is started at the first read. */
  sendTurn(session: Session, request: TurnRequest): SentTurn {
    if (!this.#sessions.has(session?.id))
      throw new UserError("SESSION_NOT_FOUND", "The session is closed, or not of this adapter.");
    checkOptions("sendTurn", request, turnChecks, { example: "session, { messages: […] }", required: "messages" });
    const offeredTools = request.tools ?? this.#options.tools ?? [];
    const router = isRouter(offeredTools) ? offeredTools : undefined;
    const tools = isRouter(offeredTools) ? offeredTools.list() : offeredTools;
    const { platform, maxLineBytes, supportedVersions, log, debug } = this.#options;
    return new SentTurn(
      { type: "turn", turnId: request.turnId ?? randomUUID(), messages: [...request.messages], tools: [...tools] },
      {
        session,
        rotation: this.#rotation,
        tools: [...tools, ...(router?.known() ?? []), ...(request.alsoKnown ?? [])],
        text: request.text ?? "full",
        preferred: request.preferred,
        signal: request.signal,
        platform,
        parser: { maxLineBytes, supported: supportedVersions },
        redact: (text) => this.#redactor.redact(text),
        log: (line) => log?.(line),
        debug,
        onBegin: (turn) => this.#begin(turn, session),
        onEnd: (turn) => this.#running.delete(turn),
      },
    );
  }

  /** Cancels what runs in a session, or the turn with this id. Resolves when its processes are gone. */
  async cancel(which: Session | string): Promise<void> {
    const turns = [...this.#running].filter(([turn, session]) =>
      typeof which === "string" ? turn.turnId === which : session.id === which.id,
    );
    await Promise.all(turns.map(([turn]) => turn.cancel()));
  }

  /** Closes a session; without an argument, all sessions and the adapter. */
  async close(session?: Session): Promise<void> {
    if (!session) this.#isClosed = true;
    for (const each of session ? [session] : [...this.#sessions.values()]) {
      await this.cancel(each);
      this.#sessions.delete(each.id);
    }
  }

  #begin(turn: SentTurn, session: Session): void {
    if ([...this.#running.values()].some((each) => each.id === session.id))
      throw usageError("A turn is running in this session: wait for its end, or cancel it first.");
    this.#running.set(turn, session);
  }
}

/** Names of variables that contain a choice or a path and never a credential. */
const harmlessNames =
  /(^|_)(MODEL|EFFORT|REGION|ZONE|DIR|HOME|PATH|LANG|TZ|URL|ENDPOINT|HOST|PORT|VERSION|MODE|LEVEL|DEBUG|PROXY|TERM|SHELL)$/i;
const isPlace = /^(\/|~|\.|[A-Za-z]:\\|https?:\/\/)/;

/** Returns values in profiles that are likely to be keys, whatever their names. Plain words and paths are not. */
function profileSecrets({ profiles }: CheckedConfig): string[] {
  return [...profiles.values()].flatMap((env) =>
    Object.entries(env).flatMap(([name, value]) => {
      if (value === null || isWord(value)) return [];
      return isSecretName(name) || !(harmlessNames.test(name) || isPlace.test(value)) ? [value] : [];
    }),
  );
}

export function messageList(value: unknown): string | undefined {
  const isMessage = (each: unknown) =>
    isObject(each) && typeof each.role === "string" && typeof each.content === "string";
  return Array.isArray(value) && value.length > 0 && value.every(isMessage)
    ? undefined
    : 'must be a list such as [{ role: "user", content: "…" }], with texts as content';
}
