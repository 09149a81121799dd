// wangchangwei/cursor-bot-feishu: a chat bot over print mode. The chat service is stood in for, by a module in place of its SDK; the bot is as it is.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { attempt, check, folder, prompts, repository, whole, workspace } from "./check.mjs";

const sdk = join(folder, "node_modules/@larksuiteoapi/node-sdk");
mkdirSync(sdk, { recursive: true });
writeFileSync(
  join(sdk, "package.json"),
  '{ "name": "@larksuiteoapi/node-sdk", "type": "module", "exports": "./index.js" }\n',
);
// A message comes in as a line on stdin; what the bot writes to the chat goes out as a line on stdout.
writeFileSync(
  join(sdk, "index.js"),
  `import { createInterface } from "node:readline";
let count = 0;
const written = (call) => async (request) => {
  process.stdout.write("CHAT " + JSON.stringify({ call, ...request }) + "\\n");
  return { data: { message_id: "card-" + ++count } };
};
export const LoggerLevel = { info: 3 };
export class Client { im = { message: { create: written("create"), reply: written("reply"), patch: written("patch") } }; }
export class EventDispatcher { register(handlers) { this.handlers = handlers; return this; } }
export class WSClient {
  start({ eventDispatcher }) {
    createInterface({ input: process.stdin }).on("line", (text) => eventDispatcher.handlers["im.message.receive_v1"]({ message: {
      message_id: "in-" + ++count, chat_id: "chat", message_type: "text", chat_type: "p2p",
      create_time: String(Date.now() + 1000), content: JSON.stringify({ text }),
    } }));
    process.stdout.write("CHAT {}\\n");
  }
}
globalThis.fetch = async () => new Response(JSON.stringify({ tenant_access_token: "t", bot: { open_id: "bot" } }));
`,
);
const bot = spawn(process.execPath, [join(repository, "index.js")], {
  cwd: workspace,
  env: { ...process.env, FEISHU_APP_ID: "app", FEISHU_APP_SECRET: "none", CURSOR_WORK_DIR: workspace, API_PORT: "0" },
  stdio: ["pipe", "pipe", "pipe"],
});
let log = "";
bot.stderr.on("data", (chunk) => (log += chunk));
const written = [];
let heard = () => {};
createInterface({ input: bot.stdout }).on("line", (line) => {
  log += `${line}\n`;
  if (line.startsWith("CHAT ")) heard(written.push(JSON.parse(line.slice(5))));
});

/** What the bot writes after the message, until a text of it fits. */
async function told(message, fits) {
  const from = written.length;
  if (message) bot.stdin.write(`${message}\n`);
  const texts = () => written.slice(from).map(({ data }) => data?.content ?? "connected");
  for (const end = Date.now() + 60_000; Date.now() < end && !texts().some((text) => fits.test(text)); )
    await new Promise((settle) => {
      heard = settle;
      setTimeout(settle, 500);
    });
  return texts();
}

await attempt("bot", async () => {
  await told(undefined, /connected/);
  const done = await told(prompts.work, /"template":"green"/);
  check("the card ends with the answer", JSON.parse(done.at(-1)).elements[0].content === whole, [
    done,
    log.slice(-800),
  ]);
  const count = await told(prompts.count, /"template":"green"/);
  check("the next message goes on with the conversation", /2 prompts/.test(count.at(-1)), count);
  const hanging = told(prompts.hang, /"content":"Wait/);
  check(
    "what is said so far is shown",
    (await hanging).some((text) => /Wait/.test(text)),
    [await hanging, log.slice(-800)],
  );
  const stopped = await told("/stop", /终止/);
  check("/stop ends it", stopped.length > 0, stopped);
});
bot.kill();
process.exit(0);
