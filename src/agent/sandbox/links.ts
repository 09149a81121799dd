// The links that a path leads through, one after the other, up to where it ends or nothing is.
import { lstatSync, readlinkSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

const mostLinks = 40;

/** Where each is, by its real folder, and what it says. */
export function linksOnTheWay(path: string): Map<string, string> {
  const links = new Map<string, string>();
  let at: string = sep;
  let followed = 0;
  const names = path.split(sep).filter(Boolean);
  while (names.length > 0) {
    const name = names.shift()!;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const next = join(at, name);
    const value = linkAt(next);
    if (value === undefined) {
      at = next;
      continue;
    }
    if (++followed > mostLinks) return links; // round in circles
    links.set(next, value);
    names.unshift(...resolve(at, value).split(sep).filter(Boolean));
    at = sep;
  }
  return links;
}

function linkAt(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined; // a file on the way, or a folder that may not be searched
  }
}
