// The words of a path: a file's name says most, then the folders it lies in.
import { extname } from "node:path";
import { termsOfWord } from "./words.ts";

export type PathTerms = { name: Set<string>; folders: Set<string> };

/** They name a place in a package, and nothing about what lies there. */
const emptyNames =
  /^(?:index|main|src|lib|dist|source|sources|__init__|mod|utils?|helpers?|common|core|shared|internal)$/i;

export function pathTerms(path: string): PathTerms {
  const names = path.slice(0, path.length - extname(path).length).split("/");
  const said = names.filter((name) => !emptyNames.test(name));
  const last = said.pop() ?? names.at(-1) ?? "";
  const joined = last.replace(/[^A-Za-z0-9]+/g, "").toLowerCase();
  const name = new Set(last.split(/[^\w$]+/).flatMap(termsOfWord));
  if (joined.length > 1 && joined.length <= 40) name.add(joined);
  return { name, folders: new Set(said.flatMap((each) => each.split(/[^\w$]+/)).flatMap(termsOfWord)) };
}

export function pathText(path: string): string {
  const { name, folders } = pathTerms(path);
  return [...folders, ...name, ...name].join(" ");
}
