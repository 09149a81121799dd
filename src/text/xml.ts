// Formats text as a quoted XML attribute value.

const named: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML does not allow control characters, even as character references. */
export function xmlAttribute(text: string): string {
  const clean = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return `"${clean.replace(/[&<>"]/g, (each) => named[each]!).replace(/[\t\n\r]/g, " ")}"`;
}
