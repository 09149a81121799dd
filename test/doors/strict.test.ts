// What a door does not know it refuses by name, and what it may not grant it does not.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttachedRun } from "../../src/serve/attached-run.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { until } from "../serve/service-support.ts";
import { cli, runCli } from "../support/run-cli.ts";
import { Home } from "./doors.ts";
import type { Place } from "./restrictions.ts";

const home = new Home();
beforeAll(() => home.begin());
afterAll(() => home.end());

const run = (place: Place, args: readonly string[], stdin?: string) =>
  runCli(args, { cwd: place.path, env: place.env, ...(stdin !== undefined && { stdin }) });

describe("POST /v1/agents", () => {
  const place = home.place();
  const body = { prompt: { text: "hello" }, workspace: place.path, model: { id: place.quiet } };
  const send = (more: object, path = "/v1/agents") => home.service.call("POST", path, { ...body, ...more });

  it.each<[object, string]>([
    [{ Mode: "plan" }, '"Mode"'],
    [{ mode: "Plan" }, "mode"],
    [{ mode: ["plan"] }, "mode"],
    [{ permission: { deny: [] } }, '"permission"'],
    [{ permissions: { denied: [] } }, '"permissions.denied"'],
    [{ permissions: { deny: ["Nonsense"] } }, "permissions"],
    [{ limits: { maxTurns: 0.5 } }, '"maxTurns" must be a positive integer'],
    [{ prompt: { text: "x", image: 1 } }, '"prompt.image"'],
    [{ pluginDirs: ["relative"] }, "absolute path"],
    [{ permissions: { allow: ["Shell(rm)"] } }, '"permissions.allow"'],
    [{ sandbox: "disabled" }, "sandbox"],
    [{ ephemeral: true }, "--no-persist"],
  ])("POST /v1/agents refuses %j by name", async (more, named) => {
    const reply = await send(more);
    expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining(named)]);
  });

  it.each([{ trust: true }, { approvedServers: "all" }, { endpoint: "http://x" }])(
    "POST /v1/agents and /api/runs refuse %j, which only the owner of the service may grant",
    async (grant) => {
      for (const path of ["/v1/agents", "/api/runs"]) {
        const reply = await send(grant, path);
        expect([reply.status, reply.body.error.message]).toEqual([
          403,
          expect.stringContaining(Object.keys(grant)[0]!),
        ]);
      }
    },
  );

  it("POST /v1/agents names unsupported fields of the original, and its document allows no others", async () => {
    const reply = await send({ envVars: {}, autoCreatePR: true });
    expect(reply.body.error).toMatchObject({ code: "unsupported_field", message: expect.stringContaining("envVars") });
    const { paths } = (await home.service.call("GET", "/openapi.json")).body;
    for (const path of ["/v1/agents", "/v1/agents/{id}/runs", "/api/runs"]) {
      const { schema } = paths[path].post.requestBody.content["application/json"];
      expect(schema.additionalProperties, path).toBe(false);
      expect(schema.properties.permissions.additionalProperties, path).toBe(false);
    }
  });
});

describe("mcp serve", () => {
  async function served<T>(place: Place, flags: readonly string[], use: (call: Call) => Promise<T>): Promise<T> {
    const args = [cli, "mcp", "serve", "--model", place.model, ...flags];
    const client = new Client({ name: "other", version: "1" });
    const { path: cwd, env } = place;
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: "ignore" }));
    try {
      return await use((name, args) => client.callTool({ name, arguments: args }) as ReturnType<Call>);
    } finally {
      await client.close();
    }
  }
  type Call = (
    name: string,
    args: Record<string, unknown>,
  ) => Promise<{ isError?: boolean; content: { text: string }[] }>;

  it("mcp serve uses the stricter of two modes, and refuses unknown arguments", async () => {
    const place = home.place();
    await served(place, ["--force", "--mode", "agent"], async (call) => {
      await call("run", { prompt: place.prompt, mode: "plan" });
      expect(existsSync(join(place.path, "allowed.txt"))).toBe(false);
      for (const [args, named] of [
        [{ mode: "Plan" }, '"mode" must be one of plan, ask'],
        [{ mode: ["plan"] }, '"mode" must be one of plan, ask'],
        [{ Mode: "plan" }, 'unknown field "Mode"'],
        [{ workspace: ["inner"] }, '"workspace" must be a string'],
      ] as const) {
        const { isError, content } = await call("run", { prompt: "x", ...args });
        expect([isError, content[0]!.text]).toEqual([true, expect.stringContaining(named)]);
      }
    });
  });

  it("mcp serve continues no chat of a folder that is not served", async () => {
    const [place, other] = [home.place(), home.place()];
    const begun = await run(other, [
      "-p",
      "--model",
      other.quiet,
      "--output-format",
      "json",
      "a secret of this folder",
    ]);
    const id = JSON.parse(begun.stdout).session_id;
    const said = await served(place, ["--force"], (call) => call("continue", { session_id: id, prompt: "what?" }));
    expect([said.isError, said.content[0]!.text]).toEqual([
      true,
      expect.stringContaining("not of a folder that is served"),
    ]);
  });
});

describe("requests of background runs", () => {
  it("a background run asks its --ask-command and no person", async () => {
    const place = home.place();
    const script = join(place.home, "asks.json");
    writeFileSync(
      script,
      JSON.stringify([{ calls: [{ name: "Read", args: { path: "/etc/hostname" } }] }, { text: "end" }]),
    );
    const log = join(place.home, "asked.txt");
    const answers = `cat >> ${log}; echo '{"allow": true}'`;
    const { stdout } = await run(place, ["-b", "--model", `script:${script}`, "--ask-command", answers, "go"]);
    const { end } = await home.service.over(stdout.trim());
    expect(end).toMatchObject({ outcome: "finished", text: "end" });
    expect(end!.denials).toBeUndefined();
    expect(readFileSync(log, "utf8")).toContain("/etc/hostname");
  });

  it("a request of 1 MB reaches a background run completely", async () => {
    const place = home.place();
    const words = `word${"x".repeat(2 ** 20)}`;
    const started = await home.service.fleet.enqueue(
      newRun({
        cli: "courser",
        prompt: { text: "hello" },
        request: { workspace: place.path, model: place.quiet, appendSystemPrompt: words },
      }),
    );
    await home.service.call("POST", "/api/runs", {
      prompt: { text: "hello" },
      workspace: place.path,
      model: place.quiet,
    });
    expect((await home.service.over(started.id)).end).toMatchObject({ outcome: "finished", text: "Hello." });
  });

  it("only the user who starts a background run can give it --force", async () => {
    const place = home.place();
    const script = join(place.home, "waits.json");
    const outside = { name: "Read", args: { path: "/etc/hostname" } };
    writeFileSync(script, JSON.stringify([{ calls: [outside] }, { calls: [outside] }, { text: "end" }]));
    const { stdout } = await run(place, ["-b", "--model", `script:${script}`, "go"]);
    const id = stdout.trim();
    const { fleet } = home.service;
    const asked = async () => (await fleet.questions()).filter((each) => each.run === id);
    await until(async () => (await asked()).length === 1, "a question");
    const attached = new AttachedRun(fleet, (await fleet.run(id))!, { start: async () => {} });
    expect(() => attached.setMode("force")).toThrow("Only whoever starts a run can give it force");
    attached.setMode("plan");
    await attached.close();
    await fleet.say(id, { type: "mode", mode: "force" });
    expect((await home.service.call("POST", `/api/runs/${id}/messages`, { type: "mode", mode: "force" })).status).toBe(
      403,
    );
    const [first] = await asked();
    const answer = { question: first!.question.id, hash: first!.question.hash, answer: { type: "no" } as const };
    await fleet.answer(id, answer);
    // With force it would not ask again.
    await until(
      async () => (await asked()).some(({ question }) => question.id !== first!.question.id),
      "the next question",
    );
    await fleet.cancel(id, "enough");
  });

  it("permission question ids are unique across runs", async () => {
    const place = home.place();
    const script = join(place.home, "asking.json");
    writeFileSync(
      script,
      JSON.stringify([{ calls: [{ name: "Read", args: { path: "/etc/hostname" } }] }, { text: "end" }]),
    );
    const ids = await Promise.all(
      [1, 2].map(async () => (await run(place, ["-b", "--model", `script:${script}`, "go"])).stdout.trim()),
    );
    const asked = async () => (await home.service.fleet.questions()).filter((each) => ids.includes(each.run));
    await until(async () => (await asked()).length === 2, "two questions");
    const [one, two] = await asked();
    expect(one!.question.id).not.toBe(two!.question.id);
    const named = ["runs", "answer", "--question", one!.question.id, "--yes"];
    expect((await run(place, named)).stdout).toContain("Answered");
    expect((await home.service.over(one!.run)).end!.denials).toBeUndefined();
    await home.service.fleet.cancel(two!.run, "enough");
  });
});

it("the run refuses a control line with an unknown field, by the field's name", async () => {
  const place = home.place();
  const words = ["-p", "--model", place.quiet, "--output-format", "stream-json", "--input-format", "stream-json"];
  const lines = [
    { type: "hello", version: 1, can: [] },
    { type: "mode", mode: "plan", Mode: "ask" },
  ];
  const { stdout } = await run(place, words, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  expect(stdout).toContain('unknown field \\"Mode\\"');
  const handed = { type: "hello", version: 1, can: [], request: { workspace: place.path } };
  expect((await run(place, words, `${JSON.stringify(handed)}\n`)).stdout).toContain("--request-on-stdin");
  const wrong = { ...handed, request: { workspace: place.path, Mode: "plan" } };
  const refused = await run(place, [...words, "--request-on-stdin"], `${JSON.stringify(wrong)}\n`);
  expect(refused.stdout).toContain('unknown field \\"Mode\\"');
});
