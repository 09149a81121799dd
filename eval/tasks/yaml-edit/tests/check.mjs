import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const text = readFileSync("deploy.yaml", "utf8");
const start = "# Checked by hand.\ndefaults: &defaults\n  restart: always\n  replicas: 2 # of everything that says nothing\n";
assert.ok(text.startsWith(`${start}services:\n  web:\n    <<: *defaults\n    replicas: 3\n  worker:\n`), "what comes first was changed");
const worker = text.slice(text.indexOf("  worker:"));
assert.ok(/^ {4}replicas: 4$/m.test(worker), "worker has no 4 replicas");
assert.ok(worker.includes("    <<: *defaults\n"), "worker lost its defaults");
assert.ok(worker.includes('    command: ["node", "worker.js"] # no shell\n'), "the command was changed");
assert.equal(worker.trimEnd().split("\n").length, 4, "there is more than there should be");
