// CursorAgentModelAdapter: agent CLIs behind the turn contract.
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { type Check, callback, listOf, object, oneOf, positive, signal, text, words } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import { checkOptions } from "../protocol/check-options.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { KnownTool, TurnMessage, TurnTool } from "../protocol/turn-contract.ts";
import { createRedactor, type Redactor } from "../redact/redact.ts";
import { isSecretName, isWord, secretValues } from "../redact/secret-names.ts";
import { type AdapterConfig, type CheckedConfig, checkConfig } from "./config.ts";
import { Rotation } from "./rotation.ts";
import { isRouter, type ToolRouter } from "./tools/router.ts";
import { SentTurn } from "./turn-attempts.ts";

export type AdapterOptions = {
  /** Where CLIs are started; default: the current directory. */
  cwd?: string;
  /** Tools of every turn that brings none of its own. */
  tools?: ToolRouter;
  /** What is going on, line by line, without secrets. */
  log?(line: string): void;
  /** Every frame of every CLI as a line of JSON, without secrets: also what is not forwarded. */
  debug?(line: string): void;
  /** Longest line of a CLI; default 16 MiB. */
  maxLineBytes?: number;
  /** Versions of the contract that are understood. */
  supportedVersions?: readonly string[];
  /** How command lines are made; default: that of this machine. */
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

export type Session = { readonly id: string; readonly model: string; readonly cwd: string };

export type TurnRequest = {
  messages: readonly TurnMessage[];
  /** What the model may call, as it is told. Default: the tools of the adapter. */
  tools?: readonly TurnTool[] | ToolRouter;
  /** Names that are accepted as well, without the model being told of them. */
  alsoKnown?: readonly KnownTool[];
  turnId?: string;
  /** "full" (the default): what a CLI says twice comes twice. "new": nothing comes twice. */
  text?: "full" | "new";
  /** Who is asked first, of those that may answer: for a turn that goes on with the tools of another. */
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

export class CursorAgentModelAdapter {
  /** What was passed over in the config. */
  readonly warnings: readonly string[];
  readonly #config: CheckedConfig;
  readonly #options: AdapterOptions;
  readonly #redactor: Redactor;
  readonly #rotation: Rotation;
  readonly #sessions = new Map<string, Session>();
  readonly #running = new Map<SentTurn, Session>();
  #isClosed = false;

  /** Throws UserError for a config that is wrong. From a file: `new CursorAgentModelAdapter(loadConfig("openclaw.json"))`. */
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
    if (this.#isClosed) throw new UserError("USAGE", "The adapter is closed: make a new one.");
    const name = model ?? this.#config.defaultModel;
    const known = [...this.#config.models.values()].filter((each) => each.enabled).map((each) => each.name);
    if (!known.includes(name)) {
      const state = this.#config.models.has(name) ? "not enabled" : "not configured";
      throw new UserError("MODEL_UNKNOWN", `The model "${name}" is ${state}. Available: ${known.join(", ")}.`);
    }
    const session = { id: randomUUID(), model: name, cwd: resolve(cwd ?? this.#options.cwd ?? ".") };
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Nothing happens before the events are read. They end with exactly one `done` or `error`. */
  sendTurn(session: Session, request: TurnRequest): SentTurn {
    if (!this.#sessions.has(session?.id))
      throw new UserError("SESSION_NOT_FOUND", "The session is closed, or not of this adapter.");
    checkOptions("sendTurn", request, turnChecks, { example: "session, { messages: […] }", required: "messages" });
    const given = request.tools ?? this.#options.tools ?? [];
    const router = isRouter(given) ? given : undefined;
    const tools = isRouter(given) ? given.list() : given;
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

  /** Ends what runs in a session, or the turn with this id. Resolves when its processes are gone. */
  async cancel(which: Session | string): Promise<void> {
    const turns = [...this.#running].filter(([turn, session]) =>
      typeof which === "string" ? turn.turnId === which : session.id === which.id,
    );
    await Promise.all(turns.map(([turn]) => turn.cancel()));
  }

  /** Ends a session; without one, all of them, and the adapter. */
  async close(session?: Session): Promise<void> {
    if (!session) this.#isClosed = true;
    for (const each of session ? [session] : [...this.#sessions.values()]) {
      await this.cancel(each);
      this.#sessions.delete(each.id);
    }
  }

  #begin(turn: SentTurn, session: Session): void {
    if ([...this.#running.values()].some((each) => each.id === session.id))
      throw new UserError("USAGE", "A turn is running in this session: wait for its end, or cancel it first.");
    this.#running.set(turn, session);
  }
}

/** Names that say which or where, and never who. */
const harmlessNames =
  /(^|_)(MODEL|EFFORT|REGION|ZONE|DIR|HOME|PATH|LANG|TZ|URL|ENDPOINT|HOST|PORT|VERSION|MODE|LEVEL|DEBUG|PROXY|TERM|SHELL)$/i;
const isPlace = /^(\/|~|\.|[A-Za-z]:\\|https?:\/\/)/;

/** What a profile sets is likely to be a key, whatever its name; words and places are not. */
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
