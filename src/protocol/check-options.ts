// The options of the library's functions, checked by a table: a name that nobody knows, or a value of the wrong kind, is reported in one way.
import type { FieldTable } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import { didYouMean } from "../text/nearest.ts";
import { UserError } from "./error-codes.ts";

export type CheckedCall = {
  /** What the caller should have passed. */
  example?: string;
  required?: string;
  /** What people write who know other libraries, and what it is called here. */
  habits?: ReadonlyMap<string, string>;
};

/** Throws UserError. */
export function checkOptions(caller: string, options: unknown, table: FieldTable, call: CheckedCall = {}): void {
  const fault = optionsFault(caller, options, table, call);
  if (fault !== undefined) throw misuse(fault);
}

/** The same as a sentence; undefined: nothing is wrong. */
export function optionsFault(
  caller: string,
  options: unknown,
  table: FieldTable,
  { example = "{ … }", required, habits }: CheckedCall = {},
): string | undefined {
  if (!isObject(options)) return `${caller} takes an object: ${caller}(${example}).`;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(table, name) ? table[name] : undefined;
    if (!check) return `${caller}: unknown option '${name}'.${meant(name, table, habits)}`;
    const fault = check(value);
    if (fault !== undefined) return `${caller}: ${name} ${fault}.`;
  }
  if (required !== undefined && options[required] === undefined)
    return `${caller} needs ${required}: ${caller}(${example}).`;
  return undefined;
}

/** As many names as a line can hold. */
const mostListed = 12;

function meant(name: string, table: FieldTable, habits: CheckedCall["habits"]): string {
  const habit = habits?.get(name);
  const [option = ""] = habit?.match(/^\w+/) ?? [];
  if (Object.hasOwn(table, option)) return ` Here it is ${habit}.`;
  const names = Object.keys(table);
  return didYouMean(name, names, names.length > mostListed ? "" : ` The options are ${names.join(", ")}.`);
}

export function misuse(message: string): UserError {
  return new UserError("USAGE", message);
}
