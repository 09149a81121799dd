// A process that says a text through the program's own sinks, one after the other: `node sink-probe.mjs MARK SINK… < text`. MARK
// stands on both streams after each.
import { readFileSync, writeFileSync } from "node:fs";
import { CursorAgentModelAdapter } from "../../src/adapter/adapter.ts";
import { createDebug } from "../../src/cli/debug.ts";
import { failedBeforeRun } from "../../src/cli/failure.ts";
import { secretsInUse } from "../../src/cli/secrets-in-use.ts";
import { writeStderr } from "../../src/cli/stdout.ts";
import { toModelError } from "../../src/model/failure.ts";
import { UserError } from "../../src/protocol/error-codes.ts";

const sinks: Record<string, (text: string) => unknown> = {
  log: (text) => writeStderr(`Warning: ${text}\n`),
  debug: (text) => createDebug(true).say(text),
  error: (text) => failedBeforeRun(new UserError("CONFIG_INVALID", text), "stream-json", "courser"),
  bug: (text) => failedBeforeRun(new Error(text), "json", "courser"),
  adapter: throughAdapter,
  model: (text) => {
    const secrets = secretsInUse([], process.env);
    const asked = { vendorLabel: "Test", model: "test", local: false, keyAdvice: "", secrets, program: "courser" };
    const exchange = { signal: new AbortController().signal, answered: false };
    const body = JSON.stringify({ error: { message: text } });
    process.stdout.write(toModelError({ statusCode: 400, responseBody: body }, asked, exchange).message);
  },
};

/** A CLI that says the text on stderr, and one that says it in its error: what the adapter logs and tells of both. */
async function throughAdapter(text: string): Promise<void> {
  writeFileSync("said", text);
  writeFileSync("error", `${JSON.stringify({ type: "error", data: { code: "MODEL_BAD_RESPONSE", message: text } })}\n`);
  const { providers } = JSON.parse(readFileSync(`${process.env["HOME"]}/.cursor/courser.json`, "utf8")) as {
    providers?: { mine: { keys: string[] } };
  };
  const env = Object.fromEntries((providers?.mine.keys ?? []).map((name) => [name, process.env[name] ?? null]));
  const entry = (script: string) => ({
    provider: "cursor-agent-cli",
    command: "bash",
    args: ["-c", script],
    authProfiles: ["p"],
  });
  const adapter = new CursorAgentModelAdapter(
    {
      models: { a: { ...entry("cat said >&2; exit 1"), fallbackModels: ["b"] }, b: entry("cat error") },
      profiles: { p: { env } },
    },
    { log: (line) => process.stdout.write(`${line}\n`) },
  );
  const turn = adapter.sendTurn(await adapter.createSession(), { messages: [{ role: "user", content: "hi" }] });
  for await (const { type, data } of turn) if (type === "error") process.stdout.write(`${data.message}\n`);
}

const [, , mark = "", ...named] = process.argv;
const text = readFileSync(0, "utf8");
for (const sink of named) {
  await sinks[sink]!(text);
  process.stdout.write(mark);
  process.stderr.write(mark);
}
