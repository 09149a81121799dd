// Builds command lines for Windows, where `.cmd` and `.bat` files start only through a shell that parses every word again.

/** Reports whether Windows can start this program only through its shell. */
export function isBatchFile(program: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === "win32" && /\.(cmd|bat)$/i.test(program);
}

/**
 * Returns what to spawn so that `program` gets `args` unchanged. `verbatim`: they are quoted already, and Node must not quote them again.
 */
export function spawnWords(
  program: string,
  args: readonly string[],
  { platform = process.platform, shell = "cmd.exe" }: { platform?: NodeJS.Platform; shell?: string | undefined } = {},
): { program: string; args: readonly string[]; verbatim: boolean } {
  if (!isBatchFile(program, platform)) return { program, args, verbatim: false };
  // Escape twice: a batch file passes its arguments to a program in a line that the shell parses a second time.
  const words = [
    escapeMeta(quoteArgument(program)),
    ...args.map((word) => escapeMeta(escapeMeta(quoteArgument(word)))),
  ];
  return { program: shell, args: ["/d", "/s", "/c", `"${words.join(" ")}"`], verbatim: true };
}

/** Quotes for the C runtime of Windows, where backslashes are special only before a quotation mark. */
function quoteArgument(word: string): string {
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

function escapeMeta(text: string): string {
  return text.replace(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}

/** Returns whether an argument can be passed through the shell at all, which one with a line break cannot. */
export function passesBatch(word: string): boolean {
  return !/[\r\n\0]/.test(word);
}
