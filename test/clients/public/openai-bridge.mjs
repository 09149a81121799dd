// What the bridges share that offer the agent as a server of chat completions.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { attempt, check, conclusion, preamble, prompts, whole, workspace } from "./check.mjs";

/**
 * Starts it in a folder that nobody has trusted and asks it as its clients do. `command` is given the port.
 * `separator`: what it puts between the texts before and after calls.
 * `repeats`: what it says of whole answers. It takes lines that repeat deltas for more text; that is its own reading, also of the original.
 */
export async function driveBridge({ command, env = {}, model, separator, repeats, failure, more }) {
  const once = separator === undefined ? whole : preamble + separator + conclusion;
  const port = await freePort();
  const [program, ...args] = command(port);
  const child = spawn(program, args, {
    cwd: workspace,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += chunk));
  const url = `http://127.0.0.1:${port}`;
  try {
    await attempt("starts", async () => {
      const health = await untilUp(`${url}/health`);
      check("starts, and finds the agent", health?.ok === true, log);
    });
    await attempt("models", async () => {
      const { data } = await (await fetch(`${url}/v1/models`)).json();
      check("lists models", Array.isArray(data) && data.length > 0, data);
    });
    await attempt("whole", async () => {
      const answer = await ask(url, model, prompts.work, false);
      const text = answer.json?.choices?.[0]?.message?.content;
      check("answers with what the agent said, after its calls", text?.trim() === (repeats ?? once), [
        answer,
        log.slice(-800),
      ]);
    });
    await attempt("stream", async () => {
      const { text, done } = await ask(url, model, prompts.work, true);
      check(
        repeats ? "streams all of it, then [DONE]" : "streams: the text is said once, then [DONE]",
        done && (repeats ? text.endsWith(whole) : text === once),
        [text, log.slice(-800)],
      );
    });
    if (failure)
      await attempt("failure", async () => {
        const { raw } = await ask(url, model, prompts.fail, false);
        check("a failure comes with its reason", failure.test(raw), raw);
      });
    if (more) await attempt("more", () => more(url));
  } finally {
    child.kill("SIGTERM");
  }
}

export async function ask(url, model, prompt, stream) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: prompt }] }),
  });
  const raw = await response.text();
  if (!stream) return { status: response.status, raw, json: raw.startsWith("{") ? JSON.parse(raw) : undefined };
  const events = raw.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));
  const text = events
    .filter((event) => event !== "[DONE]")
    .map((event) => JSON.parse(event).choices?.[0]?.delta?.content ?? "")
    .join("");
  return { status: response.status, raw, text, done: events.at(-1) === "[DONE]" };
}

async function untilUp(url) {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return answer;
    await new Promise((settle) => setTimeout(settle, 200));
  }
  return undefined;
}

function freePort() {
  return new Promise((settle) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => settle(port));
    });
  });
}
