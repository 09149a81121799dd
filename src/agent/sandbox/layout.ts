// Layout: the file system as a sandboxed command sees it, a list of mounts from the root down.
import { isInside } from "../../policy/paths.ts";
import { list } from "../../text/words.ts";

/**
 * `covered`: an empty folder in which deeper mounts may show. `private`: a folder or file of the run's own. `visible`: read-only, shown
 * through a cover. `pinned`: inside something writable, and fixed in its place. `readOnly`: inside something writable. `closed`: like
 * covered, and overrides other mounts of the same folder. `hidden`: neither it nor anything below it is visible.
 */
export type Mount = { at: string } & (
  | { as: "covered" | "visible" | "pinned" | "writable" | "readOnly" | "closed" }
  | { as: "private"; from: string }
  | { as: "hidden"; kind: "file" | "folder" }
);

export type Layout = readonly Mount[];

/** The kinds of mounts in order of precedence: if two mounts have the same path, the kind that comes later wins. */
const order = list("covered private visible pinned writable readOnly closed hidden") as readonly Mount["as"][];

/** Sorts mounts into the order in which they must be applied, and drops those that change nothing. */
export function arrangeMounts(mounts: readonly Mount[]): Layout {
  const strictest = new Map<string, Mount>();
  for (const mount of mounts) {
    const other = strictest.get(mount.at);
    if (!other || order.indexOf(mount.as) > order.indexOf(other.as)) strictest.set(mount.at, mount);
  }
  const sorted = [...strictest.values()].sort((left, right) => (pathSortKey(left.at) < pathSortKey(right.at) ? -1 : 1));
  const laid: Mount[] = [];
  const above: Mount[] = [];
  for (const mount of sorted) {
    while (above.length > 0 && !isInside(mount.at, above.at(-1)!.at)) above.pop();
    if (!changesAccess(mount, above.at(-1))) continue;
    laid.push(mount);
    above.push(mount);
  }
  return laid;
}

/** Returns a sort key in which the slash comes before other characters, so that a folder precedes its contents. */
function pathSortKey(path: string): string {
  return path.replaceAll("/", "\0");
}

function changesAccess(mount: Mount, holder: Mount | undefined): boolean {
  const outer = holder?.as ?? "readOnly"; // the root folder has no parent
  if (outer === "hidden") return false;
  const isUnseen = outer === "covered" || outer === "private" || outer === "closed";
  switch (mount.as) {
    case "visible":
      return isUnseen;
    case "pinned":
    case "readOnly":
      return outer === "writable" || outer === "pinned";
    case "closed":
    case "hidden":
      return !isUnseen;
    case "covered":
    case "private":
    case "writable":
      return true;
  }
}
