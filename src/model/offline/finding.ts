// Finding: listing folders, and finding files by name.
import { isSpent, looksLikePath, onlyFile, onlyPlainFile, splitAt, takeFolder, termOf, trimSlash } from "./phrases.ts";
import { literalOf } from "./quotes.ts";
import { isFileName, type ParsedSteps, type PromptContext } from "./steps.ts";

export const ALL =
  "(?:(?:me|us|all|every|each|any|the|of|my|our|out|single|existing|available|some|a|an|list of|names of|other|up|for|different|various|just|only)\\s+)*";

const DEEP = () =>
  /\b(?:recursively|(?:including|with|in) (?:all )?(?:of )?(?:the |its )?sub-?(?:folders|directories))\b/i;

/** "recursively", "including subfolders": every file below it, not one folder. */
export function list(rest: string, scene: PromptContext, verb = "list"): ParsedSteps {
  const steps = listed(rest, scene, verb);
  if (!DEEP().test(rest)) return steps;
  return steps?.map((step) =>
    step.do === "list" ? { do: "find", pattern: step.path === undefined ? "**/*" : `${step.path}/**/*` } : step,
  );
}

function listed(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  // Nothing follows: not "list out …", but the folder out.
  if (verb === "list out" && isSpent(rest)) return [{ do: "list", path: "out" }];
  let words = rest.replace(/^(?:at|into|for|out|up|around)\s+(?=\S)/i, "").trim();
  words = words
    .replace(/,?\s*\b(?:recursively|including\s.*$|as a (?:list|tree)\b|in all (?:subfolders|subdirectories)\b)/gi, "")
    .trim();
  // "cat" alone asks for nothing.
  if (words === "" && !/^(?:list|list out|list up|ls|dir|show|show me)$/.test(verb)) return undefined;
  if (words === "" || /^\.\/?$/.test(words)) return [{ do: "list" }];
  const things =
    "(?:(?:directory|folder|project|file|dir|workspace|repo) ?(?:listing|contents?|structure|tree|layout|list|names?|files)|(?:files|(?<!(?:the|this|that) )file)(?:\\s*(?:and|&|or|,|/)\\s*(?:sub)?(?:folders?|director(?:y|ies)|dirs?))?|(?:sub)?(?:folders?|director(?:y|ies)|dirs?)(?:\\s*(?:and|&|or|,|/)\\s*files?)?|everything|contents?|entries|stuff|items|what(?:'s| is| files are| files exist| files there are)?|tree|structure|listing|layout|project|workspace|repo(?:sitory)?|cwd|whole (?:folder|directory))";
  const match = new RegExp(
    `^${ALL}(?:(?:current|working|present|this|that|is|project'?s|whole|entire|full|complete)\\s+)*(?:${things})(?![\\w./-])(?:\\s+(?:of|in|inside|under|from) all (?:the )?files)?`,
    "i",
  ).exec(words);
  if (match) {
    const after = words
      .slice(match[0].length)
      .replace(
        /^\s+(?:(?:that|which)\s+)?(?:are|is|exist|exists|there are|we have|i have|you (?:can )?(?:see|have|find)|do we have)(?=\s|$)/i,
        "",
      );
    if (isSpent(after)) return [{ do: "list" }];
    const place = takeFolder(after, scene);
    if (place && isSpent(place.rest)) return [{ do: "list", path: place.folder }];
    const of = /^\s+(?:of|in|inside|under|from|at|within)\s+/i.exec(after);
    const inside = of && onlyFile(after.slice(of[0].length), scene, { bare: true });
    const isFolder = inside && (inside.folder || !/\.\w+$/.test(inside.path));
    return isFolder ? [{ do: "list", path: trimSlash(inside.path) }] : undefined;
  }
  const here = takeFolder(words, scene) ?? takeFolder(`in ${words}`, scene);
  if (here && here.folder === undefined && isSpent(here.rest)) return [{ do: "list" }];
  // "list src", "show the docs folder"
  const direct = onlyFile(words, scene, {
    bare: /^(?:list|list out|list up|ls|dir|enumerate)$/.test(verb) || isUsualFolder(words),
  });
  if (direct && !/\.\w{1,6}$/.test(direct.path) && !isTakenForText(words, direct.folder))
    return [{ do: "list", path: trimSlash(direct.path) }];
  return undefined;
}

const USUAL_FOLDER = () =>
  /^(?:src|docs?|tests?|lib|libs|bin|dist|build|scripts|examples|public|assets|config|packages|apps?|out|node_modules|vendor|tools|data|include|spec|pkg|cmd|internal|logs|tmp)$/i;

function isUsualFolder(words: string): boolean {
  return USUAL_FOLDER().test(words);
}

const NO_FOLDER = () =>
  /^(?:help|todos?|hello|hi|me|you|us|tools?|models?|commands?|options|features|errors?|bugs?|tests?|functions?|classes|methods|variables|issues?|problems?|examples?|ideas?|reasons|things|branches|commits|processes|dependencies|packages|users|names|lines|words)$/i;

/** "show hello" is not a folder; "show src/" is one, and so is "list hello". */
function isTakenForText(words: string, folder: boolean): boolean {
  return !folder && NO_FOLDER().test(words.replace(/^(?:the|all|my|some|a)\s+/i, ""));
}

export function find(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const words = rest.replace(/^(?:at|for|up|out)\s+(?=\S)/i, "");
  const placed = placeBehind(words.replace(/\s+(?:in|over|right)\s+here\b/i, " here"), scene);
  const pattern = patternOf(placed.words, scene, verb);
  if (pattern === undefined) return undefined;
  return [{ do: "find", pattern: anywhere(pattern), path: placed.path }];
}

function anywhere(pattern: string): string {
  const bare = /^readme$/i.test(pattern) ? `${pattern}*` : pattern.replace(/^\.\//, "");
  return bare.includes("/") ? bare : `**/${bare}`;
}

/** Cuts "… in src" off the end. */
function placeBehind(words: string, scene: PromptContext): { words: string; path?: string | undefined } {
  const split = splitAt(
    words,
    /\s+(?=(?:in|inside|within|under|from|below|here|across|throughout|on|at|there)\b)/,
    (right) => {
      const place = takeFolder(right, scene, { bare: true });
      return place && isSpent(place.rest) ? place : undefined;
    },
  );
  // "files ending in ts": what follows is not a path.
  if (!split || /\b(?:end(?:s|ing)?|begin(?:s|ning)?|start(?:s|ing)?|with .* )$/i.test(split.left.trim()))
    return { words };
  return { words: split.left, path: split.right.folder };
}

/** Names of kinds that are not their ending. */
const KINDS: Record<string, string> = {
  markdown: "*.md",
  typescript: "*.ts",
  javascript: "*.js",
  python: "*.py",
  yaml: "*.{yml,yaml}",
  text: "*.txt",
  rust: "*.rs",
  golang: "*.go",
  ruby: "*.rb",
  shell: "*.sh",
  bash: "*.sh",
  image: "*.{png,jpg,jpeg,gif,svg,webp}",
  lock: "*lock*",
  test: "*test*",
  tests: "*test*",
  spec: "*spec*",
  config: "*config*",
  configuration: "*config*",
  readme: "README*",
  hidden: ".*",
  dot: ".*",
  source: "*.{ts,tsx,js,jsx,py,go,rs,java,rb,c,h,cpp}",
  "c++": "*.cpp",
  env: ".env*",
};

const ENDING = () =>
  /^(?:md|[jt]sx?|mjs|py|jsonl?|yml|txt|html|s?css|rs|go|java|rb|sh|toml|log|csv|xml|sql|php|svg|png|jpg|pdf|c|cpp|ini)$/;

/** "markdown", "ts", ".ts" -> "*.md", "*.ts", "*.ts". */
export function kindOf(word: string): string | undefined {
  const name = word.toLowerCase().replace(/^\./, "");
  if (Object.hasOwn(KINDS, name)) return KINDS[name];
  return ENDING().test(name) ? `*.${name}` : undefined;
}

/** The glob that the words ask for; undefined when they name no kind of file. */
function patternOf(words: string, scene: PromptContext, verb: string): string | undefined {
  const text = words
    .trim()
    .replace(/[.!?,;]+$/, "")
    .replace(new RegExp(`^${ALL}`, "i"), "")
    .trim();
  const word = "([\\uE000-\\uF8FF]|[^\\s\\uE000-\\uF8FF]+)";
  const value = (token: string): string => termOf(token, scene);
  const kind = (token: string): string | undefined => (literalOf(scene.masked, token) ? undefined : kindOf(token));
  const byEnding = (token: string): string => kind(token) ?? `*.${value(token).replace(/^\*?\./, "")}`;
  const files = "(?:files?|documents?|scripts?|things?|ones?|modules?|file names?|names?)";
  const that =
    "(?:\\s+(?:that|which|whose (?:file)?names?|where the (?:file)?name|with (?:a |the )?(?:file)?names?(?: that)?|having names?(?: that)?))?(?:\\s+(?:are|is|have|has))?";
  const rules: [string, (token: string) => string | undefined][] = [
    [
      `${files}${that}\\s+(?:end(?:s|ing)?)\\s+(?:in|with|on)\\s+(?:the\\s+)?(?:(?:extension|suffix|letters?)\\s+)?${word}`,
      (token) => {
        const ending = value(token).replace(/^\*/, "");
        return !/^[.*]/.test(value(token)) && kindOf(ending) ? `*.${ending}` : `*${ending}`;
      },
    ],
    [
      `${files}${that}\\s+(?:start(?:s|ing)?|begin(?:s|ning)?)\\s+(?:with|in|by)\\s+(?:the\\s+)?(?:(?:prefix|letters?|word)\\s+)?${word}`,
      (token) => `${value(token).replace(/\*$/, "")}*`,
    ],
    [
      `${files}\\s+(?:with|having|have|has|of|that have|which have|using)\\s+(?:the\\s+|an?\\s+)?(?:file\\s+)?(?:extension|ext|suffix|ending|type)\\s+(?:of\\s+)?${word}`,
      byEnding,
    ],
    [
      `${files}\\s+(?:with|having)\\s+(?:the\\s+|an?\\s+)?${word}\\s+(?:file\\s+)?(?:extension|ext|suffix|ending)`,
      byEnding,
    ],
    [`${files}\\s+(?:of|with)\\s+(?:the\\s+)?(?:type|kind)\\s+${word}`, byEnding],
    [
      `${files}\\s+(?:with|having|that have|which have|containing)\\s+(?:the\\s+(?:word|text|string)\\s+)?${word}\\s+in\\s+(?:the|their|its)\\s+(?:file ?)?names?`,
      (token) => `*${value(token)}*`,
    ],
    [
      `${files}\\s+(?:whose|where the|with a|with the)\\s+(?:file ?)?names?\\s+(?:contain(?:s|ing)?|include(?:s)?|including|match(?:es|ing)?|(?:is|are) like|has|have)\\s+(?:the\\s+(?:word|text|string)\\s+)?${word}`,
      (token) => (/[*?]/.test(value(token)) ? value(token) : `*${value(token)}*`),
    ],
    [
      `${files}${that}\\s+(?:called|named|with (?:the )?(?:file ?)?name(?: of)?|by the name(?: of)?|name is|like|match(?:es|ing)?(?: the (?:pattern|glob))?|titled)\\s+(?:the\\s+(?:pattern|glob)\\s+)?(?:like\\s+)?${word}`,
      (token) => value(token),
    ],
    [`(?:pattern|glob)\\s+${word}`, (token) => value(token)],
    [
      `${word}\\s+(?:source\\s+|code\\s+)?${files}(?:\\s+(?:are there|exist|there are|do we have|do i have|we have|i have))?`,
      (token) => {
        if (/[*?]/.test(value(token))) return value(token);
        const isEnding = (/^\.\w+$/.test(token) && !looksLikePath(token)) || /^\.\w{1,5}$/.test(value(token));
        return kind(token) ?? (isEnding ? `*${value(token)}` : undefined);
      },
    ],
    [`${word}`, (token) => single(token, scene, verb)],
  ];
  for (const [rule, glob] of rules) {
    const match = new RegExp(`^${rule}$`, "i").exec(text);
    const found = match && glob(match[1]!.replace(/[,;]+$/, ""));
    if (found) return found;
  }
  return /^(?:it|that|this)\b/i.test(text) ? undefined : onlyPlainFile(text, scene)?.path;
}

function single(token: string, scene: PromptContext, verb: string): string | undefined {
  const literal = literalOf(scene.masked, token);
  const value = literal ? literal.text : token;
  if (/[*?]/.test(value) && !/\s/.test(value)) return value;
  if (literal && !isFileName(literal)) return undefined;
  if (looksLikePath(value)) return value;
  if (/^\.\w{1,5}$/.test(value)) return `*${value}`;
  // "locate config": locating is about names.
  return !literal && verb === "locate" && /^[\w-]+$/.test(value) ? `*${value}*` : undefined;
}
