// `trust`: lists, adds and removes trusted folders. Agents may not change them.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { usageError } from "../../../protocol/error-codes.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import { isTrusted, isWide, revokeTrust, trust, trustedFolders } from "../../../store/trust.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { refuseAgents } from "../refuse-agents.ts";

export async function listTrusted(invocation: Invocation): Promise<number> {
  const config = configDir(invocation.env);
  const folders = trustedFolders(config).map((path) => ({ path, exists: existsSync(path) }));
  if (wantsJson(invocation)) return answerJson(folders);
  if (folders.length === 0)
    return answer(`No directory is trusted yet. To trust this one: ${invocation.name} trust add\n`);
  const here = realDirectory(".", "trust");
  const state = isTrusted(config, here) ? "is trusted" : `is not trusted. To trust it: ${invocation.name} trust add`;
  return answer(
    `Trusted directories, whose settings, hooks and servers are used:\n${folders
      .map(({ path, exists }) => `  ${path}${exists ? "" : "  (gone)"}\n`)
      .join("")}\nThis one, ${here}, ${state}\n`,
  );
}

export async function addTrust(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "what is trusted");
  const config = configDir(invocation.env);
  const folder = realDirectory(onePath(invocation, words), "trust add");
  const before = isTrusted(config, folder);
  if (!before && isWide(folder, homeDir(invocation.env))) {
    const question = `${folder} is not a project but contains many. Its settings, hooks and servers would be used. Trust it?`;
    if (!(await askToConfirm(invocation, question, `trust add ${folder} --yes`)))
      return answer("Nothing was changed.\n");
  }
  trust(config, folder);
  if (wantsJson(invocation)) return answerJson({ path: folder, changed: !before });
  return answer(before ? `${folder} is already trusted.\n` : `✓ Trusted: ${folder}\n`);
}

export async function removeTrust(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "what is trusted");
  // Trust can be removed from a folder that no longer exists.
  const resolvedFolder = resolve(onePath(invocation, words));
  const folder = existsSync(resolvedFolder) ? realDirectory(resolvedFolder, "trust remove") : resolvedFolder;
  const changed = revokeTrust(configDir(invocation.env), folder);
  if (wantsJson(invocation)) return answerJson({ path: folder, changed });
  return answer(changed ? `✓ No longer trusted: ${folder}\n` : `${folder} is not trusted, so nothing was changed.\n`);
}

function onePath({ name, line }: Invocation, words: readonly string[]): string {
  if (words.length > 1)
    throw usageError(
      `'trust ${line.words[0]}' takes one path, not ${words.length}. Quote a path with spaces: ${name} trust ${line.words[0]} "${words.join(" ")}"`,
    );
  return words[0] ?? ".";
}
