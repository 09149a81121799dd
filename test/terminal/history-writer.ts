// One of several processes that write the history at the same time.
import { openPromptFile } from "../../src/store/prompt-history.ts";

export function main([configDir, number]: string[]): number {
  const file = openPromptFile({ configDir: configDir!, workspace: "/w" });
  for (let count = 0; count < 40; count++) file.add({ text: `${number}: message ${count} ${"x".repeat(500)}` });
  return 0;
}
