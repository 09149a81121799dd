// Turns TypeScript into CommonJS: removes types and keeps line numbers.
import { transform } from "sucrase";

export function stripTypes(source: string, file: string): string {
  return transform(source.replace(/^#!/, "//"), {
    transforms: ["typescript", "imports"],
    disableESTransforms: true,
    production: true,
    filePath: file,
  }).code;
}
