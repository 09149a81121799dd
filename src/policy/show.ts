// Formats parts of a command for reasons: on one line, shortened, with invisible characters escaped.

export function showText(text: string): string {
  const visible = text.replace(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return visible.length > 100 ? `${visible.slice(0, 99)}…` : visible;
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
