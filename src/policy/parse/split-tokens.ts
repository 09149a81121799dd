// Lines that are continued inside of something that is more than a word. The shell joins lines before it looks for operators,
// keywords and names; the parser does so inside of words only. Nobody writes so, except to be misread.

/** The source of a pattern, with `~` for the end of a line that goes on. */
function continued(pattern: string): RegExp {
  return new RegExp(pattern.replaceAll("~", "(?:\\\\\\n)+"));
}

/** Two characters that together are an operator, or begin an expansion. */
const splitOperator = continued("[$]~|[|]~[|&]|&~[&>]|;~[;&]|<~[<>&(-]|>~[>&|(]|[\\w(=?*+@!]~[(]");
/** Names of variables, where they are used and where they are set. */
const splitName = continued("[$]\\w+~\\w|[$][{]\\W?\\w*~|(?:^|[\\s;&|(])\\w+~\\w*[+]?(?:~)?=");
const word = /(?:[^\s\\]|\\[\s\S])+/g;
const keyword = /^(if|then|elif|else|fi|for|while|until|do|done|case|esac|in|select|function|coproc|time|\[\[|\]\])$/;

/** Says what is split; undefined where lines are continued as people do it. */
export function splitToken(source: string): string | undefined {
  if (!source.includes("\\\n")) return undefined;
  if (splitOperator.test(source)) return "an operator of it is split over two lines";
  if (splitName.test(source)) return "a name in it is split over two lines";
  const delimiters = new Set(Array.from(source.matchAll(/<<-?\s*(\S+)/g), ([, text]) => text!.replace(/["'\\]/g, "")));
  for (const [text] of source.matchAll(word)) {
    if (!text.includes("\\\n")) continue;
    const joined = text.replaceAll("\\\n", "");
    if (delimiters.has(joined) || keyword.test(joined.replace(/^[^a-z[\]]+|[^a-z[\]]+$/g, "")))
      return "a keyword of it is split over two lines";
  }
  return undefined;
}
