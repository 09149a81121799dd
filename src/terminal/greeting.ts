// Renders the first lines of a session: the model and the folder, or how to set up a model if there is none.
import { offlineModel } from "../model/catalog.ts";
import { homeDir } from "../store/config-dir.ts";
import { shortPath } from "../text/short-path.ts";
import type { Desk } from "./desk.ts";
import { join, type Painted, wrap } from "./painted.ts";
import { layoutWidth } from "./view.ts";

export function greetingLines(
  { palette, program, env, size, conversation: { info, request } }: Desk,
  { branch }: { branch: string | undefined },
): Painted[] {
  const directory = shortPath(request.workspace, homeDir(env));
  const rest = [info.model, directory, branch ?? ""].filter(Boolean).join(" · ");
  const head = wrap(
    join(palette.plain(" "), palette.bold(program), palette.soft(`  ${rest}`)),
    layoutWidth(size.columns),
    palette.plain(" "),
  );
  const isUnset = info.model === offlineModel.name && request.model === undefined;
  if (!isUnset) return head;
  const hint =
    " No API key is set, so the built-in offline model answers; it follows plain instructions. /login saves a key.";
  return [...head, ...wrap(palette.soft(hint), layoutWidth(size.columns), palette.plain(" "))];
}
