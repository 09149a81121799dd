// `generate-rule`: writes a project rule. Asks on a terminal for what was not given.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../../protocol/error-codes.ts";
import { realDirectory } from "../../run/real-directory.ts";
import { makeFolder, replaceFile } from "../../store/json-file.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";

type NewRule = { text: string; name: string; description?: string; globs?: string; always: boolean };

export async function generateRule(invocation: Invocation): Promise<number> {
  const { line, name: program } = invocation;
  const workspace = realDirectory(flagText(line.flags, "workspace") ?? ".", "--workspace");
  const { isatty } = await import("node:tty");
  const rule = isatty(0) ? await askFor(ruleFromFlags(invocation)) : complete(ruleFromFlags(invocation), program);
  checkName(rule.name);
  const folder = join(workspace, ".cursor", "rules");
  const file = join(folder, `${rule.name}.mdc`);
  if (existsSync(file) && !line.flags.has("force"))
    throw usageError(`${file} already exists. Choose another --name, or replace it with --force.`);
  makeFolder(folder, 0o755);
  replaceFile(file, ruleFileText(rule));
  return answer(`✓ ${file}\n${describeScope(rule)}\n`);
}

function ruleFromFlags({ line: { flags, words } }: Invocation): Partial<NewRule> & { always: boolean } {
  const text = words.join(" ").trim();
  const name = flagText(flags, "name");
  const description = flagText(flags, "description");
  const globs = flagText(flags, "globs");
  return {
    always: flags.has("always"),
    ...(text !== "" && { text }),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(globs !== undefined && { globs }),
  };
}

function complete(rule: Partial<NewRule> & { always: boolean }, program: string): NewRule {
  if (rule.text !== undefined) return { ...rule, text: rule.text, name: rule.name ?? nameFrom(rule.text) };
  throw usageError(
    `No text was given, and there is no terminal to ask. Example: ${program} rule "Use tabs." --name tabs`,
  );
}

async function askFor(rule: Partial<NewRule> & { always: boolean }): Promise<NewRule> {
  const { promptShown } = await import("../prompt-hidden.ts");
  const ask = async (question: string) => (await promptShown(question)).trim();
  const text = rule.text ?? (await ask("What should agents do here? "));
  if (text === "") throw usageError("A rule without text says nothing. Nothing was written.");
  const name = rule.name ?? ((await ask(`Name of the rule [${nameFrom(text)}]: `)) || nameFrom(text));
  const isSaid = rule.always || rule.globs !== undefined || rule.description !== undefined;
  if (isSaid) return { ...rule, text, name };
  const globs = await ask("For which files? Patterns such as src/**/*.ts, or nothing for all: ");
  return globs === "" ? { text, name, always: true } : { text, name, globs, always: false };
}

function ruleFileText({ text, description, globs, always }: NewRule): string {
  const isAlways = always || (globs === undefined && description === undefined);
  const head = [
    ...(description === undefined ? [] : [`description: ${description.replace(/\s+/g, " ")}`]),
    ...(globs === undefined ? [] : [`globs: ${globs}`]),
    `alwaysApply: ${isAlways}`,
  ];
  return `---\n${head.join("\n")}\n---\n\n${text}\n`;
}

function describeScope({ globs, description, always }: NewRule): string {
  if (always) return "It applies to every conversation.";
  if (globs !== undefined) return `It applies to files that match ${globs}.`;
  return description === undefined
    ? "It applies to every conversation."
    : "The model reads it when its description fits.";
}

function nameFrom(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 4).join("-") || "rule";
}

function checkName(name: string): void {
  if (/^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,99}$/u.test(name) && !name.includes("..")) return;
  throw usageError(`'${name}' cannot be the name of a rule: letters, digits, '-', '_', '.' and '/' only.`);
}
