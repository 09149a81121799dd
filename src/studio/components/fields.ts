// Args and results of calls are foreign: what is not there, or is something else, counts as empty.
import { isObject, type JsonObject } from "../../json/object.ts";

export function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
