import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";

const terminal = createInterface({ input: process.stdin, output: process.stdout });
const answers = [];
process.stdout.write("Name? ");
for await (const line of terminal) {
  answers.push(line.trim());
  if (answers.length === 2) break;
  process.stdout.write("Age? ");
}
const [name, age] = answers;
if (!name || !/^[0-9]+$/.test(age ?? "")) {
  console.error("\nA name and an age are needed.");
  process.exit(1);
}
writeFileSync("user.json", JSON.stringify({ name, age: Number(age), by: "register" }));
process.exit(0);
