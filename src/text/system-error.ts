// Translates system errors: "no such file" instead of "ENOENT: no such file or directory, open '…'".

const words: Record<string, string> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EPERM: "not permitted",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is not a directory",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open",
  ENOSPC: "the disk is full",
  EROFS: "the disk is read-only",
};

export function systemErrorText(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && Object.hasOwn(words, code)) return words[code]!;
  return (message ?? String(error)).replace(/^[A-Z][A-Z0-9]+: /, "").replace(/, \w+ '[^']*'$/, "");
}
