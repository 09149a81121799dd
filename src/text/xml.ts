// Text as the value of an attribute in XML, with its quotes.

const named: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML takes no control characters, not even as a number. */
export function xmlAttribute(text: string): string {
  const clean = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return `"${clean.replace(/[&<>"]/g, (each) => named[each]!).replace(/[\t\n\r]/g, " ")}"`;
}
