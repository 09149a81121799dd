// Checks the options of the library's functions against a table, and reports unknown names and invalid values in one format.
import type { FieldTable } from "../json/checks.ts";
import { isObject } from "../json/object.ts";
import { didYouMean } from "../text/nearest.ts";
import { usageError } from "./error-codes.ts";

export type CheckedCall = {
  /** An example value for the error message. */
  example?: string;
  required?: string;
  /** Option names in other libraries, with the name that is used here. */
  habits?: ReadonlyMap<string, string>;
};

/** Throws a UserError for the first invalid option. */
export function checkOptions(caller: string, options: unknown, table: FieldTable, call: CheckedCall = {}): void {
  const fault = optionsFault(caller, options, table, call);
  if (fault !== undefined) throw usageError(fault);
}

/** Returns the same fault as a sentence, or undefined if the options are valid. */
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
    if (!check) return `${caller}: unknown option '${name}'.${suggestionFor(name, table, habits)}`;
    const fault = check(value);
    if (fault !== undefined) return `${caller}: ${name} ${fault}.`;
  }
  if (required !== undefined && options[required] === undefined)
    return `${caller} needs ${required}: ${caller}(${example}).`;
  return undefined;
}

/** The most option names that fit in one line of an error message. */
const maxListed = 12;

function suggestionFor(name: string, table: FieldTable, habits: CheckedCall["habits"]): string {
  const habit = habits?.get(name);
  const [option = ""] = habit?.match(/^\w+/) ?? [];
  if (Object.hasOwn(table, option)) return ` Here it is ${habit}.`;
  const names = Object.keys(table);
  return didYouMean(name, names, names.length > maxListed ? "" : ` The options are ${names.join(", ")}.`);
}
