// Phrases: files, folders, numbers and text as people mention them.
import { numbersInFigures } from "./arithmetic.ts";
import { literalOf, unquote } from "./quotes.ts";
import { isFileName, type PromptContext } from "./steps.ts";

const DETERMINERS =
  "(?:(?:the|a|an|my|our|your|this|that|these|those|another|one|some|both|new|brand new|brand-new|empty|blank|existing|local|text|plain|plain-text|simple|small|little|short|whole|entire|full|complete|same|source|config|configuration|markdown|json|python|javascript|typescript|html|css|yaml|shell|log|project'?s)\\s+)*";
const FILE_NOUNS = "(?:(?:files?|documents?|scripts?|modules?|textfiles?)(?![\\w./-]))";
const FOLDER_NOUNS = "(?:(?:sub)?(?:folders?|director(?:y|ies)|dirs?)(?![\\w./-]))";
const NAMED =
  "(?:called|named|titled|entitled|with (?:the )?(?:file)?name(?: of)?|by the name(?: of)?|whose name is|under the name(?: of)?|known as|at (?:the )?path|with path|path|at|:|-)";
const STOP = () =>
  /^(?:with|containing|in|into|inside|that|which|and|to|from|of|for|the|a|an|on|at|as|by|is|are|it|all|any|every|where|whose|named|called|here|there|out|up|off|or|not|then|please|using|contents?|files?|folders?|director(?:y|ies)|me|them|this|my|our|your|its|lines?|text|everything|anything|something|nothing|so|but|if|structure|listing|tree|layout|names?|list)$/i;

/** `bare`: an ordinary word will do for a name. */
type NameOptions = { bare?: boolean };

export type FileMention = { path: string; rest: string; folder: boolean };

const BARE_ENDING = () =>
  /^\.(?:[jt]sx?|md|json|py|txt|css|html?|ya?ml|rs|go|java|rb|sh|toml|log|csv|xml|sql|c|h|cpp|php)$/i;
const WELL_KNOWN_FILE = () =>
  /^(?:(?:README|LICENSE|LICENCE|CHANGELOG|CONTRIBUTING|AUTHORS|CODEOWNERS)|(?:Make|Docker|Gem|Rake|Proc|Jenkins|Brew|Vagrant|Pip|Just|make|docker)file)$/;

/** A word that has the shape of a path. */
export function looksLikePath(given: string): boolean {
  // Letters of any script make a name.
  const word = given.replace(/[^\x00-\x7f]/g, "x");
  if (/^(?:\.{1,2}|~|\/)$/.test(word)) return true;
  if (!/^[\w.@~+\-/\\#%=()[\],]*[\w)\]/]$/.test(word) || /^[\d.,]+$/.test(word) || /\/\//.test(word)) return false;
  if (/^(?:e\.g|i\.e|etc|vs|and\/or|either\/or|yes\/no|a\.m|p\.m)\.?$/i.test(word)) return false;
  if (/\//.test(word)) return true;
  if (/^\.[A-Za-z][\w.-]*$/.test(word)) return !BARE_ENDING().test(word);
  if (/^[\w@][\w@.+-]*\.[A-Za-z_][\w-]{0,11}$/.test(word)) return true;
  return WELL_KNOWN_FILE().test(word);
}

/** A file at the very front of the words: "the file called a.txt in the src folder …". */
export function takeFile(words: string, scene: PromptContext, options: NameOptions = {}): FileMention | undefined {
  return named(words, scene, options) ?? referred(words, scene);
}

/** The same, where nothing but filler follows. */
export function onlyFile(words: string, scene: PromptContext, options: NameOptions = {}): FileMention | undefined {
  const file = takeFile(words, scene, options);
  return file && isSpent(file.rest) ? file : undefined;
}

/** What can be written: a file, no folder, and nothing but filler behind it. */
export function onlyPlainFile(words: string, scene: PromptContext): FileMention | undefined {
  const file = onlyFile(words, scene);
  return file?.folder ? undefined : file;
}

function named(given: string, scene: PromptContext, options: NameOptions): FileMention | undefined {
  // A path and nothing else: the words around names are not looked for.
  if (!given.includes(" ") && /^[\w./-]*\.\w+$/.test(given) && looksLikePath(given))
    return { path: given, rest: "", folder: false };
  const pattern = new RegExp(
    `^(${DETERMINERS})(?:(${FILE_NOUNS})\\s*,?\\s*|(${FOLDER_NOUNS})\\s*,?\\s*)?(?:(${NAMED})\\s*(?=\\S))?([\\uE000-\\uF8FF]|[^\\s\\uE000-\\uF8FF]+)`,
    "i",
  );
  const words = /[(]|called|named/i.test(given) ? withNameFirst(given) : given;
  const match = pattern.exec(words);
  if (!match) return undefined;
  const [whole, determiners = "", fileNoun, folderNoun, marker, token = ""] = match;
  const literal = literalOf(scene.masked, token);
  const trimmed = token
    .replace(/[,;:!?]+$/, "")
    .replace(/(?<=\w)(?:'s|’s)$/i, "")
    .replace(/(?<=\w)\.+$/, "");
  // "@a.txt" mentions a.txt.
  const bareToken = literal ? literal.text : trimmed.replace(/^@(?=[\w./])/, "");
  const rest = words.slice(whole.length - (literal ? 0 : token.length - trimmed.length));
  let folder = folderNoun !== undefined;
  if (!literal && /^readme$/i.test(bareToken) && !folder)
    return { path: "README.md", rest: rest.replace(/^\s+file\b/i, ""), folder };
  if (literal) {
    if (!isFileName(literal) || literal.text.trim() === "" || literal.text.length > 300) return undefined;
    const isPlain = !fileNoun && !folderNoun && !marker && !looksLikePath(literal.text.replaceAll(" ", "_"));
    if (isPlain && (/\s/.test(literal.text) || !options.bare)) return undefined;
  } else if (!looksLikePath(bareToken)) {
    const marked = fileNoun !== undefined || folderNoun !== undefined || (marker !== undefined && marker !== "-");
    const called = /^(?:called|named|titled|entitled)$/i.test(marker ?? "");
    if (
      !(marked || options.bare) ||
      (STOP().test(bareToken) && !called && !(folderNoun && bareToken === "out")) ||
      !/^[\w@][\w@.+-]*$/.test(bareToken)
    )
      return undefined;
    // "my notes", "a haiku": a determiner before an ordinary word names no file.
    if (!marked && determiners !== "" && !/^(?:the|this|that|my|our)\s+$/i.test(determiners)) return undefined;
  }
  let after = rest.replace(/^(?:'s|’s)/, "");
  if (/\/$/.test(bareToken)) folder = true;
  if (after.trim() === "") return { path: bareToken, rest: after, folder };
  const noun = new RegExp(`^\\s+(?:(${FILE_NOUNS})|(${FOLDER_NOUNS}))(?![\\w.-])`, "i").exec(after);
  if (noun) {
    after = after.slice(noun[0].length);
    folder ||= noun[2] !== undefined;
  }
  const place = takeFolder(after, scene, { nested: true });
  const path = place?.folder && !folder ? joinPath(place.folder, bareToken) : bareToken;
  return { path, rest: place ? place.rest : after, folder };
}

/** "a file in src called a.txt" -> "a file called a.txt in src" */
function withNameFirst(words: string): string {
  return words
    .replace(/^((?:\w+\s+)*?files?)\s+\(([^\s()]+)\)/i, "$1 $2")
    .replace(/^((?:\w+\s+)*?(?:files?|folders?|directory))\s+(?:for (?:me|us)|please)\s+(?=called\b|named\b)/i, "$1 ")
    .replace(
      /^((?:\w+\s+)*?files?)\s+((?:in|inside|under|within)\s+(?:the\s+)?(?:(?:folder|directory)\s+)?\S+(?:\s+(?:folder|directory))?)\s+(called|named)\s+(\S+)/i,
      "$1 $3 $4 $2",
    );
}

const THIS_FILE = () =>
  /^(?:it|them|this|that|the|this one|that one|the same)(?:\s+(?:(?:new|created|same|resulting|above|updated|whole|last)\s+)?(?:file|one|document))?(?=$|[\s.,;:!?])/i;

/** "it", "that file": the one last spoken of. */
function referred(words: string, scene: PromptContext): FileMention | undefined {
  const match = THIS_FILE().exec(words);
  if (!match || (/^(?:the|this|that)$/i.test(match[0]) && words.trim().length > match[0].length)) return undefined;
  if (/^the$/i.test(match[0]) || scene.lastPath === undefined) return undefined;
  return { path: scene.lastPath, rest: words.slice(match[0].length), folder: false };
}

const NEXT_FILE = () => /^\s*(?:,\s*(?:and\s+(?:also\s+)?|then\s+)?|\s+and\s+(?:also\s+|then\s+)?|\s*&\s*|\s+then\s+)/i;

export function takeFiles(
  words: string,
  scene: PromptContext,
  options: NameOptions = {},
): { files: FileMention[]; rest: string } | undefined {
  const several = severalReferred(words, scene);
  if (several) return several;
  const files: FileMention[] = [];
  let rest = words.replace(
    /^(?:(?:both|all of|the|these|those|following|two|three|four|five|six|\d+|new|empty|text|my|our)\s+)*files(?:\s+(?:called|named))?\s*[:,]?\s+|^both\s+/i,
    "",
  );
  while (true) {
    const file = takeFile(rest, scene, options);
    if (!file) return files.length > 0 ? { files, rest: rest } : undefined;
    files.push(file);
    rest = file.rest;
    const joiner = NEXT_FILE().exec(rest);
    if (!joiner || !takeFile(rest.slice(joiner[0].length), scene, {})) return { files, rest };
    rest = rest.slice(joiner[0].length);
  }
}

const THESE_FILES = () =>
  /^(both|them|all of them|these|those|the two)(?: of (?:them|these|those)| both| all)?(?: files)?(?=$|[\s.,;:!?])/i;

/** "both", "them": the files that the steps before this one were about. */
function severalReferred(words: string, scene: PromptContext): { files: FileMention[]; rest: string } | undefined {
  if (scene.steps.length < 2) return undefined;
  const match = THESE_FILES().exec(words);
  if (!match) return undefined;
  const paths = new Set<string>();
  for (const step of scene.steps.toReversed()) {
    if (step.do !== "read" && step.do !== "write" && step.do !== "append" && step.do !== "replace") break;
    if (step.path !== undefined) paths.add(step.path);
  }
  if (paths.size < 2 || (/^(?:both|the two)$/i.test(match[1]!) && paths.size !== 2)) return undefined;
  return {
    files: [...paths].reverse().map((path) => ({ path, rest: "", folder: false })),
    rest: words.slice(match[0].length),
  };
}

/** A folder that is named without a word before it: "docs". */
export function folderNamed(words: string, scene: PromptContext): FileMention | undefined {
  const place = takeFolder(`in ${words}`, scene, { bare: true });
  return place?.folder === undefined ? undefined : { path: place.folder, rest: place.rest, folder: true };
}

export function trimSlash(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

/** Outside of the project, where only the tools for files may look, after they were allowed to. */
export function isElsewhere(path: string): boolean {
  return /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(path);
}

/** `folder` is absent for "here" and "in this project". */
export type FolderPhrase = { folder?: string; rest: string };

const HERE = () =>
  /^\s*,?\s*(?:(?:that (?:are|is|exist)|located|stored|found|present)\s+)?(?:(?:in|inside|within|from|under|of|at|on|for|across|throughout|to|into|through|over|around)\s+)?(?:here|there|disk|(?:(?:all (?:of )?)?(?:the|this|my|our|your|its)\s+)?(?:(?:current|present|working|whole|entire|same|project|root|workspace|top|repo(?:sitory)?'?s?|project'?s)\s+)*(?:working\s+)?(?:director(?:y|ies)|folder|dir|workspace|project|repo|repository|root|codebase|code base|code|source code|cwd|place|tree|source|sources|files))(?![\w./'-])/i;
const PLACE_WORD = () =>
  /^\s*,?\s*(?:in|inside|within|from|under|of|at|on|for|across|throughout|to|into|that|located|stored|found|present|through|over|around)\b/i;
const NO_PLACE = () =>
  /^(?:(?:file)?names?|titles?|order|general|total|full|case|alphabetical|particular|case-insensitive|detail|english|french|german|spanish|reverse|(?:upper|lower|title)[- ]?case|caps|capitals|bold|colou?r|half|alphabetically|json|html|plain|short)$/i;

/** "in the src folder", "under docs/", "here", "in the current directory". */
export function takeFolder(
  words: string,
  scene: PromptContext,
  options: { nested?: boolean; bare?: boolean } = {},
): FolderPhrase | undefined {
  if (words.trim() === "") return undefined;
  const here = HERE().exec(words);
  const isNamed = new RegExp(
    `^\\s*,?\\s*(?:in|inside|into|within|under|from|of|to)\\s+(?:the\\s+|a\\s+|my\\s+|our\\s+)?(?:new\\s+)?${FOLDER_NOUNS}\\s+(?:(?:called|named)\\s+)?(?!(?:with|containing|in|into|and|to|that|which|for|from|of|please|now|here|then|recursively|as|is|are|structure|tree|listing|contents?)\\b)[\\w.@~\\uE000-\\uF8FF]`,
    "i",
  ).test(words);
  if (
    here &&
    !isNamed &&
    (PLACE_WORD().test(here[0]) || /here|there|^\s*(?:the|this) (?:current|working)/i.test(here[0]))
  ) {
    return { rest: words.slice(here[0].length) };
  }
  const nouned = new RegExp(
    `^\\s*,?\\s*(?:(?:located|stored|found)\\s+)?(?:in|inside|into|within|under|from|of|at|to|below|beneath|underneath)\\s+(?:the\\s+|a\\s+|my\\s+|our\\s+)?(?:contents? of\\s+(?:the\\s+)?)?(?:new\\s+)?(?:(${FOLDER_NOUNS})\\s+(?:(?:called|named)\\s+)?)?([\\uE000-\\uF8FF]|[^\\s\\uE000-\\uF8FF]+)(\\s+${FOLDER_NOUNS}(?![\\w.-]))?`,
    "i",
  ).exec(words);
  if (!nouned) return undefined;
  const [whole, before, token = "", behind] = nouned;
  const literal = literalOf(scene.masked, token);
  const folder = literal ? literal.text : token.replace(/[,;:!?]+$/, "").replace(/(?<=\w)\.+$/, "");
  if (
    literal
      ? !isFileName(literal)
      : (STOP().test(folder) && !isNamed && !(behind && folder === "out")) ||
        !/^[\w.@~+\-/\\]+$/.test(folder) ||
        /^\d+$/.test(folder)
  )
    return undefined;
  // "write it in a.txt": a name with an ending is a file, unless it is called a folder.
  if (!before && !behind) {
    if (options.nested && /^\s*,?\s*(?:to|of|at|into)\s/i.test(whole)) return undefined;
    // "remove a.txt from git" names no folder.
    if (
      options.nested &&
      /^\s*,?\s*from\s/i.test(whole) &&
      !/\/|^(?:src|docs?|tests?|lib|bin|dist|out|tmp)$/.test(folder)
    )
      return undefined;
    if (/\.\w{1,6}$/.test(folder) && !/^\.{1,2}\//.test(folder)) return undefined;
    if (literal && !looksLikePath(folder)) return undefined;
    if (NO_PLACE().test(folder)) return undefined;
    if (options.nested && !literal && !looksLikePath(folder) && !/^[a-z][\w-]*$/.test(folder)) return undefined;
  }
  return {
    folder: trimSlash(folder),
    rest: words.slice(whole.length - (literal || behind ? 0 : token.length - folder.length)),
  };
}

export function joinPath(folder: string, name: string): string {
  if (folder === "." || folder === "" || name.startsWith("/") || name.startsWith("~")) return name;
  return `${folder.replace(/\/+$/, "")}/${name.replace(/^\.\//, "")}`;
}

const FILLER = () =>
  /^(?:[\s.,;:!?]|(?:please|for me|to me|for us|out loud|aloud|printed|shown|displayed|afterwards?|after that|right after|here|now|file|files|again|back|out|too|as well|on (?:the )?(?:screen|console|terminal|stdout)|to (?:the )?(?:screen|console|terminal|stdout)|in (?:the )?(?:chat|terminal|console)|in full|completely|entirely|from disk|permanently|if it exists)(?![\w-]))*$/i;

/** Nothing but filler is left. */
export function isSpent(rest: string): boolean {
  if (rest === "") return true;
  return FILLER().test(rest);
}

/** One term, quoted or not. */
export function termOf(words: string, scene: PromptContext): string {
  const text = words.trim();
  const literal = literalOf(scene.masked, text.replace(/[.!?,;:]+$/, ""));
  return literal ? literal.text : unquote(scene.masked, text);
}

export function countOf(words: string): number | undefined {
  const figures = numbersInFigures(
    words
      .trim()
      .replace(/^a couple(?: of)?$/i, "two")
      .replace(/^(?:a few|few)$/i, "three"),
  );
  return /^\d{1,7}$/.test(figures) ? Number(figures) : undefined;
}

/** The last connector whose right side passes. */
export function splitAt<Right>(
  words: string,
  connector: RegExp,
  right: (words: string, connector: string) => Right | undefined,
): { left: string; right: Right } | undefined {
  const places = [...words.matchAll(new RegExp(connector, "gi"))].reverse();
  for (const place of places) {
    const found = right(words.slice(place.index + place[0].length), place[0].trim().toLowerCase());
    if (found !== undefined) return { left: words.slice(0, place.index), right: found };
  }
  return undefined;
}
