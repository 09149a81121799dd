// Moving: renaming, copying, making folders, and asking whether a file is there.
import { folderNamed, isSpent, looksLikePath, onlyFile, takeFile, takeFiles } from "./phrases.ts";
import type { ParsedSteps, PromptContext, Step } from "./steps.ts";

export function move(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const from = takeFile(rest.replace(/^(?:the contents? of)\s+/i, ""), scene);
  // "mv a.txt b.txt" needs no word between them, where both are paths.
  const isShell = /^(?:mv|cp)$/.test(verb);
  const to =
    from && (/^\s*(?:to|into|as|->|=>|→|over to)\s*/i.exec(from.rest) ?? (isShell ? /^\s+/.exec(from.rest) : null));
  if (!from || !to) return undefined;
  const target = from.rest.slice(to[0].length);
  const file = takeFile(target, scene, { bare: !isShell || to[0].trim() !== "" }) ?? folderNamed(target, scene);
  if (!file || !isSpent(file.rest)) return undefined;
  // "to the trash", "to my desktop": no path of this project.
  if (/^(?:the|my|our|your|a|an)\s/i.test(target) && !file.folder && !looksLikePath(file.path)) return undefined;
  return moved(from, file, verb);
}

type Place = { path: string; folder: boolean };

export function moved(from: Place, file: Place, verb: string): ParsedSteps {
  const copies = /^(?:copy|duplicate|cp|clone)$/.test(verb);
  const [source, place] = [shellWord(from.path), shellWord(file.path)];
  const program = copies ? (from.folder ? "cp -rn" : "cp -n") : "mv -n";
  // What is there already is not written over; a folder is moved into, and made where it is called one.
  const before = file.folder ? `mkdir -p -- ${place}` : `test ! -f ${place}`;
  return [
    {
      do: "run",
      command: `${before} && ${program} -- ${source} ${file.folder ? `${place}/` : place}`,
      done: `${copies ? "Copied" : verb === "rename" ? "Renamed" : "Moved"} ${from.path} to ${file.path}.`,
      undone: `I could not ${copies ? "copy" : "move"} ${from.path} to ${file.path}: ${file.path} already exists.`,
    },
  ];
}

const NEW_FOLDER =
  /^(?:(?:me|a|an|the|new|empty|another)\s+)*(?:folders?|director(?:y|ies)|subfolders?|subdirector(?:y|ies)|dirs?)\b/i;

export function folder(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (verb === "mkdir")
    return /^(?:-p\s+)?\S+$/.test(rest) ? folder(`folder ${rest.replace(/^-p\s+/, "")}`, scene, "make") : undefined;
  if (!NEW_FOLDER.test(rest)) return undefined;
  const found = takeFiles(rest.replace(/^me\s+/i, ""), scene);
  if (!found || !isSpent(found.rest)) return undefined;
  return found.files.map(
    (file): Step => ({
      do: "run",
      command: `mkdir -p -- ${shellWord(file.path)}`,
      done: `Created the folder ${file.path}.`,
    }),
  );
}

const WHETHER_THERE =
  /^(?:for me\s+)?(?:if|whether|that)?\s*(?:there(?:'s| is| exists)\s+)?(.+?)(?:\s+(?:exists?|is there|is present|is here|is in (?:this|the) (?:folder|directory|project)))?[\s?.!]*$/i;

/** "check whether a.txt exists". */
export function exists(rest: string, scene: PromptContext): ParsedSteps {
  const match = WHETHER_THERE.exec(rest);
  if (!match || !/\bexists?\b|\bthere\b|\bpresent\b/i.test(rest)) return undefined;
  const file = onlyFile(match[1]!, scene);
  if (!file || !looksLikePath(file.path)) return undefined;
  return [{ do: "find", pattern: file.path.includes("/") ? file.path.replace(/^\.\//, "") : `**/${file.path}` }];
}

export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
