// Removes what differs between machines and days from the text sent to a model, so that requests can be compared.
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import type { RunRequest } from "../protocol/run.ts";
import { configDir, homeDir } from "../store/config-dir.ts";
import { tryOr } from "../text/try-or.ts";

/** The folders of a run, by their role. */
export type Places = { workspace: string; roots?: readonly string[]; home: string; config: string; temporary: string };

export function placesOf({ workspace, roots = [] }: Pick<RunRequest, "workspace" | "roots">, env: NodeJS.ProcessEnv) {
  const temporary = tmpdir();
  return {
    workspace,
    ...(roots.length > 0 && { roots: [...roots] }),
    home: homeDir(env),
    config: configDir(env),
    temporary: tryOr(() => realpathSync(temporary), temporary),
  } satisfies Places;
}

export type Normaliser = (text: string) => string;

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

/** Creates a function that replaces paths by their role in the run, and ids by `<id>`. */
export function createNormaliser({ workspace, roots = [], home, config, temporary }: Places): Normaliser {
  const named: [string, string][] = [
    [workspace, "<workspace>"],
    ...roots.map((root, index): [string, string] => [root, `<root ${index + 1}>`]),
    [config, "<config>"],
    [home, "<home>"],
    [temporary, "<temporary>"],
  ];
  // Match the longest path first, since a workspace may be inside the home folder.
  const paths = named.filter(([path]) => path.length > 1).sort(([one], [other]) => other.length - one.length);
  const names = new Map(paths.map(([path, name]) => [path, name]));
  const found = paths.map(([path]) => path.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join("|");
  const pattern = new RegExp(String.raw`(?<![\w.-])(?:${found})(?![\w.-])`, "g");
  // Most texts contain no path and no id, which a plain search detects ten times as fast.
  return (text) => {
    const hasPath = paths.some(([path]) => text.includes(path));
    const named = hasPath ? text.replace(pattern, (path) => names.get(path)!) : text;
    return mayHoldId(named) ? named.replace(uuid, "<id>") : named;
  };
}

/** Returns whether a text may contain a UUID, by looking for dashes at the right positions. */
function mayHoldId(text: string): boolean {
  for (let at = text.indexOf("-"); at >= 0; at = text.indexOf("-", at + 1))
    if (text[at + 5] === "-" && text[at + 10] === "-" && text[at + 15] === "-") return true;
  return false;
}

/** Blanks the lines of the system prompt that say where and when it is used. */
export function normaliseEnvironment(system: string): string {
  const start = system.lastIndexOf("# Environment\n");
  if (start < 0) return system;
  const block = /^(?:.+\n?)*/.exec(system.slice(start))![0];
  const same = block.replace(/^(Git|Platform|Date): .*$/gm, "$1: …");
  return system.slice(0, start) + same + system.slice(start + block.length);
}
