// Checks the model that a run would use: its name, its key, and the connection to its server, hop by hop.

import { ModelError } from "../../../model/provider.ts";
import { createProvider, type ResolvedModel } from "../../../model/resolve.ts";
import { readToken } from "../../../model/token.ts";
import { probe } from "../../../net/probe.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import { tokenRunner } from "../../../run/models.ts";
import { chosenModel, keySource } from "../chosen-model.ts";
import type { DoctorContext } from "./context.ts";
import type { Finding } from "./index.ts";

export async function checkModel({ invocation, online }: DoctorContext): Promise<Finding[]> {
  const { model, choice } = chosenModel(invocation);
  if (model instanceof UserError) return [{ level: "problem", message: model.message }];
  const found: Finding[] = [{ level: "ok", message: `${model.displayName} (${model.id})` }];
  if (model.kind === "offline")
    return [
      ...found,
      {
        level: "warning",
        message: "No key is set: the built-in offline model answers.",
        next: `${invocation.name} login`,
      },
    ];
  if (model.baseUrl === undefined) return found;
  const source = keySource(model, choice);
  if (model.tokenCommand !== undefined) found.push(await tokenFinding(model));
  else
    found.push({ level: "ok", message: source === undefined ? "no key, and none is needed" : `a key from ${source}` });
  const insecure = invocation.line.flags.has("insecure");
  const hops = await probe(model.baseUrl, { env: invocation.env, insecure });
  const failed = hops.find(({ ok }) => !ok);
  for (const { hop, ok, detail, doubt, next = ok ? undefined : advice[hop] } of hops) {
    const level = ok ? (doubt ? "warning" : "ok") : "problem";
    found.push({ level, message: `${hop}: ${detail}`, ...(next !== undefined && { next }) });
  }
  if (online && !failed) found.push(await askOnce(model, insecure));
  return found;
}

/** Checks the token command by running it the way an agent run does. */
async function tokenFinding({ tokenCommand, env }: ResolvedModel): Promise<Finding> {
  try {
    readToken(await tokenRunner(env)(tokenCommand!, undefined));
    return { level: "ok", message: "a token from the token command" };
  } catch (error) {
    const next = "correct tokenCommand in courser.json, or --token-command";
    return { level: "problem", message: `the token command gives no token: ${(error as Error).message}`, next };
  }
}

const advice = {
  name: "check the address (--endpoint, courser.json), the network and HTTPS_PROXY",
  tcp: "is the server running? A firewall may need HTTPS_PROXY",
  proxy: "check HTTPS_PROXY and NO_PROXY",
  tls: "is it an https server? Otherwise use http://",
  http: "check that the address is that of the model's API",
} as const;

/** Checks the model with one real request, as short as possible. */
async function askOnce(model: ResolvedModel, insecure: boolean): Promise<Finding> {
  const signal = AbortSignal.timeout(60_000);
  try {
    const provider = await createProvider(model, {
      retries: 0,
      runCommand: tokenRunner(model.env),
      ...(insecure && { insecure }),
    });
    const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "Answer with the word ok." }] }];
    for await (const chunk of provider.stream({ model: model.modelId, system: "", messages, tools: [], signal })) {
      if (chunk.type === "text" || chunk.type === "thinking")
        return { level: "ok", message: "call: the model answers" };
    }
    return { level: "problem", message: "call: the answer was empty" };
  } catch (error) {
    const message = `call: ${(error as Error).message}`;
    const isRefusal = error instanceof ModelError && error.code === "MODEL_AUTH_ERROR";
    return { level: "problem", message, ...(isRefusal && { next: model.keyAdvice }) };
  }
}
