// Sparing: "…, but keep a.txt" — files that nothing may happen to.
import { isChange } from "./accounting.ts";
import { takeFiles } from "./phrases.ts";
import type { PromptContext, Step } from "./steps.ts";

const KEEP = () =>
  /^(?:(?:but|and|please|just)\s+)*(?:keep|leave|(?:do not|don't|dont|never)\s+(?:delete|remove|touch|change|modify|edit|overwrite))\s+(.+?)(?:\s+(?:as (?:it )?is|alone|untouched|intact|unchanged))?[\s.!]*$/i;

/** "…, but keep a.txt": the files that nothing may happen to. "anything": all of them. */
export function sparedFiles(words: string, scene: PromptContext): string[] | undefined {
  const object = KEEP().exec(words)?.[1];
  if (object === undefined) return undefined;
  if (/^anything$/i.test(object)) return ["anything"];
  const last = scene.steps.at(-1);
  // "clear a.txt but keep the file".
  if (/^(?:the (?:empty )?file|it)(?: itself)?$/i.test(object) && last?.do === "write" && last.isThere) return [];
  const found = takeFiles(object, scene);
  return found && found.rest.trim() === "" ? found.files.map((file) => file.path) : undefined;
}

/** Whether the steps leave this file alone; those that choose files by a pattern are told to. */
export function spares(steps: readonly Step[], path: string): boolean {
  return steps.filter(isChange).every((step) => {
    if (step.do !== "each") return "path" in step && step.path !== path && path !== "anything";
    step.except = [...(step.except ?? []), path];
    return path !== "anything";
  });
}
