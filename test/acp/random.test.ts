// A client that does anything at any time. Whatever it does: each request has exactly one answer, each line is as the schema says,
// no session gets what belongs to another, and the process ends by itself. ACP_ACTIONS=5000 ACP_SEED=7 for a longer look.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createWorkspace } from "../support/run-cli.ts";
import { AcpClient, type Params, type Reply } from "./acp-client.ts";

const actions = Number(process.env["ACP_ACTIONS"] ?? 80);
const seed = Number(process.env["ACP_SEED"] ?? Date.now() % 100_000);

/** Mulberry32: small, and the same everywhere. */
function random(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it(`the ACP agent answers each request of a random client once, seed ${seed}`, {
  timeout: 60_000 + actions * 200,
}, async () => {
  const next = random(seed);
  const one = <Item>(list: readonly Item[]): Item => list[Math.floor(next() * list.length)]!;
  const workspace = createWorkspace({ "a.txt": "Hello\n" });
  const script = {
    replies: [
      { text: ["a", "b"], calls: [{ name: "Read", args: { path: "a.txt" } }] },
      { delayMs: 30, text: "c" },
      { calls: [{ name: "Shell", args: { command: "echo hi; sleep 0.05; echo ho" } }] },
      { text: "d", calls: [{ name: "Write", args: { path: "b.txt", content: "b\n" } }] },
      { thinking: "e", text: "f" },
      { error: { code: "MODEL_RATE_LIMIT", message: "slow down" } },
    ],
    loop: true,
  };
  const client = await AcpClient.start(workspace, {
    script,
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, elicitation: { form: {} } },
    handlers: {
      "session/request_permission": async ({ options }) => {
        if (next() < 0.1) return new Promise(() => {}); // until it is cancelled
        await sleep(next() * 30);
        return next() < 0.2
          ? { outcome: { outcome: "cancelled" } }
          : { outcome: { outcome: "selected", optionId: one<Params>(options)["optionId"] } };
      },
      "fs/read_text_file": () => {
        if (next() < 0.3) throw new Error("no such buffer");
        return { content: "Hello\n" };
      },
      "fs/write_text_file": () => {
        if (next() < 0.3) throw new Error("Permission denied");
        return {};
      },
    },
  });
  const known = [await client.newSession(), "00000000-0000-4000-8000-000000000000"];
  const replies: Promise<Reply>[] = [];
  const { path: cwd } = workspace;
  const deeds: Record<string, () => unknown> = {
    new: () => {
      const reply = client.request("session/new", { cwd, mcpServers: [] });
      void reply.then(({ result }) => result && known.push(result.sessionId)).catch(() => {});
      return reply;
    },
    prompt: () => client.prompt(one(known), "go"),
    prompts: () => client.prompt(one(known), "/compact"),
    cancel: () => client.notify("session/cancel", { sessionId: one(known) }),
    stop: () => client.notify("$/cancel_request", { requestId: Math.floor(next() * (replies.length + 2)) }),
    load: () => client.request("session/load", { sessionId: one(known), cwd, mcpServers: [] }),
    resume: () => client.request("session/resume", { sessionId: one(known), cwd }),
    close: () => client.request("session/close", { sessionId: one(known) }),
    delete: () => (next() < 0.3 ? client.request("session/delete", { sessionId: one(known) }) : undefined),
    list: () => client.request("session/list", {}),
    mode: () =>
      client.request("session/set_mode", { sessionId: one(known), modeId: one(["agent", "plan", "ask", "no"]) }),
    effort: () =>
      client.request("session/set_config_option", {
        sessionId: one(known),
        configId: "effort",
        value: one(["low", "high"]),
      }),
    noise: () => client.raw("what?\n"),
  };
  const names = [...Object.keys(deeds), "prompt", "prompt", "prompt"];
  for (let count = 0; count < actions; count++) {
    const reply = deeds[one(names)]!();
    if (reply instanceof Promise) replies.push(reply as Promise<Reply>);
    if (next() < 0.6) await sleep(next() * 25);
  }
  // What waits for an answer that never comes is called off.
  const over = Promise.all(replies);
  const calling = setInterval(() => {
    for (const sessionId of known) client.notify("session/cancel", { sessionId });
  }, 200);
  const answers = await over;
  clearInterval(calling);
  for (const { result, error } of answers) expect((result === undefined) !== (error === undefined)).toBe(true);
  const ids = client.received.flatMap(({ id, method }) => (method === undefined && id !== null ? [id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  const bugs = answers.flatMap(({ error }) => (error?.data?.code === "INTERNAL" ? [error.message] : []));
  expect(bugs).toEqual([]);
  expect(client.check.faults).toEqual([]);
  expect((await client.leave()).code).toBe(0);
  workspace.remove();
});
