// Tool: one thing the agent can do. Built-in and MCP tools are the same type.

import type { Decision, Need } from "../../policy/need.ts";
import type { NetworkSituation } from "../../policy/network.ts";
import type { AgentEvent, Denial, Outcome } from "../../protocol/event.ts";
import type { ProfileName } from "../../protocol/profiles.ts";
import type { PageCache } from "../../web/page-cache.ts";
import type { SearchEngine } from "../../web/search-engines.ts";
import type { BackgroundShells } from "../background.ts";
import type { EmbeddingEndpoint } from "../code-search/embeddings.ts";
import type { Diagnostics } from "../diagnostics/index.ts";
import type { Person } from "../person.ts";
import type { ProcessRunner } from "../process.ts";
import type { Sandbox } from "../sandbox/index.ts";
import type { OpenBuffers } from "../seams.ts";
import type { Subagents } from "../subagents/index.ts";
import type { UsageBudget } from "../usage-budget.ts";
import type { TodoList } from "./todos.ts";

export interface Tool<Args = any> {
  /** What the model calls: "Read". */
  name: string;
  /** What the stream says: "read" → readToolCall. */
  wire: string;
  /** Other names that models use for the same thing. */
  aliases?: readonly string[];
  description: string;
  /** JSON Schema, as sent to the model. */
  parameters: object;
  /** Of a tool that a server offers: whose it is, what it is called there, and how the server is reached. */
  mcp?: { server: string; tool: string; url?: string; command?: string };
  /** May it run in plan and ask mode? */
  readOnly: boolean;
  /** It needs no permission, and must all the same not be carried out again when a model repeats a call. */
  once?: true;
  /** Throws ToolFailure with words the model can act on. */
  parse(input: unknown): Args;
  /** The arguments as the stream spells them. Some take a grammar to spell, which is loaded when it is needed. */
  wireArgs(args: Args, context: CallIdentity): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** What must be permitted first. */
  needs(args: Args, context: CallIdentity): Need[];
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

/** Where a call stands: known before it is permitted. */
export type CallIdentity = {
  callId: string;
  sessionId: string;
  /** The real path of the workspace. */
  workspace: string;
  /** Further roots given by --add-dir. */
  roots: readonly string[];
  /** Shapes of an older version. */
  compat?: ProfileName | undefined;
  /** Absent: the web is not to be reached from here. */
  web?: WebAccess;
  /** Makes ids; absent: they are random. */
  newId?(): string;
  todos?: TodoList;
  /** Nobody is asked before calls, as with --force. */
  skipsApproval?: boolean;
};

/** Where indexes are kept, and who else may put hits in order. */
export type CodeSearchAccess = { configDir?: string | undefined; embeddings?: EmbeddingEndpoint | undefined };

/** What may be fetched, and what was in this run; `engine`: who is asked when the web is searched. */
export type WebAccess = NetworkSituation & {
  pages: PageCache;
  engine: SearchEngine | undefined;
  env: Readonly<Record<string, string | undefined>>;
};

export type ToolContext = CallIdentity &
  Pick<Decision, "approved" | "mayRead"> & {
    signal: AbortSignal;
    /** Live output, for eyes. */
    print(chunk: string): void;
    /** Absent where a tool is called by itself. */
    turn?: TurnContext;
    processes: ProcessRunner;
    /** The call is permitted in the sandbox only: without one it must fail. */
    confined?: boolean;
    sandbox?: Sandbox;
    /** The one with the network open, for calls that rules allow. */
    openSandbox?: Sandbox;
    /** It is confined although these rules allow it: what to list as unconfined, if that is not wanted. */
    confinedRules?: readonly string[];
    background: BackgroundShells;
    /** Both streams of a command come as one, in the order in which they were written. */
    mergeOutput?: boolean | undefined;
    /** Lines that are read come with their numbers: for whoever cites them, and edits nothing. */
    numbersLines?: boolean;
    todos: TodoList;
    /** Where plans are kept. */
    configDir?: string;
    codeSearch?: CodeSearchAccess;
    /** Files that somebody has open and has not saved. */
    buffers?: OpenBuffers;
    /** What an edit would change is wanted, not the change. */
    isPreview?: boolean;
    /** Says what language servers found after an edit; absent where none may run. */
    diagnostics?: Pick<Diagnostics, "afterEdit">;
    /** Most characters a result may put before the model. */
    resultLimit: number;
  };

/** What a call has to do with the turn that it is a part of. */
export type TurnContext = {
  /** Passed on to whoever watches the run. */
  emit(event: AgentEvent): void;
  /** Reports what is asked, waits for the answer, and reports that. `kind`: as the stream calls it. */
  query<Response>(kind: string, query: object, respond: () => Promise<Response>): Promise<Response>;
  /** Other calls of the same tool run beside this one. */
  isParallel: boolean;
  /** What the call, and all that it starts, costs. */
  spending: UsageBudget;
  /** Absent where no further ones may be started. */
  subagents?: Subagents;
  /** Absent where nobody can answer. */
  person?: Person;
};

/** The two audiences of a result: `outcome` for the stream, `text` and `images` for the model. */
export type ToolResult = {
  outcome: Outcome;
  text: string;
  images?: { mime: string; base64: string }[];
  /** What was refused to those that worked for it. */
  denials?: readonly Denial[];
  /** The turn was stopped before any of it began. */
  isNotRun?: boolean;
};

/** Any ending but success; `kind` and `value` go to the stream, `message` to the model. */
export class ToolFailure extends Error {
  readonly kind: string;
  readonly value: object;
  readonly siblings: Record<string, unknown> | undefined;

  constructor(kind: string, value: object, message: string, siblings?: Record<string, unknown>) {
    super(message);
    this.name = "ToolFailure";
    this.kind = kind;
    this.value = value;
    this.siblings = siblings;
  }
}

/** An `error` outcome: both fields that readers of the stream look for, and the sentence for the model. */
export function failure(message: string, fields: Record<string, unknown> = {}): ToolFailure {
  return new ToolFailure("error", { ...fields, errorMessage: message, error: message, message }, message);
}
