// Quotes words as one shell command line, for configuration files that store a command as a string.

export function shellLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  return words.map((word) => (platform === "win32" ? forWindows(word) : forPosix(word))).join(" ");
}

function forPosix(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function forWindows(word: string): string {
  return /^[\w@+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;
}

/** Removes the shell from a command line: `/bin/bash -lc 'ls -l'` becomes `ls -l`. Others are returned unchanged. */
export function withoutShell(line: string): string {
  const [, word] = /^(?:\S*\/)?(?:ba|z|da|k)?sh -l?c (.+)$/s.exec(line) ?? [];
  return (word !== undefined && unquoteWord(word)) || line;
}

/** Unquotes one word as a shell would; undefined if the text is more than one word. */
function unquoteWord(word: string): string | undefined {
  const pieces = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\$`;&|<>()]+)/gsy;
  let text = "";
  for (let at = 0; at < word.length; at = pieces.lastIndex) {
    pieces.lastIndex = at;
    const found = pieces.exec(word);
    if (!found) return undefined;
    const [, single, double, escaped, plain] = found;
    text += single ?? double?.replace(/\\([$`"\\\n])/g, "$1") ?? escaped ?? plain ?? "";
  }
  return text;
}
