// Command lines for Windows, where `.cmd` and `.bat` files start only through a shell that reads every word again.

/** Windows starts these only through its shell. */
export function isBatchFile(program: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === "win32" && /\.(cmd|bat)$/i.test(program);
}

/** What to spawn so that `program` gets `args` word for word. `verbatim`: they are quoted already, nothing may be added to them. */
export function spawnWords(
  program: string,
  args: readonly string[],
  { platform = process.platform, shell = "cmd.exe" }: { platform?: NodeJS.Platform; shell?: string } = {},
): { program: string; args: readonly string[]; verbatim: boolean } {
  if (!isBatchFile(program, platform)) return { program, args, verbatim: false };
  // A batch file hands its words to a program in a line that the shell reads a second time.
  const words = [escapeMeta(quoted(program)), ...args.map((word) => escapeMeta(escapeMeta(quoted(word))))];
  return { program: shell, args: ["/d", "/s", "/c", `"${words.join(" ")}"`], verbatim: true };
}

/** As the C runtime of Windows takes a line apart: backslashes count only before a quotation mark. */
function quoted(word: string): string {
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, "$1$1")}"`;
}

function escapeMeta(text: string): string {
  return text.replace(/[()[\]%!^"`<>&|;, *?]/g, "^$&");
}

/** Words with a line end cannot pass through the shell at all. */
export function passesBatch(word: string): boolean {
  return !/[\r\n\0]/.test(word);
}
