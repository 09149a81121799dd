// Writes a hook script to begin with: executable, for every host, useful as it stands.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../protocol/error-codes.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { hooksContext, onlyWord, shownFile } from "./context.ts";
import { isFile, scriptFolder } from "./script.ts";
import { findLauncher, scriptText } from "./template.ts";

export async function initHook(invocation: Invocation, words: readonly string[]): Promise<number> {
  const word = onlyWord(words, "init") ?? "format";
  const context = hooksContext(invocation);
  const name = word.replace(/\.ts$/, "");
  if (!/^[\w][\w.-]{0,63}$/.test(name)) {
    throw new UserError(
      "USAGE",
      `'${word}' is not a valid script name: letters, digits, dots and dashes. It is written to ${scriptFolder}.`,
    );
  }
  const folder = join(context.workspace, scriptFolder);
  const file = join(folder, `${name}.ts`);
  if (isFile(file) && !invocation.line.flags.has("force")) {
    throw new UserError(
      "INSTALL_REFUSED",
      `${shownFile(file, context)} already exists and was left as it is. To overwrite it: ${invocation.name} hooks init ${name} --force`,
    );
  }
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, scriptText, { mode: 0o777 });
    chmodSync(file, 0o755);
  } catch (error) {
    throw new UserError("STORE_FAILED", `${file} could not be written: ${(error as Error).message}.`);
  }
  const shown = shownFile(file, context);
  const next = `${invocation.name} hooks install ${shown}`;
  const found = findLauncher(file, context) !== undefined;
  if (wantsJson(invocation)) return answerJson({ file, next, launcherFound: found });
  const advice = found
    ? ""
    : "Note: courser-hook, which runs it, was not found. Type: npm install --global courser-agent\n";
  return answer(`✓ ${shown}\nRead it, edit it, then install it: ${next}\n${advice}`);
}
