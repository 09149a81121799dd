// What is hidden from the agent wherever it looks: paths that a Read deny rule or an ignore file names.
import type { Rule } from "../protocol/permission-rule.ts";
import { type IgnoreCheck, loadIgnore } from "./ignore.ts";
import type { WorkspacePaths } from "./paths.ts";
import { coversPath } from "./rules.ts";

type RulesAndPaths = WorkspacePaths & { rules: readonly Rule[] };

/** For searches, listings and attachments: the folder is permitted, what it holds is looked at one by one. */
export function hiddenBy(situation: RulesAndPaths, ignored: IgnoreCheck): (path: string) => boolean {
  const denying = situation.rules.filter((rule) => rule.kind === "Read" && rule.verdict === "deny");
  return (path) => {
    const both = { given: path, real: path };
    return denying.some((rule) => coversPath(rule, both, situation)) || ignored(both) !== undefined;
  };
}

export async function loadHidden(situation: RulesAndPaths): Promise<(path: string) => boolean> {
  return hiddenBy(situation, await loadIgnore([situation.workspace, ...situation.roots]));
}
