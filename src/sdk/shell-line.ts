// Words as one line for a shell: for configuration files that name a command by its line.

export function shellLine(words: readonly string[], platform: NodeJS.Platform = process.platform): string {
  return words.map((word) => (platform === "win32" ? forWindows(word) : forPosix(word))).join(" ");
}

function forPosix(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function forWindows(word: string): string {
  return /^[\w@+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;
}

/** What a shell was started for: `/bin/bash -lc 'ls -l'` is `ls -l`. A line that is something else stays as it is. */
export function withoutShell(line: string): string {
  const [, word] = /^(?:\S*\/)?(?:ba|z|da|k)?sh -l?c (.+)$/s.exec(line) ?? [];
  return (word !== undefined && unquoted(word)) || line;
}

/** One word as a shell reads it; undefined where it is several. */
function unquoted(word: string): string | undefined {
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
