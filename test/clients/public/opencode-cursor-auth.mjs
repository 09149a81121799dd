// opencode-cursor-auth: a plugin of opencode that answers for the model with the agent's text output.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, bun, check, conclusion, folder, prompts, workspace } from "./check.mjs";

const script = join(folder, "drive-plugin.mjs");
writeFileSync(
  script,
  `import { CursorAuthPlugin } from "./node_modules/opencode-cursor-auth/dist/plugin.js";
import { $ } from "bun";
const plugin = await CursorAuthPlugin({ $, directory: ${JSON.stringify(workspace)} });
const output = { options: {} };
await plugin["chat.params"]({ model: { providerID: "cursor" } }, output);
const ask = async (content, stream) => (await fetch(output.options.baseURL + "/chat/completions", {
  method: "POST", headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "auto", stream, messages: [{ role: "user", content }] }),
})).text();
const login = await plugin.auth.methods[0].authorize();
const untrusted = await ask("hi", false);
await $\`cursor-agent -p --trust hi\`.cwd(${JSON.stringify(workspace)}).quiet();
console.log(JSON.stringify({ login, untrusted, answer: await ask(${JSON.stringify(prompts.work)}, false),
  stream: await ask(${JSON.stringify(prompts.work)}, true), failure: await ask(${JSON.stringify(prompts.fail)}, false) }));
process.exit(0);
`,
);
await attempt("plugin", async () => {
  const { stdout, stderr } = spawnSync(bun, [script], { cwd: workspace, encoding: "utf8", timeout: 90_000 });
  const seen = JSON.parse(stdout.trim().split("\n").at(-1) || JSON.stringify({ stderr }));
  check("login: the agent has a key", seen.login?.type === "success", seen);
  check("an untrusted folder is told", /Workspace Trust Required/.test(seen.untrusted), seen.untrusted);
  const text = JSON.parse(seen.answer).choices[0].message.content;
  check("answers with the agent's text", text === conclusion, text);
  const deltas = seen.stream.split("\n").filter((line) => line.startsWith("data: {"));
  const joined = deltas.map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "").join("");
  check("streams the same", joined.startsWith(conclusion), seen.stream);
  check("a failure comes with its reason", /no such thing/.test(seen.failure), seen.failure);
});
process.exit(0);
