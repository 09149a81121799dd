// The reader of PDF files is one large file, small already: it is put beside the chunks instead of being bundled and made small again.
import { copyFileSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const pdfReader = join(dirname(createRequire(import.meta.url).resolve("unpdf")), "pdfjs.mjs");

export function pdfReaderBeside(name) {
  return {
    name: "pdf-reader-beside",
    setup(build) {
      build.onResolve({ filter: /^unpdf\/pdfjs$/ }, () => ({ path: `./${name}`, external: true }));
    },
  };
}

export function pdfReaderText() {
  return readFileSync(pdfReader, "utf8");
}

export function copyPdfReader(file) {
  copyFileSync(pdfReader, file);
}
