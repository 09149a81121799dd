// agent(): runs any agent CLI in a test: the real program, in a workspace with a home of its own, answered by a scripted model.
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { isEnding } from "../../protocol/run.ts";
import { driverOf } from "../../sdk/drivers/index.ts";
import type { RunDenial, RunResult } from "../../sdk/outcome.ts";
import { start } from "../../sdk/run.ts";
import type { RunEvent } from "../../sdk/run-event.ts";
import { cliOf, type StartOptions } from "../../sdk/start-options.ts";
import { isBuiltIn, type UnifiedTool } from "../../sdk/unified.ts";
import { agentHomes } from "./agent-homes.ts";
import { type ChangedFile, changesBetween, fingerprints } from "./changes.ts";
import { withCodexDenials } from "./codex-denials.ts";
import { modelServer } from "./model-server.ts";
import type { ScriptedModel } from "./models.ts";
import { canLeaveNetwork, offNetwork } from "./off-network.ts";
import { type CliRun, questionsIn, toolCallsIn } from "./run-cli.ts";
import { isTurn, ServedScript } from "./served-script.ts";
import { askedIn, type ModelRequest } from "./wires/asked.ts";
import type { Workspace } from "./workspace.ts";

/** The options of `run` of an agent. */
export type AgentRunOptions = {
  /** The workspace of the run, with the home folder that the agent gets. */
  workspace: Pick<Workspace, "path" | "home" | "env">;
  /** The model that answers, from `scriptedModel()`. */
  model: Pick<ScriptedModel, "replies" | "loop">;
  /** After how many milliseconds the program is killed. Default: two minutes. */
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

/** An agent CLI in a test. */
export interface TestAgent {
  readonly tool: UnifiedTool;
  /**
   * What keeps the agent off the network. `sandbox`: a network namespace from which only the scripted model can be
   * reached. `settings`: the agent's own settings, which send model requests to this process.
   */
  readonly isolation: "sandbox" | "settings";
  /** Rejects if the program cannot be started, or if the script does not fit: replies are missing or left over. */
  run(prompt: string, options: AgentRunOptions): Promise<AgentRun>;
}

/** The options of `agent`. */
export type TestAgentOptions = {
  /** The path or command of the CLI. Required if the SDK does not find it in PATH. */
  executable?: string | readonly string[];
  /** `settings` lets it reach the network, for servers of your own on this machine. Default: `sandbox` where that works. */
  isolation?: TestAgent["isolation"];
};

/** Replies of this process: a resumed session may not get the id of a reply or a call twice. */
let answered = 0;

/** Returns an agent CLI for tests: the real program, with a home of its own, on a scripted model. */
export function agent(tool: UnifiedTool, { executable, isolation: wanted }: TestAgentOptions = {}): TestAgent {
  const home = isBuiltIn(tool) ? agentHomes[tool] : undefined;
  if (!home)
    throw usageError(`agent("${tool}") is not known to the test kit. It knows ${Object.keys(agentHomes).join(", ")}.`);
  const isolation = wanted !== "settings" && canLeaveNetwork() ? "sandbox" : "settings";
  if (wanted === "sandbox" && isolation !== wanted)
    throw new UserError("NOT_SUPPORTED", "This machine cannot make network namespaces: bubblewrap is needed.");
  return {
    tool,
    isolation,
    async run(prompt, { workspace, model, timeoutMs = 120_000, env, extraArgs = [], ...options }) {
      if (!model.replies)
        throw usageError(
          'Recorded runs of other agents are played on the command line, by "replay FILE -- PROGRAM …".',
        );
      const script = new ServedScript(model);
      await using server = await modelServer(
        (request) => {
          answered = Math.max(answered, request.number);
          return script.answer(request);
        },
        { after: answered },
      );
      await using outside = isolation === "sandbox" ? await offNetwork(server.url) : undefined;
      const url = outside?.url ?? server.url;
      const made = home({ workspace: workspace.path, home: workspace.home, url });
      const given = { ...withoutOthers(workspace.env), ...made.env, ...workspace.env, ...env };
      const found = await cliOf(driverOf(tool), { executable, env: given, timeoutMs });
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
        executable: outside ? outside.command(found.words) : found.words,
        env: given,
      });
      const events: RunEvent[] = [];
      for await (const event of run.events) events.push(event);
      const outcome: RunResult<unknown> = await run.result;
      script.check(outcome);
      const result = events.findLast(isEnding) as AgentRun["result"];
      const requests = server.requests.filter(isTurn);
      const toolCalls = toolCallsIn(events);
      const denials: readonly RunDenial[] = outcome.denials;
      return {
        cwd: workspace.path,
        events,
        result,
        outcome,
        text: outcome.text,
        sessionId: outcome.sessionId,
        ...(tool === "codex" ? withCodexDenials(requests, toolCalls, denials) : { toolCalls, denials }),
        questions: questionsIn(events),
        changedFiles: changesBetween(before, fingerprints(workspace.path)),
        requests: requests.flatMap((request) => askedIn(request) ?? []),
      };
    },
  };
}

/** Returns an environment in which all other variables are unset, so that nothing of the user's reaches the agent. */
function withoutOthers(env: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(process.env).flatMap((name) => (name in env ? [] : [[name, undefined]])));
}
