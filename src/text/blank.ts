// Recognises blank text: whitespace and invisible characters only.

const visible = /[^\s\p{Cc}\p{Cf}]/u;

export function isBlankText(text: string): boolean {
  return !visible.test(text);
}
