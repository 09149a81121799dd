// The grammar of normal and visual mode: parses keys into a command, or waits for more.
import { motions, takesCharacter } from "./motions.ts";
import { textObjects } from "./objects.ts";

/** `motion: "line"` means that the operator was doubled and takes whole lines. */
export type Command = {
  count?: number;
  operator?: string;
  motion?: string;
  object?: { name: string; around: boolean };
  /** The name of the command, if it has no operator. */
  key?: string;
  argument?: string;
};

const operators = new Set(["d", "c", "y", ">", "<", "gu", "gU", "g~"]);

/** Keys that are abbreviations of an operator with a motion. */
const shorthands: Record<string, Command> = {
  x: { operator: "d", motion: "l" },
  X: { operator: "d", motion: "h" },
  D: { operator: "d", motion: "$" },
  C: { operator: "c", motion: "$" },
  s: { operator: "c", motion: "l" },
  S: { operator: "c", motion: "line" },
  Y: { operator: "y", motion: "line" },
};

const commands = new Set([..."iIaAoOrR~JpPu.vV", "gJ", "ctrl+r"]);
const visualCommands = new Set([..."iaoOrR~JpPuUxXDCsSYvV", "gJ"]);

/** Returns "more" for an incomplete command and "none" if no command begins with these keys. */
export function parse(keys: readonly string[], { isVisual }: { isVisual: boolean }): Command | "more" | "none" {
  let at = 0;

  function parseCount(): number | undefined {
    const start = at;
    while (/^\d$/.test(keys[at] ?? "") && (at > start || keys[at] !== "0")) at++;
    return at === start ? undefined : Math.min(99_999, Number(keys.slice(start, at).join("")));
  }

  /** Reads the keys of one name: two keys if the first is `g`, otherwise one. */
  function parseName(): string | undefined {
    const key = keys[at++];
    if (key !== "g") return key;
    const second = keys[at++];
    return second === undefined ? undefined : key + second;
  }

  const first = parseCount();
  const key = parseName();
  if (key === undefined) return "more";
  const counted = (second?: number): Pick<Command, "count"> =>
    first === undefined && second === undefined ? {} : { count: Math.min(99_999, (first ?? 1) * (second ?? 1)) };

  if (isVisual && (key === "i" || key === "a")) return parseTextObject(key, {});
  if (operators.has(key)) return isVisual ? { operator: key, ...counted() } : parseOperator(key);
  if (!isVisual && key in shorthands) return { ...shorthands[key], ...counted() };
  if (key in motions) return parseMotion(key, counted());
  if (!(isVisual ? visualCommands : commands).has(key)) return "none";
  if (key !== "r") return { key, ...counted() };
  const argument = keys[at];
  return argument === undefined ? "more" : { key, argument, ...counted() };

  function parseOperator(operator: string): Command | "more" | "none" {
    const second = parseCount();
    if (keys[at] === undefined) return "more";
    const isDoubled = keys[at] === operator || (operator.length === 2 && keys[at] === operator[1]);
    if (isDoubled) return { operator, motion: "line", ...counted(second) };
    const target = parseName();
    if (target === undefined) return "more";
    if (target === operator) return { operator, motion: "line", ...counted(second) };
    if (target === "i" || target === "a") return parseTextObject(target, { operator, ...counted(second) });
    return target in motions ? parseMotion(target, { operator, ...counted(second) }) : "none";
  }

  function parseTextObject(kind: "i" | "a", command: Command): Command | "more" | "none" {
    const target = keys[at];
    if (target === undefined) return "more";
    if (!(target in textObjects)) return "none";
    return { ...counted(), ...command, object: { name: target, around: kind === "a" } };
  }

  function parseMotion(motion: string, command: Command): Command | "more" {
    if (!takesCharacter.has(motion)) return { ...command, motion };
    const argument = keys[at];
    return argument === undefined ? "more" : { ...command, motion, argument };
  }
}
