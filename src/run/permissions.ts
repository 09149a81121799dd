// Decides what a run may do: rules and mode, the sandbox for commands, and whom to ask about the rest.
import type { Agent, Asker } from "../agent/agent.ts";
import type { Sandbox } from "../agent/sandbox/index.ts";
import type { Situation } from "../policy/decide.ts";
import type { Decision, Need } from "../policy/need.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import { hasSandboxFile } from "../store/sandbox-files.ts";
import { useSandbox, usesSandbox } from "../store/trust.ts";
import { changedSince } from "./changed-since.ts";
import { createAsking, keepConsent, permissionAsker } from "./human.ts";
import { type Confinement, createConfinement, unconfined } from "./sandbox.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

export type RunPermissions = Pick<Agent, "ask" | "decide" | "review"> & {
  /** The sandbox; absent until the first command needs it. */
  readonly sandbox: Sandbox | undefined;
  readonly openSandbox: Sandbox | undefined;
  end(): Promise<void>;
};

/** Kinds of needs that may change the workspace, including those of MCP tools. */
const changing: ReadonlySet<Need["kind"]> = new Set(["Write", "Delete", "Mcp"]);

type Judging = { situation: Situation; check: Confinement["check"] };

type PermissionParts = Pick<Agent["toolContext"], "processes" | "sessionId" | "background"> & {
  state: RunState;
  /** Whether the chat began in an earlier run. */
  isResumed: boolean;
  /** Returns rules that are known only at run time, from skills and servers. */
  moreRules(): readonly Rule[];
  warn(message: string): void;
};

export async function openPermissions(setup: Setup, parts: PermissionParts): Promise<RunPermissions> {
  const { workspace, standsFor, roots, home, configDir, request, settings, asking, host } = setup;
  const { state, background, processes, warn } = parts;
  const granted: Rule[] = [];
  const ask: Asker | undefined = asking.can("permission")
    ? permissionAsker(asking, {
        async proposed(needs) {
          const { proposedRules } = await import("./granted-rules.ts");
          return proposedRules(needs, { ...(await situationFor(needs)).situation, keepsDeleted: false });
        },
        async grant(rules, scope) {
          const { grantRules } = await import("./granted-rules.ts");
          granted.push(...grantRules(rules, scope, { workspace, configDir, warn }));
        },
        async offersSandbox(needs) {
          if (consented || request.unlistedCommands !== undefined || !needs.every(({ kind }) => kind === "Shell"))
            return false;
          const { situation } = await situationFor(needs);
          if (!situation.attended?.sandboxWorks || state.mode !== "default") return false;
          const { decide } = await import("../policy/decide.ts");
          return (await decide(needs, { ...situation, sandbox: "unlisted" })).confined === true;
        },
        useSandbox() {
          consented = true;
          keepConsent(() => useSandbox(configDir, workspace), "Commands run in the sandbox without a question", warn);
        },
      })
    : permissionAsker(createAsking(await askCommand(setup, parts), undefined, { waiting: host.waiting }));
  const reviews =
    request.autoReview || settings.approvalMode === "auto-review" ? await reviewer(setup, state) : undefined;
  const startedAt = Date.now();
  let confinement = unconfined;
  let confining: Promise<Confinement> | undefined;
  let changed = parts.isResumed;
  let hasRunOutside = false;
  let consented = usesSandbox(configDir, standsFor ?? workspace);
  const attended = (): boolean => ask !== undefined && host.attended?.() === true;
  const confine = async (): Promise<Confinement> => {
    confining ??= createConfinement(setup, { canAsk: ask !== undefined, processes, warn });
    confinement = await confining;
    return confinement;
  };
  // Determine this for each call, since a user may attach during the run. Only commands wait for the sandbox.
  const situationFor = async (needs: readonly Need[]): Promise<Judging> => {
    const unlisted = request.unlistedCommands ?? (attended() ? "ask" : "sandbox");
    const runsCommand = needs.some((need) => need.kind === "Shell");
    const confined = confining || runsCommand ? await confine() : unconfined;
    if (unlisted === "sandbox" || !ask || !runsCommand)
      return { situation: situationOf(confined.reach(unlisted)), check: confined.check };
    const sandboxWorks = confined.sandbox !== undefined && (await confined.sandbox.problem()) === undefined;
    const isUsed = consented && sandboxWorks && request.unlistedCommands === undefined;
    const situation = { ...situationOf(confined.reach(isUsed ? "sandbox" : "ask")), attended: { sandboxWorks } };
    return { situation, check: confined.check };
  };
  const situationOf = (sandbox: Situation["sandbox"]): Situation => ({
    mode: state.mode,
    interactive: ask !== undefined,
    workspace,
    ...(standsFor !== undefined && { standsFor }),
    // Results refer the model to long outputs by path, so it may read them.
    roots: background.folder ? [...roots, background.folder] : roots,
    home,
    configDir,
    searchPath: host.env["PATH"] ?? "",
    startedAt,
    rules: [...setup.rules, ...granted, ...parts.moreRules()],
    sandbox,
    // --ask-command counts as a user who can be asked.
    keepsDeleted: !attended() && request.askCommand === undefined,
    acceptsSearches: settings.raw["autoAcceptWebSearch"] === true,
  });
  // An invalid sandbox file stops the run before anything is asked or done.
  if (request.sandbox === "enabled" || hasSandboxFile(setup)) await confine();
  return {
    ...(ask && { ask }),
    get review() {
      return state.mode === "default" ? reviews : undefined;
    },
    async decide(needs, options) {
      const { decide } = await import("../policy/decide.ts");
      const { situation, check } = await situationFor(needs);
      const mode = options?.readOnly && state.mode !== "plan" ? "ask" : state.mode;
      const judge = async () => check(await decide(needs, { ...situation, mode, changed }));
      let decision = await judge();
      if (decision.leaves && !changed) {
        // After a command, a hook or a server ran, only comparing the files shows whether they changed.
        changed = hasRunOutside && (await changedSince([workspace, ...roots], startedAt, configDir));
        if (changed) decision = await judge();
        hasRunOutside = true;
      }
      if (decision.verdict === "allow")
        changed ||=
          decision.changes === true || options?.changes === true || needs.some(({ kind }) => changing.has(kind));
      return decision.verdict === "ask" && !ask ? withRemedy(decision, needs, situation) : decision;
    },
    get sandbox() {
      return confinement.sandbox;
    },
    get openSandbox() {
      return confinement.openSandbox;
    },
    async end() {
      await confinement.end();
    },
  };
}

/** Adds to a refusal the rules that would have allowed the call, if any. */
async function withRemedy(decision: Decision, needs: readonly Need[], situation: Situation): Promise<Decision> {
  const { rulesThatAllow } = await import("./granted-rules.ts");
  const rules = decision.personOnly ? [] : await rulesThatAllow(needs, situation, "any");
  const unnamed = rules.filter((rule) => !decision.reasons.some((reason) => reason.includes(rule)));
  if (unnamed.length === 0) return decision;
  return { ...decision, reasons: [...decision.reasons, `It would be allowed by ${unnamed.join(" and ")}.`] };
}

async function askCommand({ request, workspace }: Setup, { processes, sessionId }: PermissionParts) {
  if (request.askCommand === undefined) return undefined;
  return (await import("./ask-command.ts")).commandHuman(request.askCommand, { processes, sessionId, workspace });
}

async function reviewer({ settings, workspace }: Setup, state: RunState) {
  const { createReviewer } = await import("../agent/auto-review.ts");
  return createReviewer({ state, instructions: settings.autoRun, workspace });
}
