// Every kind of client that drives `cursor-agent`, against the built CLI: in folders that nobody has trusted, with failures, cancelling
// and resuming. What they read must be what the model said and did, nothing twice and nothing lost.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BridgeSession } from "./acp-bridge.ts";
import { detect, runJob } from "./orchestrator.ts";
import { type ClientPlace, clientPlace, conclusion, finished, preamble, prompts } from "./place.ts";
import { loop } from "./ralph-loop.ts";
import { generate, stream, WrapperError } from "./sdk-wrapper.ts";
import { readStore, storeReaders } from "./store-readers.ts";
import { sendMessage } from "./web-ui.ts";

let place: ClientPlace;
beforeAll(async () => {
  place = await clientPlace();
});
afterAll(() => place.remove());

const missing = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";
const textOf = (sent: { kind: string; text?: string }[]) =>
  sent.flatMap(({ kind, text }) => (kind === "text" ? [text] : [])).join("");

describe.concurrent("an SDK wrapper as a client", { timeout: 60_000 }, () => {
  it("an SDK-style client reads typed events, and takes text without a timestamp as the answer", async () => {
    const cwd = place.freshWorkspace();
    const { events, dropped, typed, answer } = await stream({
      place,
      cwd,
      prompt: prompts.work,
      force: true,
      partial: true,
    });
    expect(dropped).toEqual([]);
    expect(typed).toBe(preamble + conclusion);
    expect(answer).toBe(conclusion);
    expect(events.at(-1)).toMatchObject({ type: "result", result: preamble + conclusion });
    expect(events.filter(({ subtype }) => subtype === "completed").length).toBeGreaterThanOrEqual(2);
  });

  it("a wrapper reads one JSON object and continues the chat", async () => {
    const cwd = place.freshWorkspace();
    const model = "claude-9.9-sonnet-thinking";
    const first = await generate({ place, cwd, prompt: prompts.work, force: true, model });
    expect(first).toMatchObject({ type: "result", subtype: "success", result: preamble + conclusion });
    const chatId = first["session_id"];
    const next = await generate({ place, cwd, prompt: prompts.count, force: true, chatId });
    expect(next).toMatchObject({ session_id: chatId, result: "2 prompts" });
  });

  it("a wrapper throws with the exit code and reason", async () => {
    const cwd = place.freshWorkspace();
    const failed = (options: object) => stream({ place, cwd, prompt: "hi", ...options }).catch((error) => error);
    expect(await failed({})).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("Workspace Trust Required"),
    });
    expect(await failed({ force: true, prompt: prompts.fail })).toMatchObject({
      exitCode: 1,
      message: expect.stringContaining("no such thing"),
    });
    expect(await failed({ force: true, chatId: missing })).toMatchObject({
      message: expect.stringContaining("Session not found"),
    });
    expect(await failed({ force: true, model: "nobodys-model" })).toMatchObject({
      message: expect.stringContaining("Cannot use this model"),
    });
  });

  it("a wrapper aborts with a kill, leaving nothing of the command", async () => {
    const cwd = place.freshWorkspace();
    const abortAt = ({ type }: { type: string }) => type === "tool_call";
    const error = await stream({ place, cwd, prompt: prompts.hang, force: true, abortAt }).catch((each) => each);
    expect(error).toBeInstanceOf(WrapperError);
    expect(error.exitCode).toBe(143);
  });
});

describe.concurrent("a web UI as a client", { timeout: 60_000 }, () => {
  it("a web UI answers the first message in a new project after asking for trust", async () => {
    const cwd = place.freshWorkspace();
    const { sent, starts } = await sendMessage({
      place,
      cwd,
      prompt: prompts.work,
      model: "auto",
      skipPermissions: false,
    });
    expect(starts).toBe(2);
    expect(sent.filter(({ kind }) => kind === "complete")).toEqual([{ kind: "complete", ok: true }]);
    expect(sent.filter(({ kind }) => kind === "error")).toEqual([]);
    expect(textOf(sent)).toBe(preamble + conclusion);
    expect(sent.flatMap((each) => (each.kind === "tool" ? each.name : []))).toEqual(["read", "shell"]);
    const session = sent.find((each) => each.kind === "session")!;
    expect(session).toMatchObject({ model: "Claude 5.5 Sonnet" });
    const again = await sendMessage({ place, cwd, prompt: prompts.count, sessionId: (session as { id: string }).id });
    expect(again.starts).toBe(1);
    expect(textOf(again.sent)).toBe("2 prompts");
  });

  it.each(["composer-1", "cheetah", "gpt-5.9-codex-high", "opus-4.1", "sonnet-4.5-thinking"])(
    "a web UI starts a run with %s, or says whose key is missing",
    async (model) => {
      const { sent } = await sendMessage({
        place,
        cwd: place.freshWorkspace(),
        prompt: "hi",
        model,
        skipPermissions: true,
      });
      if (model.startsWith("gpt")) expect(JSON.stringify(sent)).toContain("OPENAI_API_KEY");
      else expect([textOf(sent), sent.at(-1)]).toEqual(["Hello.", { kind: "complete", ok: true }]);
    },
  );

  it("a web UI shows a failure and a stop once each", async () => {
    const cwd = place.freshWorkspace();
    const failed = await sendMessage({ place, cwd, prompt: prompts.fail, skipPermissions: true });
    expect(failed.sent.filter(({ kind }) => kind === "complete")).toEqual([{ kind: "complete", ok: false }]);
    const stopAt = ({ kind }: { kind: string }) => kind === "tool";
    const stopped = await sendMessage({ place, cwd, prompt: prompts.hang, skipPermissions: true, stopAt });
    expect(stopped.sent.filter(({ kind }) => kind === "complete")).toEqual([{ kind: "complete", ok: false }]);
  });
});

describe.concurrent("an orchestrator as a client", { timeout: 60_000 }, () => {
  it("an orchestrator finds version, login and models with the current one", async () => {
    const found = await detect(place);
    expect(found.version).toMatch(/^\d{4}\.\d\d\.\d\d-[0-9a-f]{7}$/);
    expect(found).toMatchObject({ loggedIn: true, current: "claude-5.5-sonnet" });
    expect(found.models).toContainEqual({ id: "claude-4.5-sonnet", name: "Claude 4.5 Sonnet" });
    expect(found.models.every(({ name }) => !name.includes("("))).toBe(true);
  });

  it("an orchestrator runs a job from stdin, records its usage and continues it", async () => {
    const cwd = place.freshWorkspace();
    const job = await runJob({ place, cwd, prompt: prompts.work });
    expect(job).toMatchObject({ outcome: "completed", text: preamble + conclusion, unknown: {} });
    expect(job.tools).toEqual([
      { name: "read", status: "done" },
      { name: "shell", status: "done" },
    ]);
    expect(job.usage!.output).toBeGreaterThanOrEqual(0);
    const next = await runJob({ place, cwd, prompt: prompts.count, resume: job.sessionId! });
    expect(next).toMatchObject({ outcome: "completed", text: "2 prompts", sessionId: job.sessionId });
  });

  it("an orchestrator distinguishes failed from cancelled jobs, and every call has its end", async () => {
    const cwd = place.freshWorkspace();
    expect(await runJob({ place, cwd, prompt: prompts.fail })).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("no such thing"),
    });
    expect(await runJob({ place, cwd, prompt: "hi", resume: missing })).toMatchObject({
      outcome: "failed",
      message: expect.stringContaining("Session not found"),
    });
    const cancelled = await runJob({ place, cwd, prompt: prompts.hang, cancelAt: "tool_call" });
    expect(cancelled).toMatchObject({ outcome: "cancelled", tools: [{ name: "shell", status: "failed" }] });
  });
});

describe.concurrent("a ralph loop as a client", { timeout: 60_000 }, () => {
  it.each(["text", "json"] as const)(
    "a client that calls the CLI in a loop stops when the answer has its stop word, as %s",
    async (format) => {
      const cwd = place.freshWorkspace();
      const end = await loop({ place, cwd, prompt: prompts.finish, format, most: 3 });
      expect(end).toMatchObject({ isComplete: true, rounds: 1, failures: [] });
      expect(readFileSync(join(cwd, "done.txt"), "utf8")).toBe("done\n");
      if (format === "text") expect(end.answers).toEqual([`${finished}\n`]);
      const other = await loop({ place, cwd, prompt: "hi", format, most: 2 });
      expect(other).toMatchObject({ isComplete: false, rounds: 2, failures: [] });
    },
  );

  it("a client that calls the CLI in a loop gives up after consecutive failures and shows their reasons", async () => {
    const end = await loop({ place, cwd: place.freshWorkspace(), prompt: prompts.fail, format: "json", most: 5 });
    expect(end).toMatchObject({ isComplete: false, rounds: 2 });
    expect(end.failures[0]).toContain("no such thing");
  });
});

describe.concurrent("an ACP bridge as a client", { timeout: 60_000 }, () => {
  it("a chat bridge creates a chat, streams updates, cancels with SIGINT and continues", async () => {
    const session = await BridgeSession.open(place, place.freshWorkspace());
    const first = await session.prompt(prompts.work);
    const chunks = (type: string) =>
      first.updates.flatMap((update) => (update.type === type && "text" in update ? [update.text] : [])).join("");
    expect(first.stopReason).toBe("end_turn");
    expect(chunks("agent_message_chunk")).toBe(preamble + conclusion);
    expect(chunks("agent_thought_chunk")).toBe("Two tools will do.");
    const calls = first.updates.flatMap((update) => (update.type === "tool_call" ? [[update.id, update.kind]] : []));
    expect(calls.map(([, kind]) => kind)).toEqual(["read", "execute"]);
    for (const [id] of calls)
      expect(first.updates).toContainEqual({ type: "tool_call_update", id, status: "completed" });

    const cut = await session.prompt(prompts.hang, { cancelAt: "tool_call" });
    expect(cut.stopReason).toBe("cancelled");
    expect(cut.updates.at(-1)).toMatchObject({ type: "tool_call_update", status: "failed" });
    const refused = await session.prompt(prompts.fail);
    expect(refused).toMatchObject({ stopReason: "refusal", error: expect.stringContaining("no such thing") });
    expect((await session.prompt(prompts.count)).updates).toContainEqual({
      type: "agent_message_chunk",
      text: "2 prompts",
    });
  });

  it("a chat bridge asks for a login if there is none", async () => {
    const { ANTHROPIC_API_KEY: _key, ...env } = place.env;
    await expect(BridgeSession.open({ ...place, env }, place.freshWorkspace())).rejects.toThrow(
      "auth_required: Not logged in",
    );
  });
});

describe("a store reader as a client", () => {
  let folder: string;
  let chatId: string;
  let cwd: string;
  beforeAll(async () => {
    cwd = place.freshWorkspace();
    const { sessionId } = await runJob({ place, cwd, prompt: prompts.work });
    chatId = sessionId!;
    await runJob({ place, cwd, prompt: prompts.count, resume: chatId });
    const chats = join(place.home, ".cursor/chats");
    const project = readdirSync(chats).find((each) => existsSync(join(chats, each, chatId)))!;
    folder = join(chats, project, chatId);
  });

  it.each(Object.entries(storeReaders))(
    "a program that reads the chat database and goes %s sees both turns in order",
    (_name, read) => {
      const seen = readStore(folder, read);
      expect(seen[0]).toBe(`user: ${prompts.work}`);
      expect(seen[1]).toMatch(/^assistant: .*I look at the notes\..* \[Read .*\] \[Shell .*\]$/);
      expect(seen.slice(2, 4).every((line) => line.startsWith("tool: "))).toBe(true);
      expect(seen.slice(4)).toEqual([`assistant: ${conclusion}`, `user: ${prompts.count}`, "assistant: 2 prompts"]);
    },
  );

  it("a program that reads transcripts finds the workspace and the first prompt", () => {
    const projects = join(place.home, ".cursor/projects");
    const found = readdirSync(projects).flatMap((project) => {
      const log = join(projects, project, "worker.log");
      const isOurs = existsSync(log) && readFileSync(log, "utf8").includes(`workspacePath=${cwd}\n`);
      const file = join(projects, project, "agent-transcripts", chatId, `${chatId}.jsonl`);
      return isOurs && existsSync(file) ? [readFileSync(file, "utf8")] : [];
    });
    expect(found).toHaveLength(1);
    expect(JSON.parse(found[0]!.split("\n")[0]!).message.content[0].text).toContain(prompts.work);
  });
});
