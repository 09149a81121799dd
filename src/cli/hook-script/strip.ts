// TypeScript to CommonJS: types go, lines stay where they are.
import { transform } from "sucrase";

export function strip(source: string, file: string): string {
  return transform(source.replace(/^#!/, "//"), {
    transforms: ["typescript", "imports"],
    disableESTransforms: true,
    production: true,
    filePath: file,
  }).code;
}
