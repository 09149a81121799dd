// Finds the keys that may be used for a vendor, and their sources.
import { programName } from "../text/program-name.ts";
import { type VendorRow, vendors } from "./catalog.ts";
import type { ApiKeySource, ModelChoice } from "./resolve.ts";

export type KeyList = { all: string[]; source: ApiKeySource };

/** Order: the flag, the vendor's own variables, CURSOR_API_KEY, the key saved by `login`. */
export function keyList(
  choice: ModelChoice,
  place: { variables: readonly string[]; vendor: string | undefined },
): KeyList {
  const found: [key: string | undefined, source: ApiKeySource][] = [
    [ownKey(choice.apiKeyFlag), "flag"],
    ...place.variables.map((name): [string | undefined, ApiKeySource] => [firstText(choice.env[name]), "env"]),
    [foreignKey(choice), "env"],
    [place.vendor && savedKey(choice, place.vendor), "login"],
  ];
  const usable = found.filter((each): each is [string, ApiKeySource] => each[0] !== undefined);
  // Use only the key from the command line, if there is one.
  const tried = ownKey(choice.apiKeyFlag) ? usable.slice(0, 1) : usable;
  return { all: [...new Set(tried.map(([key]) => key))], source: tried[0]?.[1] ?? givenSource(choice) };
}

/** Reports whether a key was given, even if the model needs none; readers of the stream want to know. */
export function givenSource({ apiKeyFlag, env }: ModelChoice): ApiKeySource {
  if (firstText(apiKeyFlag)) return "flag";
  // AWS key ids are not listed, since they are often set for other programs.
  const variables = ["CURSOR_API_KEY", ...vendors.flatMap(({ keyVariables }) => keyVariables)].filter(
    (name) => !name.endsWith("_ID"),
  );
  return variables.some((name) => firstText(env[name])) ? "env" : "none";
}

/** Reports whether this is a key of Cursor's own service, which must not be sent to other vendors. */
export function isForeignKey(key: string): boolean {
  return /^(key|crsr)_/.test(key);
}

/** Returns the value of CURSOR_API_KEY, which may be the key of any vendor. */
export function foreignKey(choice: ModelChoice): string | undefined {
  return ownKey(choice.env["CURSOR_API_KEY"]);
}

/** Returns the key; undefined if there is none, or it is one of Cursor's own service, which other servers do not accept. */
export function ownKey(text: string | undefined): string | undefined {
  const key = firstText(text);
  return key && isForeignKey(key) ? undefined : key;
}

/** Reports whether the vendor has a key of its own, not one given for this run. */
export function hasOwnKey(choice: ModelChoice, vendor: VendorRow): boolean {
  const variables = vendor.keyVariables.map((name) => choice.env[name]);
  return firstText(...variables, savedKey(choice, vendor.name)) !== undefined;
}

function savedKey({ keys }: ModelChoice, vendor: string): string | undefined {
  return keys && Object.hasOwn(keys, vendor) ? firstText(keys[vendor]) : undefined;
}

export function keyAdvice(choice: ModelChoice, vendor: VendorRow): string {
  const program = choice.program ?? programName();
  const variable = vendor.keyVariables[0];
  const first = variable
    ? `Type: export ${variable}=<key>, or ${program} login ${vendor.name}`
    : `Type: ${program} login ${vendor.name}`;
  return `${first}, or pass it with --api-key <key>.`;
}

/** Returns the first text that is not blank, trimmed. */
export function firstText(...texts: (string | undefined)[]): string | undefined {
  return texts.map((text) => text?.trim()).find((text) => text);
}
