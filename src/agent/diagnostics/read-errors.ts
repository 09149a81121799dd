// Parses errors as language servers report them.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { FoundError } from "./new-errors.ts";

const errorSeverity = 1;

/** Returns the errors among the diagnostics, without warnings and hints. */
export function errorsIn(diagnostics: readonly unknown[]): FoundError[] {
  return diagnostics.filter(isObject).flatMap(({ severity = errorSeverity, range, message, code }) => {
    const start = isObject(range) && isObject(range["start"]) ? range["start"] : {};
    if (severity !== errorSeverity || typeof message !== "string") return [];
    return [{ line: numberIn(start["line"]), column: numberIn(start["character"]), message, code: codeIn(code) }];
  });
}

/** Parses the TypeScript server's own format, with lines and columns from 1. */
export function tsserverError({ start, text, code, category }: JsonObject): FoundError[] {
  if (category !== "error" || typeof text !== "string" || !isObject(start)) return [];
  return [
    { line: numberIn(start["line"]) - 1, column: numberIn(start["offset"]) - 1, message: text, code: codeIn(code) },
  ];
}

function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function codeIn(code: unknown): string {
  return typeof code === "string" || typeof code === "number" ? String(code) : "";
}
