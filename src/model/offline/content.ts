// Content: the text that is to be written, and what only describes one.
import { countOf, takeFile } from "./phrases.ts";
import { endsInText } from "./politeness.ts";
import { literalOf, restore, unquote } from "./quotes.ts";
import type { Content, PromptContext } from "./steps.ts";

const VAGUE_OPENING = () =>
  /^(?:everything|all|what|whatever|how|which|something|anything|some|any|random|sample|dummy|various|appropriate|suitable|useful|interesting)\b/i;
const TO_BE_MADE_UP = () =>
  /\b(?:tests?|docs|documentation|code|functions?|class|classes|program|script|poem|haiku|story|essay|summary|report|explanation|component|module|implementation|article|blog|joke|lyrics|song|letter|description|comments?|boilerplate|template|api|server|app|application|website|algorithm|readme|instructions|sections?|tables?|chapter|heading|license|badge|examples?|content that|text that|about)\b/i;

/** Unquoted words that describe a text to be made up are not text. */
function describes(words: string): boolean {
  const bare = words.trim();
  if (VAGUE_OPENING().test(bare)) return true;
  if (/^(?:an?|the|your|my|our|more|better|new)\s+\w+/i.test(bare)) return true;
  if (
    /^(?:changes?|work|progress|data|settings|results?|output|answers?|files?|contents?|edits?|updates?)$/i.test(bare)
  )
    return true;
  return TO_BE_MADE_UP().test(bare);
}

/** Words that nobody would take for a description: a greeting, one word, code, figures, a sentence of its own. */
function isLiteral(text: string): boolean {
  const words = text.split(/\s+/);
  if (/^(?:hello|hi|hey|hallo|bonjour|foo|bar|baz|test|ok|okay|yes|no|abc)(?![\w-])/i.test(text)) return true;
  if (words.length === 1)
    return (
      /[_./:-]/.test(text) ||
      !/^(?:\w+s|numbers?|text|words?|lorem|random|content|code|data|stuff|things?|imports?|types?|json|markdown|html)$/i.test(
        text,
      ) ||
      /\d/.test(text)
    );
  return (
    /[(){};=<>#"`\d]|^[-*] |[.!?]$/.test(text) &&
    !/^(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|several|many|a few|few)\s/i.test(text)
  );
}

const WHAT_WAS_SHOWN = () =>
  /^(?:the |its |that |this |these |those |your )?(?:results?|output|answers?|sum|it|that|this|contents?|text|listing|list|value|number|findings|matches|file list|files|response|product|total)(?: (?:of|from) (?:that|it|the command|this|the calculation))?$/i;

/** The text to be written. `marked`: a word like "text" or "saying" stood before it, so it is meant literally. */
export function contentOf(
  words: string,
  scene: PromptContext,
  options: { marked?: boolean } = {},
): Content | undefined {
  let text = words.trim().replace(/^[:,-]\s*/, "");
  let marked = options.marked ?? false;
  // "content: line one": what follows a colon is not introduced a second time.
  const told =
    /^(?:(?:the|a|an)\s+)?(?:following\s+)?(?:contents?|text|words?|line)\s*:\s*(?=[^\s\uE000-\uF8FF])/i.exec(text);
  const counted = /^(?:the\s+)?(?:(two|three|four|five|six|\d+)\s+)?lines\s*:\s*(?=[^\s\uE000-\uF8FF])/i.exec(text);
  if (counted) {
    const parts = text.slice(counted[0].length).split(/\s*(?:,\s*and\s|,|\sand\s)\s*/i);
    const isAll = counted[1] === undefined ? parts.length > 1 : countOf(counted[1]) === parts.length;
    return isAll ? parts.join("\n") : undefined;
  }
  if (told) return withLineBreaks(restore(scene.masked, text.slice(told[0].length)));
  const lead =
    /^(?:only|just|exactly|this|the following)?(?:\s+(?:inside|in it))?\s*:\s+(?=\S)|^(?:(?:only|just|exactly)\s+)?(?:(?:the|a|an|another|this|these|its|one|two|three|four|five|\d+(?=\s+(?:lines|words)\s*:)|single|following|new|extra|additional|last|final|more|exact|simple|short|initial)\s+)*(?:text|contents?|words?|strings?|lines?(?: of text)?|phrase|message|sentence|body|value|number|data|paragraph|item|entry|row|record|note|snippet|code|json|greeting|(?:heading|header|title|comment|bullet)(?=\s+(?:[\uE000-\uF8FF]|\/\/|#)))(?:\s+(?:that (?:says|reads)|which (?:says|reads)|saying|reading|of|is|being|with|containing|inside|in it))*\s*[:,=]?\s+(?=\S)|^(?:saying|reading|that says|that reads|which says|of|following|the following|this)\s*:?\s+(?=\S)|^:\s*/i;
  // "a new line with the text …": one introduction may follow another.
  for (let match = lead.exec(text); match; match = lead.exec(text)) {
    // "the contents of b.txt" is not text.
    if (/(?:contents?|text)\s+of\s+$/i.test(match[0]) && takeFile(text.slice(match[0].length), scene)) return undefined;
    marked = true;
    text = text.slice(match[0].length);
  }
  text = text
    .replace(
      /\s+(?:in it|inside(?: it| of it)?|in there|as (?:its |the )?(?:only )?(?:contents?|text|body)|as text)[.!]?$/i,
      "",
    )
    .trim();
  // Several quoted texts are several lines.
  if (/^[\uE000-\uF8FF](?:\s*(?:,\s*and|,|\band\b)\s*[\uE000-\uF8FF])+$/i.test(text))
    return (text.match(/[\uE000-\uF8FF]/g) ?? []).map((mark) => withLineBreaks(unquote(scene.masked, mark))).join("\n");
  const literal = literalOf(scene.masked, text.replace(/[.!?,;]+$/, ""));
  if (literal) return literal.kind === "quote" ? withLineBreaks(literal.text) : literal.text;
  if (text === "") return undefined;
  if (scene.steps.length > 0 && WHAT_WAS_SHOWN().test(text)) {
    return { previous: true };
  }
  if (/^(?:it|that|this|them|nothing)$/i.test(text)) return undefined;
  if (!marked && describes(text)) return undefined;
  if (!marked && !isLiteral(text)) return undefined;
  // "3 names: 'a', 'b'" is not text either.
  if (!marked && /^[\w\s]+:\s*[\uE000-\uF8FF]/.test(text)) return undefined;
  // "\"a\" and b.txt with \"b\"" is more than one text.
  if (/^[\uE000-\uF8FF]\s+[\w&|]/.test(text)) return undefined;
  if (marked && /^(?:a|an|some)\s+\w+\s+(?:that|which|who|about|for)\b|^(?:for|about|that|which)\s/i.test(text))
    return undefined;
  const written = withLineBreaks(restore(scene.masked, text));
  return endsInText(`: ${written}`) ? written : written.replace(/(?<=\w)\.$/, "");
}

/** Plain words for a file of code are a wish ("add error handling to app.ts"), unless they look like code. */
export function isWishForCode(words: string, content: Content, path: string): boolean {
  if (
    typeof content !== "string" ||
    /[\uE000-\uF8FF:]/.test(words) ||
    /\b(?:text|words?|line|string|content|saying)\b/i.test(words)
  )
    return false;
  return isCode(path) && !/[(){};=<>#"']/.test(content);
}

const CODE_ENDING = () =>
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|rb|php|c|h|cc|cpp|cs|swift|kt|vue|svelte|sh|sql|json|ya?ml|toml|html?|xml|s?css)$/i;

export function isCode(path: string): boolean {
  return CODE_ENDING().test(path);
}

/** "\n" typed in a prompt means a new line, except inside a nested quote, where it is likely code. */
function withLineBreaks(text: string): string {
  if (/["'`(][^"'`]*\\n[^"'`]*["'`]/.test(text)) return text;
  return text.replace(/\\n/g, "\n").replace(/\\t/g, "\t");
}
