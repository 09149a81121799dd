// Streams in the shapes that the original CLI writes: every tool, every outcome, older and newer lines, whole and cut off.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Stream = {
  name: string;
  /** Whole lines, as they are written. */
  lines: string[];
  /** What stands after the last line end: a line that was cut off. */
  rest: string;
};

export const streams: Stream[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".jsonl"))
  .sort()
  .map((name) => {
    const lines = readFileSync(join(import.meta.dirname, name), "utf8").split("\n");
    return { name: name.replace(".jsonl", ""), rest: lines.pop()!, lines };
  });

export function valuesOf({ lines }: Stream): Record<string, any>[] {
  return lines.map((line) => JSON.parse(line) as Record<string, any>);
}
