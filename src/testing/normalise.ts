// What differs from one machine and day to the next, taken out of what a model is told, so that requests can be compared.
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import type { RunRequest } from "../protocol/run.ts";
import { configDir, homeDir } from "../store/config-dir.ts";

/** The directories of a run, by what they are to it. */
export type Places = { workspace: string; roots?: readonly string[]; home: string; config: string; temporary: string };

export function placesOf({ workspace, roots = [] }: Pick<RunRequest, "workspace" | "roots">, env: NodeJS.ProcessEnv) {
  const temporary = tmpdir();
  return {
    workspace,
    ...(roots.length > 0 && { roots: [...roots] }),
    home: homeDir(env),
    config: configDir(env),
    temporary: realOr(temporary),
  } satisfies Places;
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export type Normaliser = (text: string) => string;

const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;

/** Paths become what they are to the run, ids `<id>`. */
export function createNormaliser({ workspace, roots = [], home, config, temporary }: Places): Normaliser {
  const named: [string, string][] = [
    [workspace, "<workspace>"],
    ...roots.map((root, index): [string, string] => [root, `<root ${index + 1}>`]),
    [config, "<config>"],
    [home, "<home>"],
    [temporary, "<temporary>"],
  ];
  // The longest first: a workspace may lie below the home.
  const paths = named.filter(([path]) => path.length > 1).sort(([one], [other]) => other.length - one.length);
  const names = new Map(paths.map(([path, name]) => [path, name]));
  const found = paths.map(([path]) => path.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join("|");
  const pattern = new RegExp(String.raw`(?<![\w.-])(?:${found})(?![\w.-])`, "g");
  // Most texts hold neither, which a plain search tells in a tenth of the time.
  return (text) => {
    const hasPath = paths.some(([path]) => text.includes(path));
    const named = hasPath ? text.replace(pattern, (path) => names.get(path)!) : text;
    return mayHoldId(named) ? named.replace(uuid, "<id>") : named;
  };
}

/** Dashes where those of a UUID are. */
function mayHoldId(text: string): boolean {
  for (let at = text.indexOf("-"); at >= 0; at = text.indexOf("-", at + 1))
    if (text[at + 5] === "-" && text[at + 10] === "-" && text[at + 15] === "-") return true;
  return false;
}

/** The system prompt says where and when it is used. */
export function normaliseEnvironment(system: string): string {
  const start = system.lastIndexOf("# Environment\n");
  if (start < 0) return system;
  const block = /^(?:.+\n?)*/.exec(system.slice(start))![0];
  const same = block.replace(/^(Git|Platform|Date): .*$/gm, "$1: …");
  return system.slice(0, start) + same + system.slice(start + block.length);
}
