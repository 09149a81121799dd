// Moving: renaming, copying, making folders, and asking whether a file is there.
import { isDescription } from "./grammar/rows.ts";
import { folderNamed, isElsewhere, isSpent, looksLikePath, takeFile, takeFiles } from "./phrases.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

export function move(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const folder =
    /^(?:-r\s+)?(?:the\s+)?(?:(?:whole|entire)\s+)?(?:(?:folder|directory)\s+[\w./-]+|[\w./-]+\s+(?:folder|directory))\b/i.test(
      rest,
    )
      ? folderNamed(rest.replace(/^(?:the\s+)?(?:whole|entire)\s+/i, ""), scene)
      : undefined;
  const found = folder
    ? { files: [folder], rest: folder.rest }
    : takeFiles(rest.replace(/^(?:the contents? of)\s+/i, ""), scene);
  // "mv a.txt b.txt" needs no word between them, where both are paths.
  const isShell = /^(?:mv|cp)$/.test(verb);
  const to =
    found &&
    (/^\s*(?:to|into|as|in(?= (?:the )?\S+ (?:folder|directory))|->|=>|→|over to)\s*/i.exec(found.rest) ??
      (isShell ? /^\s+/.exec(found.rest) : null));
  if (!found || !to) return undefined;
  const target = found.rest.slice(to[0].length);
  const isRoot =
    /^(?:the )?(?:project(?:'s)? |workspace )?(?:root|top)(?: (?:folder|directory|level))?(?: of the project)?[\s.!]*$/i.test(
      target,
    );
  const file =
    (isRoot ? { path: ".", rest: "", folder: true } : undefined) ??
    takeFile(target, scene, { bare: verb === "rename" }) ??
    folderNamed(target, scene) ??
    takeFile(target, scene, { bare: true });
  if (!file || !isSpent(file.rest) || isDescription(file.path)) return undefined;
  // "to the trash", "to my desktop": no path of this project.
  const isCalled = /\b(?:folder|directory|dir)\b/i.test(target);
  if (/^(?:the|my|our|your|a|an)\s/i.test(target) && !isRoot && !isCalled && !looksLikePath(file.path))
    return undefined;
  // A bare word is a new name for "rename"; for the others it is a folder, which must be there unless it was called one.
  const isKnown = isCalled && file.folder && isKnownFolder(to[0] + target);
  const isBare = !isCalled && file.folder && !file.path.includes("/") && !/\/$/.test(target.trim());
  const isThere = isRoot || isKnown || isBare;
  if (found.files.length > 1 && !file.folder) return undefined;
  if (found.files.some((from) => from.folder)) file.folder = isCalled && /\binto\b/i.test(to[0]);
  const steps = found.files.map((from) => moved(from, { ...file, isThere }, verb));
  return steps.every((each) => each !== undefined) ? steps.flat() : undefined;
}

/** "to the main folder" is one that its user knows, and is never made; "to a folder x", "to the new folder x" may be. */
export function isKnownFolder(words: string): boolean {
  return /\b(?:to|into|in)\s+(?:the|my|our|your|this|that)\s+(?!new\b)/i.test(words);
}

/** A new name does not take a file to another folder. */
function besideOf(path: string, name: string): string {
  return name.includes("/") ? name : path.slice(0, path.replace(/\/$/, "").lastIndexOf("/") + 1) + name;
}

/** `isThere`: it is not made. */
type Place = { path: string; folder: boolean; isThere?: boolean };

export function moved(from: Place, target: Place, verb: string): ParsedSteps {
  if (isElsewhere(from.path) || isElsewhere(target.path)) return undefined;
  const to = verb === "rename" ? { ...target, path: besideOf(from.path, target.path) } : target;
  const copies = /^(?:copy|duplicate|cp|clone|replicate)$/.test(verb);
  const [source, place] = [shellWord(from.path), shellWord(to.path)];
  const program = copies ? (from.folder ? "cp -rn" : "cp -n") : "mv -n";
  const inside = shellWord(`${to.path}/${from.path.split("/").at(-1)}`);
  // What is there already is not written over; a folder is moved into, and made where it is called one.
  const before = to.folder
    ? `ls -d -- ${source} >/dev/null && ${to.isThere ? `ls -d -- ${place}/ >/dev/null` : `mkdir -p -- ${place}`} && test ! -e ${inside}`
    : verb === "rename" || /\.\w+$/.test(to.path)
      ? `test ! -e ${place}`
      : `test ! -f ${place} && test ! -e ${inside}`;
  const parent = to.folder ? undefined : /^(.+)\/[^/]+$/.exec(to.path)?.[1];
  const made = parent === undefined ? "" : ` && ls -d -- ${source} >/dev/null && mkdir -p -- ${shellWord(parent)}`;
  return [
    {
      do: "run",
      command: `${before}${made} && ${program} -- ${source} ${to.folder ? `${place}/` : place}`,
      ...(!from.folder && {
        takes: from.path,
        gives: to.folder ? `${to.path}/${from.path.split("/").at(-1)}` : to.path,
      }),
      done: `${copies ? "Copied" : verb === "rename" ? "Renamed" : "Moved"} ${from.path} to ${to.path}.`,
      undone: `I could not ${copies ? "copy" : "move"} ${from.path} to ${to.path}: ${to.folder ? inside : to.path} already exists.`,
    },
  ];
}

export function madeFolder(path: string): ParsedSteps {
  if (isElsewhere(path)) return undefined;
  return [
    {
      do: "run",
      command: `test ! -e ${shellWord(path)} && mkdir -p -- ${shellWord(path)}`,
      done: `Created the folder ${path}.`,
      undone: `I could not create the folder ${path}: it already exists.`,
    },
  ];
}

/** Without an ending it may be a folder, which is there when anything is in it. */
export function thereAs(path: string): string {
  const bare = path.replace(/^\.\/|\/$/g, "");
  const pattern = /\.\w+$|[*?{]/.test(bare) ? bare : `{${bare},${bare}/**}`;
  return bare.includes("/") ? pattern : `**/${pattern}`;
}

export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
