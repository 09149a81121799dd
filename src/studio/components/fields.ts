// Reads untrusted arguments and results of calls: missing or mistyped values count as empty.
import { isObject, type JsonObject } from "../../json/object.ts";

export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
