// Names that must not come to be are reserved by empty folders while commands run, and are free again afterwards.
// Removing such a folder would lift it in every other sandbox too, so all of the user's runs keep one list of who holds what.
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { protectedFiles, protectedFolders } from "../../policy/protected-names.ts";
import { isAlive, withFileLock } from "../../store/file-lock.ts";
import type { Mount } from "./layout.ts";
import { entriesOf, statOf } from "./protected-paths.ts";

type Reservation = { pid: number; folders: readonly string[]; blanks: readonly string[] };

/**
 * `prepare` is told whether anybody else runs a command in these folders, and says which names are to be held. What it
 * says and what is made of it happens with every other run locked out.
 */
export function reserveNames<Prepared extends { blanks: readonly string[] }>(
  registry: string,
  folders: readonly string[],
  prepare: (alone: boolean) => Prepared,
): { prepared: Prepared; release(): void } {
  const file = join(registry, `${process.pid}-${Math.random().toString(36).slice(2, 10)}.json`);
  const lock = join(registry, "lock");
  const prepared = withFileLock(lock, () => {
    const { others, left } = othersIn(registry, folders);
    const prepared = prepare(others.length === 0);
    const blanks = prepared.blanks.filter(makeBlank);
    writeReservation(file, { pid: process.pid, folders, blanks: [...new Set([...blanks, ...left])] });
    return prepared;
  });
  let isHeld = true;
  return {
    prepared,
    release() {
      if (!isHeld) return;
      isHeld = false;
      withFileLock(lock, () => free(registry, file));
    },
  };
}

/** Those who still run, and what those left behind who were killed. */
function othersIn(registry: string, folders: readonly string[]): { others: string[]; left: string[] } {
  const others: string[] = [];
  const left: string[] = [];
  for (const name of readdirSync(registry)) {
    if (!name.endsWith(".json")) continue;
    const file = join(registry, name);
    const reservation = readReservation(file);
    if (!reservation) continue;
    const meets = reservation.folders.some((one) =>
      folders.some((other) => isInside(one, other) || isInside(other, one)),
    );
    if (isAlive(reservation.pid)) {
      if (meets) others.push(file);
    } else if (meets || reservation.blanks.length === 0) {
      left.push(...reservation.blanks);
      rmSync(file, { force: true });
    }
  }
  return { others, left };
}

/** The last one in a folder takes the blanks away; whoever leaves before hands them on. */
function free(registry: string, file: string): void {
  const own = readReservation(file);
  rmSync(file, { force: true });
  if (!own) return;
  const [heir] = othersIn(registry, own.folders).others;
  const next = heir === undefined ? undefined : readReservation(heir);
  if (heir !== undefined && next) {
    writeReservation(heir, { ...next, blanks: [...new Set([...next.blanks, ...own.blanks])] });
    return;
  }
  for (const blank of own.blanks) {
    try {
      rmdirSync(blank); // takes only what is empty, and no file
    } catch {
      // Somebody has made use of it.
    }
  }
}

/** False where it cannot be made: then the command, which may do less, cannot make it either. */
function makeBlank(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function readReservation(file: string): Reservation | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Reservation;
  } catch {
    return undefined;
  }
}

function writeReservation(file: string, reservation: Reservation): void {
  writeFileSync(file, JSON.stringify(reservation), { mode: 0o600 });
}

/**
 * Keeps them from git: `git clean` and `git stash -u` would try to remove them and fail. `copy`: where a list of what git passes
 * over may be written, to be laid over the one of the repository.
 */
export function excludeReserved(root: string, held: readonly string[], copy: string): Mount | undefined {
  const list = join(root, ".git", "info", "exclude");
  const isPlain = statOf(join(root, ".git"))?.isDirectory() && statOf(join(root, ".git", "info"))?.isDirectory();
  if (!isPlain || !statOf(list)?.isFile()) return undefined;
  // Other commands that run here may have made them: they are known by being empty.
  const names = [".cursor", ...protectedFolders, ...protectedFiles].map((name) => join(root, name));
  const reserved = [...new Set([...names, ...held.filter((path) => isInside(path, root))])].filter(
    (path) => statOf(path)?.isDirectory() && entriesOf(path).length === 0,
  );
  if (reserved.length === 0) return undefined;
  const lines = reserved.map((path) => `/${relative(root, path).replace(/[*?[\\ #!]/g, "\\$&")}/`);
  try {
    writeFileSync(copy, `${readFileSync(list, "utf8")}\n${lines.join("\n")}\n`, { mode: 0o600 });
  } catch {
    return undefined; // git is a little louder then
  }
  return { at: list, as: "private", from: copy };
}

/** What was watched is put back as it was; what stands there instead is moved aside, and named. */
export function putBack(watched: ReadonlyMap<string, string | undefined>): string[] {
  const notes: string[] = [];
  for (const [path, before] of watched) {
    const now = stateOf(path);
    if (now === before) continue;
    try {
      if (now !== undefined) {
        const aside = freeName(`${path}.blocked`);
        renameSync(path, aside);
        notes.push(`${path} is protected: what the command put there is now ${aside}`);
      } else notes.push(`${path} is protected and was put back`);
      if (before !== undefined) symlinkSync(before, path);
    } catch (error) {
      notes.push(
        `${path} is protected, was changed, and could not be put back (${(error as NodeJS.ErrnoException).code})`,
      );
    }
  }
  const most = 20;
  return notes.length <= most ? notes : [...notes.slice(0, most), `and so were ${notes.length - most} more`];
}

/** Where a link leads; undefined: nothing there. Anything else is not a link that was there before. */
function stateOf(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : "\0";
  } catch {
    return undefined;
  }
}

function freeName(path: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? path : `${path}-${number}`;
    if (stateOf(name) === undefined) return name;
  }
}
