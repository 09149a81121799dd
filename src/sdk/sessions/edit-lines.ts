// Appends to and copies JSON Lines files of other programs, readable by their owner alone.
import { appendFileSync, closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { isObject, type JsonObject } from "../../json/object.ts";
import { readJsonLines } from "./lines.ts";

/** Appends a line, after a line break if the last line has none. */
export function appendLine(path: string, line: object): void {
  const file = openSync(path, "r");
  let isOpen = false;
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    isOpen = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 10;
  } finally {
    closeSync(file);
  }
  appendFileSync(path, `${isOpen ? "\n" : ""}${JSON.stringify(line)}\n`);
}

/** Copies a file line by line; `change` may replace a line. Damaged lines are left out. */
export function copyLines(path: string, copy: string, change: (line: JsonObject) => object): void {
  const file = openSync(copy, "wx", 0o600);
  try {
    readJsonLines(path, (value) => {
      writeSync(file, `${JSON.stringify(isObject(value) ? change(value) : value)}\n`);
    });
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}
