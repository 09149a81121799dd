// agent(): runs any agent CLI in a test: the real program, in a workspace with a home of its own, answered by a scripted model.
import { UserError } from "../../protocol/error-codes.ts";
import type { RunDenial, RunResult } from "../../sdk/outcome.ts";
import { start } from "../../sdk/run.ts";
import type { RunEvent } from "../../sdk/run-event.ts";
import type { StartOptions } from "../../sdk/start-options.ts";
import type { UnifiedTool } from "../../sdk/unified.ts";
import { agentHomes } from "./agent-homes.ts";
import { type ChangedFile, changesBetween, fingerprints } from "./changes.ts";
import { type ModelAnswer, modelServer, type RecordedRequest } from "./model-server.ts";
import type { ScriptedReply, TestModel } from "./models.ts";
import { type CliRun, questionsIn, toolCallsIn } from "./run-cli.ts";
import { askedIn, type ModelRequest } from "./wires/asked.ts";
import type { Workspace } from "./workspace.ts";

export type AgentRunOptions = {
  /** The workspace, with the home that the agent gets. */
  workspace: Pick<Workspace, "path" | "home" | "env">;
  /** A model made by scriptedModel(). */
  model: Pick<TestModel, "replies">;
  /** After this time the program is killed. Default: two minutes. */
  timeoutMs?: number;
} & Pick<StartOptions, "permissionMode" | "mcpServers" | "extraArgs" | "resume" | "signal" | "env" | "schema">;

/** The outcome of a run, in a form that the checks of this kit accept. */
export interface AgentRun extends Pick<CliRun, "events" | "result" | "text" | "toolCalls" | "denials" | "questions"> {
  readonly cwd: string;
  readonly sessionId: string | undefined;
  readonly changedFiles: readonly ChangedFile[];
  /** Its requests to the model, in one shape for all vendors. Side requests without tools (a title, a warm-up) are left out. */
  readonly requests: readonly ModelRequest[];
  /** The result of the run as the SDK reports it. */
  readonly outcome: RunResult<unknown>;
}

export interface TestAgent {
  readonly tool: UnifiedTool;
  /** What keeps it off the network: its own settings, which send all model requests to this process. */
  readonly isolation: "settings";
  /** Rejects if the program cannot be started, or if the script does not fit: replies are missing or left over. */
  run(prompt: string, options: AgentRunOptions): Promise<AgentRun>;
}

/** `executable` is needed if the SDK does not find the CLI in PATH. */
export function agent(tool: UnifiedTool, { executable }: { executable?: string | readonly string[] } = {}): TestAgent {
  const home = Object.hasOwn(agentHomes, tool) ? agentHomes[tool] : undefined;
  if (!home)
    throw new UserError(
      "USAGE",
      `agent("${tool}") is not known to the test kit. It knows ${Object.keys(agentHomes).join(", ")}.`,
    );
  return {
    tool,
    isolation: "settings",
    async run(prompt, { workspace, model, timeoutMs = 120_000, env, extraArgs = [], ...options }) {
      const script = new Script(model.replies);
      await using server = await modelServer((request) => script.answer(request));
      const made = home({ workspace: workspace.path, home: workspace.home, url: server.url });
      const before = fingerprints(workspace.path);
      const run = start({
        prompt,
        tool,
        cwd: workspace.path,
        model: made.model,
        trust: true,
        timeoutMs,
        ...options,
        extraArgs: [...(made.args ?? []), ...extraArgs],
        ...(executable !== undefined && { executable }),
        env: { ...withoutOthers(workspace.env), ...made.env, ...workspace.env, ...env },
      });
      const events: RunEvent[] = [];
      for await (const event of run.events) events.push(event);
      const outcome: RunResult<unknown> = await run.result;
      script.check(outcome);
      const result = events.findLast((event) => event.type === "done" || event.type === "fail") as AgentRun["result"];
      return {
        cwd: workspace.path,
        events,
        result,
        outcome,
        text: outcome.text,
        sessionId: outcome.sessionId,
        toolCalls: toolCallsIn(events),
        questions: questionsIn(events),
        denials: outcome.denials as readonly RunDenial[],
        changedFiles: changesBetween(before, fingerprints(workspace.path)),
        requests: server.requests.filter(isTurn).flatMap((request) => askedIn(request) ?? []),
      };
    },
  };
}

/** Gives one reply per turn of the model, and records what went wrong. */
class Script {
  readonly #replies: readonly ScriptedReply[];
  #given = 0;
  #fault: string | undefined;

  constructor(replies: readonly ScriptedReply[]) {
    this.#replies = replies;
  }

  answer(request: RecordedRequest): ModelAnswer {
    if (!isTurn(request)) return { text: "ok" };
    const reply = this.#replies[this.#given];
    if (!reply) {
      this.#fault ??= `The script has ${this.#replies.length} replies, and the agent asked for one more.`;
      return refusal(this.#fault);
    }
    this.#given += 1;
    const told = askedIn(request)?.messages.map(({ text }) => text) ?? [];
    const missing = [reply.expect ?? []].flat().find((part) => !told.some((text) => text.includes(part)));
    if (missing !== undefined) {
      this.#fault ??= `Reply ${this.#given} expects ${JSON.stringify(missing)}, which the agent has not sent.`;
      return refusal(this.#fault);
    }
    return answerOf(reply);
  }

  /** Throws if the script did not fit the run. */
  check(outcome: RunResult<unknown>): void {
    const left = this.#replies.length - this.#given;
    const how = outcome.outcome === "success" ? "It ended well." : `It ended with: ${outcome.error.message}`;
    if (this.#fault !== undefined) throw new Error(this.#fault);
    if (left > 0) throw new Error(`The run ended with ${left} of ${this.#replies.length} replies left over. ${how}`);
  }
}

/** Uses a status after which no agent retries. */
function refusal(message: string): ModelAnswer {
  return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message, code: 400 } } };
}

function answerOf({ text, thinking, calls = [], usage, delayMs, error }: ScriptedReply): ModelAnswer {
  if (error) return refusal(error.message ?? error.code);
  return {
    ...(text !== undefined && { text }),
    ...(thinking !== undefined && { thinking: [thinking].flat().join("") }),
    toolCalls: calls.map(({ name, args = {}, id }) => ({ name, args, ...(id !== undefined && { id }) })),
    ...(delayMs !== undefined && { delayMs }),
    ...(usage && {
      usage: {
        ...(usage.inputTokens !== undefined && { input: usage.inputTokens }),
        ...(usage.outputTokens !== undefined && { output: usage.outputTokens }),
      },
    }),
  };
}

function isTurn({ json }: RecordedRequest): boolean {
  return Array.isArray(json?.tools) && json.tools.length > 0;
}

/** Unsets all other variables, so that nothing of the machine's user reaches the agent. */
function withoutOthers(env: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).flatMap((name) => (name in env ? [] : [[name, undefined]])));
}
