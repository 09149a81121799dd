// What lies at the top of folders that commands write, and what came to be there although it is protected.
import { join } from "node:path";
import type { SandboxPlan } from "./plan.ts";
import { isRepository, protectedAtTop } from "./protected-paths.ts";

/** By folder: the protected names that there are, and whether git takes the folder itself for a repository. */
export type TopLevelNames = ReadonlyMap<string, { names: ReadonlySet<string>; isRepository: boolean }>;

export function topLevelNames(plan: SandboxPlan): TopLevelNames {
  return new Map(
    plan.writable.map((root) => [
      root,
      { names: new Set(protectedAtTop(root, plan)), isRepository: isRepository(root) },
    ]),
  );
}

/** Names that cannot be known before, such as `x.code-workspace`, or other spellings of those that are held. */
export function newTopLevelPaths(plan: SandboxPlan, before: TopLevelNames): string[] {
  return [...before].flatMap(([root, { names, isRepository: was }]) => {
    const fresh = protectedAtTop(root, plan).filter((path) => !names.has(path));
    return was || !isRepository(root) ? fresh : [...fresh, join(root, "HEAD")];
  });
}
