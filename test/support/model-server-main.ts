// The model server as a program, for benchmarks: `node model-server-main.js [answers.json]`.
// Prints one line, {"url":…}, when it is ready, and ends when its stdin ends. Without a file it says "4" to everything.
import { readFileSync } from "node:fs";
import { type ModelAnswer, modelServer } from "../../src/testing/kit/model-server.ts";

const file = process.argv[2];
const answers = file
  ? (JSON.parse(readFileSync(file, "utf8")) as ModelAnswer[])
  : [{ text: "4", repeat: Number.POSITIVE_INFINITY }];
const server = await modelServer(answers);
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.on("end", () => void server.stop().then(() => process.exit(0)));
process.stdin.resume();
