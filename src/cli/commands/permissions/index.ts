// The table of `permissions` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const project = flag(
  "Permissions",
  "--project",
  "Use the project's .cursor/cli.json instead of your own configuration",
);

/** Flags for runs that change which permissions apply. */
const ofRun = {
  uses: ["print", "force", "mode", "allow", "deny", "sandbox", "trust", "workspace", "add-dir"],
  meanings: {
    print: "As in print mode, where nobody can be asked",
    force: "As with --force",
    mode: "As in this mode: plan, ask or agent",
    sandbox: "As with this sandbox setting: enabled, disabled",
    trust: "As in a trusted workspace; nothing is saved",
  },
};

export const permissionCommands: readonly InnerCommand[] = [
  {
    name: "check",
    summary: "Check whether something is allowed; exit code 0 allow, 3 ask, 4 deny",
    operands: "<question>",
    flags: [textOrJson],
    ...ofRun,
    examples: ["permissions check 'Shell: git push -f'", "permissions check 'Read: ../secret' --print --force"],
    load: async () => (await import("./check.ts")).checkPermission,
  },
  {
    name: "explain",
    summary: "Explain the decision: every command in a line, and the rule that decides it",
    operands: "<question>",
    flags: [textOrJson],
    ...ofRun,
    examples: ["permissions explain 'Shell: cd src && make | tee log'"],
    load: async () => (await import("./check.ts")).explainPermission,
  },
  {
    name: "list",
    summary: "List the rules in effect, their sources, and what --force does not override",
    flags: [textOrJson],
    uses: ["trust", "workspace"],
    meanings: { trust: ofRun.meanings.trust },
    load: async () => (await import("./list.ts")).listPermissions,
  },
  {
    name: "lint",
    summary: "Find rules that do not do what they seem to; exit code 1 if it finds any",
    flags: [textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./lint.ts")).lintPermissions,
  },
  {
    name: "allow",
    summary: "Add allow rules",
    operands: "<rule...>",
    flags: [project, textOrJson],
    uses: ["workspace"],
    examples: ["permissions allow 'Shell(npm test)'", "permissions allow --project 'Write(docs/**)'"],
    load: async () => (await import("./change.ts")).allowRules,
  },
  {
    name: "deny",
    summary: "Add deny rules",
    operands: "<rule...>",
    flags: [project, textOrJson],
    uses: ["workspace"],
    examples: ["permissions deny 'Shell(rm)' 'Read(.env*)'"],
    load: async () => (await import("./change.ts")).denyRules,
  },
  {
    name: "remove",
    summary: "Remove rules, as 'permissions list' shows them, from both lists",
    operands: "<rule...>",
    flags: [project, textOrJson],
    uses: ["workspace"],
    examples: ["permissions remove 'Shell(npm test)'"],
    load: async () => (await import("./change.ts")).removeRules,
  },
];
