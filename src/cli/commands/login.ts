// `login` and `logout`: save and delete the vendors' API keys. No part of a key is ever shown.
import { findModel, findVendor, vendors } from "../../model/catalog.ts";
import { movedUrl, vendorRow } from "../../model/endpoint.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { authFile, readKeys, removeKeys, saveKey } from "../../store/auth.ts";
import { configDir } from "../../store/config-dir.ts";
import { didYouMean } from "../../text/nearest.ts";
import { systemErrorText } from "../../text/system-error.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { writeStderr } from "../stdout.ts";
import { answer } from "./answer.ts";
import { type ChosenModel, chosenModel } from "./chosen-model.ts";

export async function login(invocation: Invocation): Promise<number> {
  const { env, line } = invocation;
  const chosen = chosenModel(invocation);
  const keyFlag = flagText(line.flags, "api-key");
  const { isatty } = await import("node:tty");
  const onTerminal = isatty(0);
  let vendor =
    vendorWord(invocation, Object.keys(chosen.choice.endpoints ?? {})) ??
    vendorOfModel(chosen) ??
    vendorOfKey(keyFlag ?? "");
  if (vendor === undefined && onTerminal) vendor = await askVendor();
  const key = checkKey(keyFlag ?? (onTerminal ? await askKey(vendor!) : await readStdin()));
  vendor ??= vendorOfKey(key);
  if (vendor === undefined) {
    throw usageError(
      `login needs a vendor. Type: ${invocation.name} login <vendor>, with one of ${vendorsWithKeys().join(", ")}.`,
    );
  }

  const note = line.flags.has("no-verify") ? undefined : await verify(vendor, key, chosen);
  saveKey(chosen.configDir, vendor, key);
  if (note !== undefined) writeStderr(`Note: ${note}\n`);
  const exitCode = await answer(`✓ Key saved for ${vendor} (${authFile(chosen.configDir)})\n`);
  noteVariables([vendor], env, (variable) => `${variable} is set and takes precedence over the saved key.`);
  if (vendorRow(chosen.choice, vendor)?.tokenCommand)
    writeStderr(`Note: courser.json has a tokenCommand for ${vendor}, which is used in place of any key.\n`);
  return exitCode;
}

export async function logout(invocation: Invocation): Promise<number> {
  const config = configDir(invocation.env);
  const saved = Object.keys(readKeys(config));
  const vendor = vendorWord(invocation, saved);
  const removed = removeKeys(config, vendor);
  const exitCode = await answer(
    removed.length > 0
      ? `✓ Key removed for ${removed.join(", ")}\n`
      : `Nothing to remove: there is no saved key${vendor ? ` for ${vendor}` : ""}.\n`,
  );
  noteVariables(
    vendor ? [vendor] : removed,
    invocation.env,
    (variable) => `${variable} is still set and will be used.`,
  );
  return exitCode;
}

/** Tries the key on the vendor's server; a wrong one is not saved. Returns a note if the key could not be checked. */
async function verify(vendor: string, key: string, { choice }: ChosenModel): Promise<string | undefined> {
  const row = vendorRow(choice, vendor);
  const baseUrl = row && movedUrl(row, choice);
  if (!row || baseUrl === undefined) return undefined;
  const { listServerModels } = await import("../../model/list-server.ts");
  const list = await listServerModels({ kind: row.kind, baseUrl, key, env: choice.env });
  if ("refused" in list)
    throw new UserError(
      "MODEL_AUTH_ERROR",
      `API key invalid: ${row.label} refused it (${list.refused}), so it was not saved. Check it, or save it unchecked with --no-verify.`,
    );
  return "unreachable" in list
    ? `The key was not checked: ${row.label} cannot be reached (${list.unreachable}).`
    : undefined;
}

function vendorsWithKeys(): string[] {
  return vendors.filter((row) => !row.local).map((row) => row.name);
}

/** Returns the vendor named on the command line; `others` are configured names besides the built-in vendors. */
function vendorWord({ line, name }: Invocation, others: readonly string[]): string | undefined {
  const [word, second] = line.words;
  if (second !== undefined)
    throw usageError(
      `${line.command} takes one vendor, not ${line.words.length} words. Type: ${name} ${line.command} <vendor>`,
    );
  if (word === undefined) return undefined;
  if (others.includes(word)) return word;
  const row = findVendor(word);
  if (row) return row.name;
  const vendorNames = [...vendors.map((each) => each.name), ...others];
  const hint = didYouMean(word, vendorNames);
  throw usageError(`unknown vendor '${word}'.${hint} The vendors are ${vendorNames.join(", ")}.`);
}

/** Takes the vendor only from a model that was named: without one, a key that already exists would decide. */
function vendorOfModel({ named, model, choice }: ChosenModel): string | undefined {
  if (named === undefined) return undefined;
  if (!(model instanceof UserError))
    return model.kind === "offline" || model.kind === "script" || model.kind === "replay" ? undefined : model.vendor;
  const name = named.replace(/\[.*\]$/, "");
  const prefix = name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
  const endpoint = Object.entries(choice.endpoints ?? {}).find(
    ([own, { models }]) => own === prefix || models?.includes(name),
  )?.[0];
  return endpoint ?? findModel(name)?.row.vendor ?? findVendor(prefix)?.name;
}

/** Recognises the vendor by the key's prefix, which many keys have. */
function vendorOfKey(key: string): string | undefined {
  return vendors.find(({ keyPrefix }) => keyPrefix !== undefined && key.startsWith(keyPrefix))?.name;
}

async function askVendor(): Promise<string> {
  const { promptShown } = await import("../prompt-hidden.ts");
  const names = vendorsWithKeys();
  const list = names.map((name, index) => `  ${String(index + 1).padStart(2)}  ${name}\n`).join("");
  writeStderr(`Which vendor is the key for?\n${list}`);
  while (true) {
    const typed = (await promptShown("Number or name: ")).trim();
    if (typed === "") throw usageError("no vendor was chosen; nothing was saved.");
    const name = names[Number(typed) - 1] ?? findVendor(typed)?.name;
    if (name !== undefined) return name;
    writeStderr(`'${typed}' is not in the list.\n`);
  }
}

async function askKey(vendor: string): Promise<string> {
  const { promptHidden } = await import("../prompt-hidden.ts");
  return promptHidden(`${findVendor(vendor)?.label ?? vendor} API key (hidden): `);
}

const longestKey = 65_536;

async function readStdin(): Promise<string> {
  // Explain the wait, because reading from a pipe without a writer looks like a hang.
  const waiting = setTimeout(() => writeStderr("Reading the key from stdin …\n"), 2000);
  try {
    let text = "";
    for await (const chunk of process.stdin.setEncoding("utf8")) {
      text += chunk;
      if (text.length > longestKey)
        throw usageError(`stdin has more than ${longestKey} characters, which is not a key; nothing was saved.`);
    }
    return text;
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw usageError(`stdin cannot be read: ${systemErrorText(error)}. Give the key with --api-key <key>.`);
  } finally {
    clearTimeout(waiting);
  }
}

/** Checks that the key is one plain word, fit for a request header. Error messages must not contain the key. */
function checkKey(text: string): string {
  const key = text.trim();
  if (key === "")
    throw usageError(
      "the key is empty; nothing was saved. Give it with --api-key <key>, on stdin, or when asked on a terminal.",
    );
  if (/[\r\n]/.test(key))
    throw usageError(`the key must be one line, not ${key.split(/\r?\n|\r/).length}; nothing was saved.`);
  if (/[^\x21-\x7e]/.test(key))
    throw usageError("the key contains a space or an invalid character; nothing was saved.");
  return key;
}

function noteVariables(names: readonly string[], env: NodeJS.ProcessEnv, sentence: (variable: string) => string): void {
  const variables = names
    .flatMap((name) => findVendor(name)?.keyVariables ?? [])
    .filter((variable) => env[variable]?.trim());
  for (const variable of variables) writeStderr(`Note: ${sentence(variable)}\n`);
}
