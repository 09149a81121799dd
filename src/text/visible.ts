// Makes untrusted text visible: escapes characters that move the cursor, are invisible, or change the reading direction.

/** Replaces invisible characters except line breaks and tabs by their code points. */
export function visible(text: string): string {
  // Skip the replacement for ASCII, which nearly all text is.
  return /[^\n\t\x20-\x7e]/.test(text) ? text.replace((hidden ??= hiddenPattern()), spellCharacter) : text;
}

/** Removes terminal sequences (colours, titles, links) and normalises line ends. */
export function withoutTerminalCodes(text: string): string {
  return text.replace(terminalCodes, "").replace(/\r\n?/g, "\n");
}

const terminalCodes = /\x1b\[[0-9;:?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)/g;

/** Matches scripts that need joiners between characters. */
const joining =
  "\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}";

/** Invisible characters that are part of visible ones: in emoji, flags, and scripts that need them. */
const wanted = [
  "(?<=[\\p{Extended_Pictographic}\\u{1f3fb}-\\u{1f3ff}]\\ufe0f?)\\u200d(?=\\p{Extended_Pictographic})",
  `(?<=[${joining}])[\\u200c\\u200d](?=[${joining}])`,
  "(?<=[\\p{Emoji}\\u00a9\\u00ae])[\\ufe0e\\ufe0f]",
  "(?<=\\p{Script=Han})[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]",
  "(?<=\\u{1f3f4})[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{3,6}\\u{e007f}",
];

let hidden: RegExp | undefined;

/** Returns the pattern of hidden characters, which is compiled for the first text that needs it. */
function hiddenPattern(): RegExp {
  return new RegExp(
    `${wanted.join("|")}|([\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\p{Cs}\\p{Default_Ignorable_Code_Point}\\u2028\\u2029\\ufff9-\\ufffb])`,
    "gu",
  );
}

function spellCharacter(found: string, unwanted: string | undefined): string {
  if (unwanted === undefined) return found;
  const number = unwanted.codePointAt(0)!.toString(16);
  return number.length > 4 ? `\\u{${number}}` : `\\u${number.padStart(4, "0")}`;
}
