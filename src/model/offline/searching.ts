// Searching: for text in files.
import { ALL, find, kindOf } from "./finding.ts";
import { saysOnlyItself } from "./grammar/rows.ts";
import { looksLikePath, onlyFile, splitAt, termOf, trimSlash } from "./phrases.ts";
import { literalOf, matched } from "./quotes.ts";
import type { ParsedSteps, PromptContext } from "./steps.ts";

const TERM_LEAD = () =>
  /^(?:(?:for|any|all|every|each|the|a|an|of|to|me|up|everything|anything|with|exact)\s+)*(?:(?:occurrences?|instances?|usages?|uses?|references?|mentions?|matches?|appearances?|places|lines?|hits|calls)\s+(?:(?:of|to|for|containing|with|that (?:contain|mention|have|match|include)|which (?:contain|mention)|where|matching|including|mentioning)\s+)?)?(?:(?:the|a|an|this|exact|literal)\s+)*(?:(?:word|words|string|text|phrase|pattern|term|expression|keyword|regex|regular expression|regexp|symbol|identifier|function|variable|class|name|import|literal|substring|content|contents)\s+)?(?:called\s+|named\s+)?/i;
export const HAS =
  "(?:contain(?:s|ing)?|mention(?:s|ing)?|includ(?:e|es|ing)|have|has|having|with|referenc(?:e|es|ing)|us(?:e|es|ing)|refer(?:s|ring)? to|import(?:s|ing)?|call(?:s|ing)?|defin(?:e|es|ing)|match(?:es|ing)?|hold(?:s|ing)?|say(?:s|ing)?|talk(?:s|ing)? about)";

const SEVERAL_TERMS = () => /^[\uE000-\uF8FF](?:\s*(?:,\s*(?:and|or)|,|\band\b|\bor\b)\s*[\uE000-\uF8FF])+$/i;
const FINDS_NAMES = () =>
  /^(?:find|locate|find me|look for|search for|look up|hunt for|search|track down|hunt down|spot|identify|look)$/;
const OCCURRENCES = () =>
  /^(?:me\s+|us\s+|all\s+|the\s+|every\s+|any\s+)*(?:occurrences?|instances?|usages?|uses|references?|mentions?|matches|lines?|places)\s+(?:of|to|for|containing|with|that|which|where|matching|including|mentioning)\s/i;

export function search(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const web = /^(?:(?:on|in)\s+)?(?:the\s+)?(?:web|internet)\s+(?:for|about)\s+(\S.*?)[.?!]*$/i.exec(rest);
  if (web) return [{ do: "call", tool: "WebSearch", args: { query: termOf(web[1]!, scene) } }];
  const anyCase =
    /\b(?:case[- ]?insensitive(?:ly)?|ignor(?:e|ing) (?:the )?case|regardless of case|in any case|any case|case does(?:n't| not) matter)\b|^-i\s/i;
  const isAnyCase = anyCase.test(rest);
  const isRegex = /\b(?:regex|regexp|regular expression)\b/i.test(rest);
  let words = rest
    .replace(
      /,?\s*\(?(?:\bcase[- ]?insensitive(?:ly)?|\bignor(?:e|ing) (?:the )?case|\bregardless of case|\bin any case|\bany case|\bcase does(?:n't| not) matter)\)?|^-i(?=\s)/gi,
      " ",
    )
    .trim();
  const byName = /^(?:for )?(?:the )?files? by (?:file ?)?name\s*[:,]?\s+(?:for )?(\S+)$/i.exec(words);
  if (byName) return find(`files named ${byName[1]}`, scene, "find");
  words = words.replace(/^(?:-rn?|-n|-r|-l)\s+/, "").replace(/^recursively\s+|\s+recursively(?=\s|$)/i, "");
  const shape = (term: string, mode: "content" | "files_with_matches", where: SearchScope): ParsedSteps => {
    const several = SEVERAL_TERMS().test(termOnly(term));
    const options = { mode, ...where, ...(isAnyCase && { anyCase: true }) };
    if (several) {
      const terms = termOnly(term).match(/[\uE000-\uF8FF]/g)!;
      const patterns = terms.map((mark) => pattern(termOf(mark, scene), false));
      return [{ do: "search", pattern: patterns.join("|"), ...options }];
    }
    const found = termOf(termOnly(term), scene).trim();
    const isNamedPlace = where.path !== undefined && /^(?:error|bug|issue|problem)$/i.test(term);
    if (found === "" || (!/[\uE000-\uF8FF]/.test(term) && isVague(found) && !isNamedPlace)) return undefined;
    // "foo but not in src": leaving places out is not understood, so it must not become the term.
    if (/\s(?:but not|except|excluding|other than)$/i.test(term.trim())) return undefined;
    const quoted = literalOf(scene.masked, termOnly(term));
    // "alpha or milk", "notes.txt that mention x": more than a text to be looked for.
    if (!quoted && /\s/.test(found) && !saysOnlyItself(found)) return undefined;
    const isGrep = verb.startsWith("grep") || verb === "rg";
    return [
      { do: "search", pattern: pattern(found, isRegex || (isGrep && (!quoted || isRegexLike(found)))), ...options },
    ];
  };

  words = words.replace(
    /\b(files?|places|spots|lines?)\s+(?:where|in which)\s+(.+?)\s+(?:(?:is|are|gets?)\s+(?:being\s+)?(?:used|mentioned|defined|referenced|found|called|imported|declared|set)|appears?|occurs?|shows? up)\b/i,
    "$1 containing $2",
  );
  // "files containing x", "all .ts files that mention x"
  const files = matched(
    `(?:for\\s+|through\\s+|me\\s+)*${ALL}(.*?)\\s*\\b(?:files?|documents?|scripts?|places|modules)\\s*(?:((?:in|inside|under|within|from|of|here|across)\\b.*?)\\s+)?(?:(?:that|which|where)\\s+)?${HAS}\\s+(.+)`,
    words,
  );
  // "files with the subfolders": only a text that is marked as one.
  const isThing =
    files &&
    /\b(?:with|have|has|having|use|uses|using)\s+$/i.test(words.slice(0, words.length - files[3]!.length)) &&
    !/[\uE000-\uF8FF]|^the (?:word|text|string|phrase|term)\b|^\S+(?:\s+(?:in|inside)(?:\s.*)?)?$/i.test(files[3]!);
  if (isThing) return undefined;
  if (files && isKind(files[1]!, scene)) {
    const inner = files[2] ? whereOf(files[2], scene) : {};
    if (inner && !isAboutNames(files[3]!, words) && !/[*?]\.|\.[*]/.test(termOf(files[3]!, scene))) {
      const placed = termAndWhere(files[3]!, scene);
      const glob = files[1] ? globOf(files[1], scene) : undefined;
      return shape(stripLead(placed.term), "files_with_matches", { ...(glob && { glob }), ...inner, ...placed.where });
    }
  }

  // "src for x", "the codebase for x", "through all .ts files for x"
  const through = splitAt(words, /(?:^|\s+)(?:for|and find|looking for|to find)\s+/, (right) => right);
  if (
    through &&
    through.left.trim() !== "" &&
    verb !== "grep for" &&
    verb !== "search for" &&
    verb !== "look for" &&
    verb !== "scan for"
  ) {
    const where = whereOf(
      through.left.replace(/^(?:in|inside|through|within|across|throughout|over|all of|into)\s+/i, ""),
      scene,
    );
    const inFiles = new RegExp(`^${ALL}files?\\s+(?:that\\s+)?${HAS}\\s+(.+)$`, "i").exec(through.right);
    if (where && inFiles) return shape(stripLead(inFiles[1]!), "files_with_matches", where);
    const byName =
      /[*?]|\bfiles?$/i.test(termOf(through.right, scene)) && !where?.glob
        ? find(through.right, scene, "find")
        : undefined;
    if (where && byName)
      return byName.map((step) =>
        step.do === "find" && where.path !== undefined ? { ...step, path: where.path } : step,
      );
    if (where) return shape(stripLead(through.right), "content", where);
  }

  const shellLike = /^(?:grep|rg)$/.test(verb) ? /^(\S+)\s+([\w./~-]+)$/.exec(words) : null;
  if (
    shellLike &&
    (looksLikePath(shellLike[2]!) || /^\w+\/?$/.test(shellLike[2]!)) &&
    !/^(?:for|in)$/i.test(shellLike[1]!)
  )
    return shape(shellLike[1]!, "content", shellLike[2] === "." ? {} : { path: trimSlash(shellLike[2]!) });
  const names = FINDS_NAMES().test(verb);
  const bare = words.replace(/^for\s+/i, "");
  if (/^(?:me\s+)?(?:all\s+|the\s+|every\s+)*(?:files?|folders?|director)/i.test(bare)) return undefined;
  const placed = termAndWhere(bare, scene);
  const seeks = /^(?:find|locate|search|look|grep|rg|scan|seek|hunt|track|spot|identify|query)/.test(verb);
  if (!seeks && !OCCURRENCES().test(bare)) return undefined;
  // "find a.txt", "find *.ts in src", "find all markdown files": by name.
  if (names && find(bare, scene, verb) && !isTextSearch(placed, scene)) return undefined;
  if (/\b(?:files?|folders?|directories)$/i.test(placed.term) && !/[\uE000-\uF8FF]/.test(placed.term)) return undefined;
  if (
    /^(?:find|find me|locate|spot|identify|track down|look up|look|query|seek|scan|find out|hunt down)$/.test(verb) &&
    !isPlainTerm(placed)
  )
    return undefined;
  return shape(stripLead(placed.term), "content", placed.where);
}

type SearchScope = { path?: string; glob?: string };

/** "hello inside", "TODO comments" -> "hello", "TODO". */
function termOnly(term: string): string {
  return term
    .replace(/[.,;!?]+$/, "")
    .replace(
      /\s+(?:inside(?: (?:it|them))?|in (?:it|them|there|(?:their|its|the) (?:contents?|text|body))|somewhere|anywhere|within)$/i,
      "",
    )
    .replace(/^((?:TODO|FIXME|HACK|XXX)s?)\s+(?:comments?|notes?|markers?|items?|entries|statements?)$/, "$1")
    .replace(/^(TODO|FIXME|HACK|XXX)s$/, "$1")
    .replace(/^([\uE000-\uF8FF])\s+(?:string|text|word|keyword|pattern)$/i, "$1")
    .trim();
}

function stripLead(term: string): string {
  const rest = term.trim().replace(TERM_LEAD(), "");
  return (rest === "" ? term : rest).trim();
}

/** "find 'a.b' in c.txt" searches text although 'a.b' could name a file. */
function isTextSearch(placed: { term: string; where: SearchScope }, scene: PromptContext): boolean {
  if (placed.where.glob !== undefined || /\.\w+$/.test(placed.where.path ?? "")) return true;
  const literal = literalOf(scene.masked, placed.term.trim());
  return literal !== undefined && !looksLikePath(literal.text) && !/[*?]/.test(literal.text);
}

const TEXT_NOUN = () =>
  /\b(?:occurrence|instance|usage|use|reference|mention|match|appearance|line|word|string|text|phrase|place)s?\b/i;

/** "find" means many things: only a quoted or single term, or one with a place, is taken for text. */
function isPlainTerm(placed: { term: string }): boolean {
  const term = termOnly(stripLead(placed.term));
  if (/[\uE000-\uF8FF]/.test(term)) return /^[\uE000-\uF8FF]$/.test(term.replace(/[.!?,]+$/, ""));
  if (term !== placed.term.trim() && TEXT_NOUN().test(placed.term)) return true;
  return /^[\w$.:#@-]+$/.test(term) && !isVague(term);
}

const VAGUE = () =>
  /^(?:(?:the )?(?:web|internet|google|online) for .*|bugs?|errors?|issues?|problems?|it|them|something|anything|everything|this|that|out|typos?|mistakes?|vulnerabilit(?:y|ies)|files?|folders?|dead code|a way|ways|the (?:bug|problem|issue|error|answer|cause).*|unused .*|duplicates?|duplicate .*|good .*|a .*|an .*|how .*|why .*|what .*|me|answers?|information.*|help|memory leaks?|most .*|least .*|functions|classes|methods|variables|numbers|digits|imports|exports|strings|comments|emails|urls|links|dates|dependencies|lines|words|tasks|items|headings|(?:empty|blank|long|short|duplicate[ds]?) .*)$/i;

function isVague(term: string): boolean {
  return VAGUE().test(term);
}

function isRegexLike(text: string): boolean {
  return /\\[bdwsB]|\.\*|\.\+|\||\[.+\]|^\^|\$$/.test(text);
}

/** Words are searched for literally unless a regular expression was asked for, or grep was, and it is a valid one. */
function pattern(text: string, regex: boolean): string {
  if (regex) {
    try {
      new RegExp(text);
      return text;
    } catch {
      // Not valid: taken literally.
    }
  }
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function termAndWhere(words: string, scene: PromptContext): { term: string; where: SearchScope } {
  const split = splitAt(
    words,
    /\s*,?\s+(?:in|inside|within|across|under|throughout|through|from|over|among|below|anywhere in|somewhere in)\s+/,
    (right) => whereOf(right, scene),
  );
  if (split) return { term: split.left, where: split.right };
  const trimmed = words.replace(/\s+(?:here|everywhere|anywhere|please|recursively)[\s.!?]*$/i, "");
  return { term: trimmed, where: {} };
}

const EVERYWHERE = () =>
  /^(?:(?:all|any|every|each|the|this|my|our|of|these|whole|entire|current|other|single|files in|text of)\s+)*(?:(?:source|code|text|project) files|files?|codebase|code base|code|project|repo|repository|workspace|source|sources|source code|directory|folder|tree|contents?|here|documents?|everything|them|cwd)(?:\s+(?:here|there|recursively|please|in (?:this|the|the current|the whole|my|our) (?:project|folder|directory|repo|repository|workspace|codebase|code|tree)))?$/i;

/** Where to search: a file, a folder, a kind of file, or everywhere. */
function whereOf(words: string, scene: PromptContext): SearchScope | undefined {
  const text = words
    .trim()
    .replace(/[.!?,;]+$/, "")
    .replace(/^(?:in|inside|within|through|across|under)\s+/i, "");
  if (EVERYWHERE().test(text)) return {};
  if (/^(?:here|everywhere|anywhere)$/i.test(text)) return {};
  const kind = /^(.*?)\s*(?:source\s+)?files?(?:\s+(?:in|under|inside|of|within|from)\s+(.+))?$/i.exec(text);
  if (kind) {
    const glob = globOf(kind[1]!, scene);
    const inside = kind[2] === undefined ? {} : whereOf(kind[2], scene);
    if (glob && inside) return { ...inside, glob };
    if (kind[2] !== undefined && inside && /^(?:(?:all|any|every|each|the|of)\s*)*$/i.test(kind[1]!)) return inside;
  }
  const direct = globOf(text, scene);
  if (direct && /[*?]/.test(termOf(text.split(/\s+/).at(-1) ?? "", scene))) return { glob: direct };
  const file = onlyFile(text.replace(/^the contents? of\s+/i, ""), scene, { bare: true });
  return !file || STOP_WHERE().test(file.path) ? undefined : { path: trimSlash(file.path) };
}

const STOP_WHERE = () =>
  /^(?:web|internet|google|online|github|net|order|general|particular|case|it|there|total|which|that|front|time|english|french|german|full)$/i;

function globOf(words: string, scene: PromptContext): string | undefined {
  const token = words
    .trim()
    .replace(new RegExp(`^${ALL}`, "i"), "")
    .trim();
  if (token === "") return undefined;
  const value = termOf(token, scene);
  if (/\s/.test(value)) return undefined;
  if (/[*?]/.test(value)) return value;
  return kindOf(value) ?? (/^\.\w{1,6}$/.test(value) ? `*${value}` : undefined);
}

function isKind(words: string, scene: PromptContext): boolean {
  return (
    words.trim() === "" || new RegExp(`^${ALL}$`, "i").test(`${words.trim()} `) || globOf(words, scene) !== undefined
  );
}

/** "files with test in their name", "files with the extension ts": by name, not by text. */
export function isAboutNames(term: string, words: string): boolean {
  return (
    /\bin (?:the|their|its) (?:file ?)?names?\b/i.test(words) ||
    /\b(?:whose|with a|with the) (?:file ?)?names?\b/i.test(words) ||
    /^(?:the\s+|an?\s+)?(?:file\s+)?(?:extension|suffix|ending|names?|type|ext)\b/i.test(term) ||
    /\b(?:extension|suffix)\b/i.test(term)
  );
}
