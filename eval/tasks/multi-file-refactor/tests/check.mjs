import assert from "node:assert/strict";
import { cpSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const names = { signup: "signUp", invite: "invite", contact: "contact" };
for (const [file, name] of Object.entries(names)) {
  const call = (await import(`${process.cwd()}/${file}.mjs`))[name];
  assert.equal(call("a@b"), `${name}:a@b`, `${name} does not work`);
  assert.throws(() => call("nobody"), /not an address/, `${name} takes anything`);
}
// Where the one check says no to everything, all three do.
const folder = mkdtempSync(join(tmpdir(), "refactor-"));
cpSync(".", folder, { recursive: true });
writeFileSync(join(folder, "address.mjs"), "export const isAddress = () => false;\n");
for (const [file, name] of Object.entries(names)) {
  const call = (await import(`${folder}/${file}.mjs`))[name];
  assert.throws(() => call("a@b"), /not an address/, `${name} does not use isAddress`);
}
