// Describes the keys of one kind of JSON object, in order; the same rows compare and write it.
import { type JsonObject, setUntrustedKey } from "./object.ts";

/**
 * What an object contains beyond its table. `keys`: all keys in order, if the writer here would choose another. `fields`: values without a
 * row. `inner`: the same for nested objects.
 */
export type Carried = { keys?: string[]; fields?: JsonObject; inner?: Record<string, Carried> };

/** An undefined `sessionId` is unknown, and any matches. `callSiblings`, `segmentTimes`, … are false where a profile has none. */
export type Scope = {
  sessionId: string | undefined;
  callSiblings?: boolean;
  segmentTimes?: boolean;
  extensions?: boolean;
};

export type Row<Event> = {
  /** The key; empty if it differs between objects, in which case the caller passes it. */
  key: string;
  /** When our program writes the key; `foreign` means that only other programs do. */
  when: "always" | "given" | "foreign";
  /** Returns whether the event made from this line holds this value. If not, it must be carried. */
  holds(value: unknown, event: Event, scope: Scope): boolean | Carried;
  /** Returns the value for the key as the event contains it, or undefined to omit the key. */
  write(event: Event, scope: Scope, carried: Carried | undefined): unknown;
};

export type Table<Event> = {
  rows: Row<Event>[];
  /** Keys without a row belong to the event itself. `before` is the row that they are written in front of. */
  rest?: {
    before: string;
    of(event: Event): JsonObject | undefined;
    add(event: Event, key: string, value: unknown): void;
  };
};

type KeyComparison<Event> = { table: Table<Event>; event: Event; scope: Scope; name?: string };

/** Returns what the event does not represent of an object, including an unusual order of keys; undefined if there is nothing. */
export function compareObject<Event>(object: JsonObject, place: KeyComparison<Event>): Carried | undefined {
  const { table, event, scope, name } = place;
  const { rows } = table;
  let inner: Record<string, Carried> | undefined;
  let position = 0;
  let seen = 0;
  // Use for-in, which is the fastest way to read the values of parsed objects.
  for (const key in object) {
    let row = rows[position];
    while (row && row.when !== "always" && row.key !== key) row = rows[++position];
    const isNext = row && row.when !== "foreign" && (row.key === "" ? name : row.key) === key;
    const held = isNext && row!.holds(object[key], event, scope);
    if (!held) return compareUnusual(object, place, { seen, inner });
    if (held !== true) (inner ??= {})[key] = held;
    position++;
    seen++;
  }
  for (; position < rows.length; position++) {
    if (rows[position]!.when === "always") return compareUnusual(object, place, { seen, inner });
  }
  return inner && { inner };
}

/** `seen` is how many keys the event already accounts for; `inner` is what their values carry. */
function compareUnusual<Event>(
  object: JsonObject,
  place: KeyComparison<Event>,
  soFar: { seen: number; inner: Record<string, Carried> | undefined },
): Carried | undefined {
  const { table, event, scope, name } = place;
  const carried: Carried = {};
  if (soFar.inner) carried.inner = soFar.inner;
  const keys = Object.keys(object);
  for (let index = soFar.seen; index < keys.length; index++) {
    const key = keys[index]!;
    const row = rowOf(table, key, name);
    const held = row ? row.holds(object[key], event, scope) : false;
    if (held === true) continue;
    if (held !== false) setUntrustedKey((carried.inner ??= {}), key, held);
    else if (!row && table.rest) table.rest.add(event, key, object[key]);
    else setUntrustedKey((carried.fields ??= {}), key, object[key]);
  }
  if (carried.fields || !isOurOrder(keys, place, carried)) carried.keys = keys;
  return carried.keys || carried.inner ? carried : undefined;
}

/** Returns whether the writer here would choose these keys in this order. */
function isOurOrder<Event>(keys: string[], place: KeyComparison<Event>, { inner }: Carried): boolean {
  const scope = { ...place.scope, sessionId: place.scope.sessionId ?? "" };
  const ours = Object.keys(writeObject({ ...place, scope }, inner && { inner }));
  return keys.length === ours.length && keys.every((key, index) => key === ours[index]);
}

export function writeObject<Event>(place: KeyComparison<Event>, carried?: Carried): JsonObject {
  const { table, event, scope, name = "" } = place;
  const object: JsonObject = {};
  if (carried?.keys) {
    for (const key of carried.keys) {
      const value = valueFor(key, place, carried);
      if (value !== undefined) setUntrustedKey(object, key, value);
    }
    return object;
  }
  for (const row of table.rows) {
    if (table.rest?.before === row.key) addRest(object, table, table.rest.of(event));
    if (row.when === "foreign") continue;
    const key = row.key || name;
    const value = row.write(event, scope, carried?.inner?.[key]);
    if (value !== undefined) setUntrustedKey(object, key, value);
  }
  return object;
}

function valueFor<Event>(key: string, { table, event, scope, name }: KeyComparison<Event>, carried: Carried): unknown {
  if (carried.fields && Object.hasOwn(carried.fields, key)) return carried.fields[key];
  const row = rowOf(table, key, name);
  if (row) return row.write(event, scope, carried.inner?.[key]);
  const rest = table.rest?.of(event);
  return rest && Object.hasOwn(rest, key) ? rest[key] : undefined;
}

/** Adds further keys of an event. They never overwrite keys of the table. */
function addRest<Event>(object: JsonObject, table: Table<Event>, rest: JsonObject | undefined): void {
  if (!rest) return;
  for (const key of Object.keys(rest)) if (!rowOf(table, key, undefined)) setUntrustedKey(object, key, rest[key]);
}

function rowOf<Event>(table: Table<Event>, key: string, name: string | undefined): Row<Event> | undefined {
  for (const row of table.rows) if ((row.key === "" ? name : row.key) === key) return row;
  return undefined;
}
