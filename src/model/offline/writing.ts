// Writing: creating, appending and deleting, as people ask for it.

import { contentOf, isWishForCode } from "./content.ts";
import { shellWord } from "./moving.ts";
import { isSpent, joinPath, onlyFile, onlyPlainFile, splitAt, takeFile, takeFiles, takeFolder } from "./phrases.ts";
import { literalOf } from "./quotes.ts";
import type { ParsedSteps, PromptContext, Step } from "./steps.ts";

const INTRO = () =>
  /^\s*,?\s*\(?(?:(?:and\s+|which\s+|that\s+)?(with|containing|contains?|that contains|which contains|that says|which says|saying|says?|that reads|reading|reads?|holding|holds|that has|which has|has|having|consisting of|including|to (?:say|contain|read|be|have)|so (?:that )?it (?:says|contains|reads)|whose (?:contents?|text|body|only line|single line) (?:is|are|says|reads|should be)|its (?:contents?|text) (?:is|are|should be|being)|(?:with\s+)?(?:the\s+)?(?:contents?|text|body)(?= \S|:)|where (?:the )?(?:contents?|text) (?:is|are))(?![\w-])|:|->|→|=>|=)\s*/i;
const CONNECTOR = () => /\s+(?:(?:out|down)\s+)?(?:to|into|in|inside|as|under|at|onto|on)\s+/;

/** Both orders: "a.txt with 'x'" and "'x' to a.txt". */
export function write(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  let words = rest.replace(/^(?:me|us|up|for me|for us|out|down)\s+/i, "");
  if (scene.lastPath !== undefined)
    words = words.replace(/\s+(?:inside|in there|therein|in that file|into that file)[\s.!]*$/i, " in it");
  return fileFirst(words, scene, verb) ?? contentFirst(words, scene, verb) ?? unnamed(words, scene, verb);
}

const MAY_DESCRIBE = () =>
  /^(?:with|including|having|has|that has|which has|holding|holds|containing|contains?|that contains|which contains|consisting of|to (?:be|have))$/i;

function fileFirst(words: string, scene: PromptContext, verb: string): ParsedSteps {
  const creates =
    /^(?:create|make|generate|put together|whip up|touch|start|set up|add|new|produce|prepare|build|initialize)$/.test(
      verb,
    ) ||
    (verb === "write" && /^an? (?:(?:new|text|plain|empty|blank) )*file\b/i.test(words));
  const found = takeFiles(words, scene);
  if (!found) return undefined;
  if (
    isSpent(
      found.rest.replace(
        /^\s*,?\s*(?:with (?:no|empty) (?:contents?|text)|(?:that is|which is|and leave it|as an?) (?:empty|blank)(?: file)?|\(?(?:leave it )?empty\)?|both empty|all empty|each empty|for me|if it (?:doesn't|does not) exist)/i,
        "",
      ),
    )
  ) {
    if (!creates || found.files.some((file) => file.folder)) return undefined;
    const keeps = verb === "touch" || /\bif it\b/i.test(found.rest);
    return found.files.map((file): Step => (keeps ? touch(file.path) : { do: "write", path: file.path, content: "" }));
  }
  const introduced = INTRO().exec(found.rest);
  // "write a.txt in b" says nothing; "put a.txt into the archive" neither.
  if (!introduced || found.files.some((file) => file.folder)) return undefined;
  const left = found.rest.slice(introduced[0].length).replace(introduced[0].includes("(") ? /\)\s*$/ : /$^/, "");
  // "with 'x' in the out folder"
  const behind = /^(.*[\uE000-\uF8FF])(?:\s+(?:in it|inside(?: it)?))?(\s+(?:in|inside|under|into)\s.+)$/i.exec(left);
  const place = behind && takeFolder(behind[2]!, scene);
  const folderBehind = place && isSpent(place.rest) ? place : undefined;
  const marked = !MAY_DESCRIBE().test(introduced[1] ?? "");
  const content = contentOf(folderBehind ? behind![1]! : left, scene, { marked });
  if (content === undefined) return undefined;
  // "a.py that says hello when run" is a program to be thought up.
  const isSaid = /\b(?:say|read)/i.test(introduced[1] ?? "");
  if (isSaid && found.files.some((file) => isWishForCode(left.replace(/:/g, ""), content, file.path))) return undefined;
  // "a.txt, b.txt and c.txt with 'x'": in each, or in the last one?
  if (found.files.length > 1 && !/\b(?:both|all|each|every)\b/i.test(words)) return undefined;
  const folderName = folderBehind?.folder;
  return found.files.map(
    (file): Step => ({
      do: "write",
      path: folderName === undefined ? file.path : joinPath(folderName, file.path),
      content,
    }),
  );
}

function touch(path: string): Step {
  return { do: "run", command: `touch -- ${shellWord(path)}`, done: `Touched ${path}.` };
}

function contentFirst(words: string, scene: PromptContext, verb: string): ParsedSteps {
  const split = splitAt(words, CONNECTOR(), (right) => onlyPlainFile(right, scene));
  if (!split) return undefined;
  const left = split.left.trim();
  if (/^(?:a|an|the)?\s*(?:new\s+)?(?:folder|directory)\b/i.test(left)) return undefined;
  // "create a hello world program in hello.py" is a wish; "write 'x' to a.txt" is an order.
  if (
    /^(?:create|make|generate|start|build|produce|prepare|new|initialize)$/.test(verb) &&
    !literalOf(scene.masked, left) &&
    !/[\uE000-\uF8FF]/.test(left)
  )
    return undefined;
  const content = contentOf(left, scene);
  if (content === undefined || isWishForCode(left, content, split.right.path)) return undefined;
  const last = scene.steps.at(-1);
  // "create a.txt and put 'x' in it": one file, written once.
  if (last?.do === "write" && last.content === "" && last.path === split.right.path) {
    scene.steps.pop();
  }
  return [{ do: "write", path: split.right.path, content }];
}

const UNNAMED_FILE = () =>
  /^(?:(?:a|an|one|some|the|new|empty|blank|text|plain|simple|small|random|test|sample)\s+)*(?:text\s*)?file(?![\w.-])/i;

/** "create a file", "create a file with 'x'", "create a file with 'x' and call it a.txt". */
function unnamed(words: string, scene: PromptContext, verb: string): ParsedSteps {
  if (!/^(?:create|make|generate|start|add|new|produce|write|save)$/.test(verb)) return undefined;
  const match = UNNAMED_FILE().exec(words);
  if (!match) return undefined;
  const rest = words.slice(match[0].length);
  if (isSpent(rest)) return /^(?:write|save)$/.test(verb) ? undefined : [{ do: "write", content: "" }];
  const introduced = INTRO().exec(rest);
  if (!introduced) return undefined;
  const body = rest.slice(introduced[0].length);
  const called = splitAt(
    body,
    /\s*,?\s+(?:(?:and\s+)?(?:called|named|titled)|and (?:name|call) it|at|as|under the name)\s+/,
    (right) => onlyFile(`file ${right}`, scene),
  );
  const content = contentOf(called ? called.left : body, scene, { marked: !/^with$/i.test(introduced[1] ?? "") });
  if (content === undefined) return undefined;
  return [{ do: "write", ...(called && { path: called.right.path }), content }];
}

/** "… and call it a.txt". */
export function naming(rest: string, scene: PromptContext): ParsedSteps {
  const match = /^(?:it|this|that|the file|the new file)\s+/i.exec(rest);
  const last = scene.steps.at(-1);
  if (!match || last?.do !== "write" || last.path !== undefined) return undefined;
  const file = onlyFile(`file ${rest.slice(match[0].length)}`, scene);
  if (!file) return undefined;
  scene.steps.pop();
  return [{ ...last, path: file.path }];
}

const SAYING = () =>
  /^\s*,?\s*(?:that (?:says|reads|contains)|which (?:says|reads)|saying|reading|with(?: the (?:text|contents?))?|containing|:)\s*/i;
const NEW_LINE = () =>
  /^(?:(?:a|another|one|the|new|extra|following|single|more|additional|last|final)\s+)*(?:line|text|entry|sentence|item|note|content)$/i;

export function append(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  const words = rest
    .replace(/^(?:on|in|down)\s+(?=[\uE000-\uF8FF])/i, "")
    .replace(
      /\s+as (?:the |an? |its )?(?:very )?(last|final|first|top|bottom|new|extra|additional|another)? ?line (?:in|of|to|into)\s+/i,
      (_, place) => ` at the ${/^(?:first|top)$/i.test(place) ? "start" : "end"} of `,
    )
    .replace(/,?\s+on (?:a|its own|another|a new|a separate)(?: new| separate)? line[\s.!]*$/i, "")
    .replace(/\s+as an? (?:new|separate|extra|additional) line[\s.!]*$/i, "")
    // "and add 'x' at the end": of the file last spoken of.
    .replace(/\s+(at|to) the (very )?(end|bottom|top|start|beginning)[\s.!]*$/i, (whole, at, _, edge) =>
      scene.lastPath === undefined || /\s(?:to|in|into|onto)\s/i.test(rest.slice(0, -whole.length))
        ? whole
        : ` ${at} the ${edge} of it`,
    );
  const edge = "(?:the\\s+)?(?:very\\s+)?(end|bottom|tail|start|top|beginning|front|head)\\s+(?:of|in)\\s+";
  const whereOf = (word: string | undefined): "start" | "end" =>
    word === undefined ? (verb === "prepend" ? "start" : "end") : /^(?:end|bottom|tail)$/i.test(word) ? "end" : "start";
  const always = /^(?:append|add|prepend|attach|tack|stick|extend)$/.test(verb);

  // "'x' to the end of a.txt"
  const split = splitAt(words, /\s+(?:on\s+)?(?:to|at|in|into|onto|on)\s+/, (right) => {
    const place = new RegExp(`^${edge}`, "i").exec(right);
    const file = takeFile(right.slice(place?.[0].length ?? 0), scene);
    if (!file || file.folder) return undefined;
    const behind = /^\s*,?\s*(?:at|to)\s+(?:the\s+)?(?:very\s+)?(end|bottom|start|top|beginning)\s*$/i.exec(file.rest);
    const saying = SAYING().exec(file.rest);
    if (!place && !behind && !always) return undefined;
    if (!behind && !saying && !isSpent(file.rest)) return undefined;
    return {
      path: file.path,
      at: whereOf(place?.[1] ?? behind?.[1]),
      later: saying ? file.rest.slice(saying[0].length) : undefined,
    };
  });
  if (split) {
    const { path, later } = split.right;
    // "in a.txt, add 'x' at the end"
    const edgeBefore = /\s+(?:at|to)\s+the\s+(?:very\s+)?(end|bottom|start|top|beginning)\s*$/i.exec(split.left);
    const at = edgeBefore ? whereOf(edgeBefore[1]) : split.right.at;
    if (edgeBefore) split.left = split.left.slice(0, edgeBefore.index);
    const several = /^(?:the\s+)?((?:two|three|four|five|\d+)\s+)?(?:new\s+|more\s+)?lines$/i.exec(split.left.trim());
    const isLine = NEW_LINE().test(split.left.trim());
    const content =
      later !== undefined && several
        ? contentOf(/^[\uE000-\uF8FF]/.test(later) ? later : `${several[1] ?? ""}lines: ${later}`, scene)
        : later !== undefined && isLine
          ? contentOf(later, scene, { marked: true })
          : later === undefined
            ? contentOf(split.left, scene)
            : undefined;
    const last = scene.steps.at(-1);
    // "create a.txt and add 'x' to it": one file, written once.
    if (content !== undefined && last?.do === "write" && last.content === "" && last.path === path) {
      scene.steps.pop();
      return [{ do: "write", path, content }];
    }
    if (content !== undefined && !isWishForCode(later ?? split.left, content, path))
      return [{ do: "append", path, content, at }];
  }

  // "to a.txt: 'x'", "to the end of a.txt the line 'x'"
  const target = new RegExp(
    `^(?:(?:a|another|one|the|new|this|these)\\s+)*(?:following\\s+)?(?:(?:lines?|text|entry|content)\\s+)?(?:to|at|in|into|onto)\\s+(?:${edge})?`,
    "i",
  ).exec(words);
  const bare = target ? words.slice(target[0].length) : /^(?:append|prepend|extend)$/.test(verb) ? words : undefined;
  const file = bare === undefined ? undefined : takeFile(bare, scene);
  if (!file || file.folder || (!always && target?.[1] === undefined)) return undefined;
  const content = contentOf(
    file.rest.replace(/^\s*(?:,|:|with|that says|saying|the following|containing)\s*/i, ""),
    scene,
    { marked: /^\s*[:,]|saying|says/i.test(file.rest) },
  );
  return content === undefined ? undefined : [{ do: "append", path: file.path, content, at: whereOf(target?.[1]) }];
}

export function remove(rest: string, scene: PromptContext, verb: string): ParsedSteps {
  if (/^(?:strip|reset|cancel)$/.test(verb)) return undefined;
  const emptied = /^(?:clear|clear out|wipe|empty|truncate)$/.test(verb);
  const words = emptied ? rest.replace(/^(?:out\s+)?(?:the\s+)?contents? of\s+/i, "") : rest;
  const found = takeFiles(words.replace(/^(?:(?:these|the following|those)(?:\s+files)?\s*:\s*)/i, ""), scene);
  // Strict: a word too many, and nothing is deleted.
  if (!found || !isSpent(found.rest)) return undefined;
  if (found.files.some((file) => /^(?:[/~.]|\.\.)\/*$/.test(file.path))) return undefined;
  if (emptied)
    return found.files.map(
      (file): Step => ({ do: "write", path: file.path, content: "", isThere: true, replaces: true }),
    );
  return found.files.map((file): Step => ({ do: "delete", path: file.path }));
}
