// What counts as nothing: blanks, and characters that nobody can see.

const visible = /[^\s\p{Cc}\p{Cf}]/u;

export function isBlankText(text: string): boolean {
  return !visible.test(text);
}
