// What a run may do: rules and mode, the sandbox that commands are put into, and who is asked about the rest.
import type { Agent } from "../agent/agent.ts";
import type { Sandbox } from "../agent/sandbox/index.ts";
import type { Situation } from "../policy/decide.ts";
import type { Need } from "../policy/need.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import { hasSandboxFile } from "../store/sandbox-files.ts";
import { createAsking, permissionAsker } from "./human.ts";
import { type Confinement, createConfinement, unconfined } from "./sandbox.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

export type RunPermissions = Pick<Agent, "ask" | "decide" | "review"> & {
  /** Absent until the first command needs one. */
  readonly sandbox: Sandbox | undefined;
  end(): Promise<void>;
};

type PermissionParts = Pick<Agent["toolContext"], "processes" | "sessionId" | "background"> & {
  state: RunState;
  /** Rules that are known only while it runs: of skills and servers. */
  moreRules(): readonly Rule[];
  warn(message: string): void;
};

export async function openPermissions(setup: Setup, parts: PermissionParts): Promise<RunPermissions> {
  const { workspace, standsFor, roots, home, configDir, request, settings, asking, host } = setup;
  const { state, background, processes, warn } = parts;
  const granted: Rule[] = [];
  const ask = asking.can("permission")
    ? permissionAsker(asking, {
        async proposed(needs) {
          const { proposedRules } = await import("./granted-rules.ts");
          return proposedRules(needs, { ...situationOf(await confinedFor(needs)), keepsDeleted: false });
        },
        async grant(rules, scope) {
          const { grantRules } = await import("./granted-rules.ts");
          granted.push(...grantRules(rules, scope, { workspace, configDir, warn }));
        },
      })
    : permissionAsker(createAsking(await askCommand(setup, parts), undefined, { waiting: host.waiting }));
  const reviews =
    request.autoReview || settings.approvalMode === "auto-review" ? await reviewer(setup, state) : undefined;
  const startedAt = Date.now();
  let confinement = unconfined;
  let confining: Promise<Confinement> | undefined;
  const attended = (): boolean => ask !== undefined && host.attended?.() === true;
  const confine = async (): Promise<Confinement> => {
    const unlisted = request.unlistedCommands ?? (attended() ? "ask" : "sandbox");
    confining ??= createConfinement(setup, { unlisted, canAsk: ask !== undefined, processes, warn });
    confinement = await confining;
    // Somebody may have come in front of it since the sandbox was made.
    return unlisted === "ask" && confinement.reach === "unlisted" ? unconfined : confinement;
  };
  // While no command is run, nothing waits for the sandbox.
  const confinedFor = async (needs: readonly Need[]) =>
    confining || needs.some((need) => need.kind === "Shell") ? confine() : unconfined;
  const situationOf = ({ reach }: Confinement): Situation => ({
    mode: state.mode,
    interactive: ask !== undefined,
    workspace,
    ...(standsFor !== undefined && { standsFor }),
    // The model is pointed to long outputs by their path: it may read them.
    roots: background.folder ? [...roots, background.folder] : roots,
    home,
    configDir,
    searchPath: host.env["PATH"] ?? "",
    startedAt,
    rules: [...setup.rules, ...granted, ...parts.moreRules()],
    sandbox: reach,
    // A command that answers in the place of a person is asked as a person would be.
    keepsDeleted: !attended() && request.askCommand === undefined,
    acceptsSearches: settings.raw["autoAcceptWebSearch"] === true,
  });
  // A broken file stops the run before anything is asked or done.
  if (request.sandbox === "enabled" || hasSandboxFile(setup)) await confine();
  return {
    ...(ask && { ask }),
    get review() {
      return state.mode === "default" ? reviews : undefined;
    },
    async decide(needs, options) {
      const { decide } = await import("../policy/decide.ts");
      const confined = await confinedFor(needs);
      const situation = situationOf(confined);
      const mode = options?.readOnly && state.mode !== "plan" ? "ask" : state.mode;
      const decision = await decide(needs, { ...situation, mode });
      return confined.check(decision);
    },
    get sandbox() {
      return confinement.sandbox;
    },
    async end() {
      await confinement.sandbox?.end();
    },
  };
}

async function askCommand({ request, workspace }: Setup, { processes, sessionId }: PermissionParts) {
  if (request.askCommand === undefined) return undefined;
  return (await import("./ask-command.ts")).commandHuman(request.askCommand, { processes, sessionId, workspace });
}

async function reviewer({ settings, workspace }: Setup, state: RunState) {
  const { createReviewer } = await import("../agent/auto-review.ts");
  return createReviewer({ state, instructions: settings.autoRun, workspace });
}
