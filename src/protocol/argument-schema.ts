// Arguments against the JSON Schema of their tool, which a stranger may have written.
import { valueFault } from "../json/schema.ts";

/** What is wrong, as a sentence with the place in it. Undefined: the value fits. Keywords unknown here do not restrict. */
export function schemaFault(value: unknown, schema: unknown, place = "arguments"): string | undefined {
  return valueFault(value, schema, { place });
}
