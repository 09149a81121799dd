// The text of a PDF. The library is large: loaded when there is one.
import { getDocumentProxy } from "unpdf";

const mostPages = 300;

/** Page by page; what has been read when `signal` ends it is dropped with the error. */
export async function pdfToText(
  bytes: Uint8Array,
  { signal, mostCharacters }: { signal?: AbortSignal | undefined; mostCharacters: number },
): Promise<{ text: string; isCut: boolean }> {
  // Its fonts could hold programs; text needs none of them.
  const document = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, verbosity: 0 });
  try {
    const pages: string[] = [];
    let length = 0;
    let number = 1;
    for (; number <= Math.min(document.numPages, mostPages) && length < mostCharacters; number++) {
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
