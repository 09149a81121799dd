// A process that says a text through one of the program's own sinks: `node sink-probe.mjs SINK < text`.
import { readFileSync } from "node:fs";
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
  model: (text) => {
    const secrets = secretsInUse([], process.env);
    const asked = { vendorLabel: "Test", model: "test", local: false, keyAdvice: "", secrets, program: "courser" };
    const exchange = { signal: new AbortController().signal, answered: false };
    const body = JSON.stringify({ error: { message: text } });
    process.stdout.write(toModelError({ statusCode: 400, responseBody: body }, asked, exchange).message);
  },
};

void sinks[process.argv[2] ?? "log"]!(readFileSync(0, "utf8"));
