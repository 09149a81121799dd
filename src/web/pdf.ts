// Extracts the text of a PDF. The library is large, so this file is imported only for a PDF.
import { getDocumentProxy } from "unpdf";

const maxPages = 300;

/** Reads page by page; if `signal` aborts, throws and discards what was read. */
export async function pdfToText(
  bytes: Uint8Array,
  { signal, maxCharacters }: { signal?: AbortSignal | undefined; maxCharacters: number },
): Promise<{ text: string; isCut: boolean }> {
  // Do not run programs in fonts, which are not needed for text.
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0 });
  try {
    const pages: string[] = [];
    let length = 0;
    let number = 1;
    for (; number <= Math.min(document.numPages, maxPages) && length < maxCharacters; number++) {
      signal?.throwIfAborted();
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      const text = items
        .map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : ""))
        .join("")
        .trim();
      page.cleanup();
      pages.push(text);
      length += text.length;
    }
    return { text: pages.filter(Boolean).join("\n\n"), isCut: number <= document.numPages };
  } finally {
    await document.destroy();
  }
}
