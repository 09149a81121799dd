// Defines Tool: one action that the agent can take. Built-in and MCP tools share this type.

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

// biome-ignore lint/suspicious/noExplicitAny: tools of different arguments stand in one list
export interface Tool<Args = any> {
  /** The tool's name for the model, such as "Read". */
  name: string;
  /** The tool's name in the stream: "read" becomes readToolCall. */
  wire: string;
  /** Other names by which models call this tool. */
  aliases?: readonly string[];
  description: string;
  /** The JSON Schema of the arguments, which the model receives. */
  parameters: object;
  /** For an MCP tool: its server, its name there, and how the server is reached. */
  mcp?: { server: string; tool: string; url?: string; command?: string };
  /** Whether the tool may run in plan and ask mode. */
  readOnly: boolean;
  /** Set for a tool that needs no permission but must not run again when a model repeats a call. */
  once?: true;
  /** Throws a ToolFailure with a message that the model can act on. */
  parse(input: unknown): Args;
  /** Returns the arguments as the stream shows them. Asynchronous because some need a parser that is loaded on demand. */
  wireArgs(args: Args, context: CallIdentity): Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Returns what must be permitted before the call runs. */
  needs(args: Args, context: CallIdentity): Need[];
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

/** What identifies a call before it is permitted. */
export type CallIdentity = {
  callId: string;
  sessionId: string;
  /** The real path of the workspace. */
  workspace: string;
  /** Additional workspace roots, from --add-dir. */
  roots: readonly string[];
  /** The older stream format to produce, if any. */
  compat?: ProfileName | undefined;
  /** Web access for fetches and searches; absent when the call has none. */
  web?: WebAccess;
  /** Creates an id; random by default. */
  newId?(): string;
  todos?: TodoList;
  /** Whether calls run without asking the user, as with --force. */
  skipsApproval?: boolean;
};

/** Where search indexes are stored, and the embedding service that ranks results, if there is one. */
export type CodeSearchAccess = { configDir?: string | undefined; embeddings?: EmbeddingEndpoint | undefined };

/** What may be fetched, and the pages fetched in this run. `engine` is the search engine to query. */
export type WebAccess = NetworkSituation & {
  pages: PageCache;
  engine: SearchEngine | undefined;
  env: Readonly<Record<string, string | undefined>>;
};

export type ToolContext = CallIdentity &
  Pick<Decision, "approved" | "mayRead"> & {
    signal: AbortSignal;
    /** Shows live output to the user. It is not part of the result. */
    print(chunk: string): void;
    /** The turn that the call belongs to; absent outside a turn. */
    turn?: TurnContext;
    processes: ProcessRunner;
    /** The call is permitted only in the sandbox: without one it must fail. */
    confined?: boolean;
    sandbox?: Sandbox;
    /** The sandbox with network access, for calls that rules allow. */
    openSandbox?: Sandbox;
    /** Rules that allow the call although it is confined; listing them as unconfined would lift that. */
    confinedRules?: readonly string[];
    background: BackgroundShells;
    /** Merges stdout and stderr of a command in the order in which they were written. */
    mergeOutput?: boolean | undefined;
    /** Whether the Read tool numbers lines, for agents that cite lines and do not edit. */
    numbersLines?: boolean;
    todos: TodoList;
    /** The configuration folder, in which plans are saved. */
    configDir?: string;
    codeSearch?: CodeSearchAccess;
    /** Unsaved text of files that are open in an editor. */
    buffers?: OpenBuffers;
    /** Computes what an edit would change without making the change. */
    isPreview?: boolean;
    /** Reports language-server findings after an edit; absent when none may run. */
    diagnostics?: Pick<Diagnostics, "afterEdit">;
    /** The maximum number of characters of a result that the model receives. */
    resultLimit: number;
  };

/** Connects a call to the turn that it is part of. */
export type TurnContext = {
  emit(event: AgentEvent): void;
  /** Emits the question, waits for the answer, and emits that. `kind` is its name in the stream. */
  query<Response>(kind: string, query: object, respond: () => Promise<Response>): Promise<Response>;
  /** Whether other calls of the same tool run in parallel. */
  isParallel: boolean;
  /** Counts the cost of the call and of everything that it starts. */
  spending: UsageBudget;
  /** Starts subagents; absent when no further ones may be started. */
  subagents?: Subagents;
  /** The user who answers questions; absent when no user can answer. */
  person?: Person;
};

/** A result for two readers: `outcome` for the stream, `text` and `images` for the model. */
export type ToolResult = {
  outcome: Outcome;
  text: string;
  images?: { mime: string; base64: string }[];
  /** Calls of this call's subagents that were refused. */
  denials?: readonly Denial[];
  /** Whether the turn was stopped before the call began. */
  isNotRun?: boolean;
};

/** Any outcome but success; `kind` and `value` go to the stream, `message` to the model. */
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

/** Builds an `error` outcome with both fields that stream readers look for, and the message for the model. */
export function failure(message: string, fields: Record<string, unknown> = {}): ToolFailure {
  return new ToolFailure("error", { ...fields, errorMessage: message, error: message, message }, message);
}
