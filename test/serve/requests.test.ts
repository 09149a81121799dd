// What a run is to be, before it begins: its record, where it works, what another vendor's CLI is told, and how a list shows it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { RunRequest } from "../../src/protocol/run.ts";
import { checkCall } from "../../src/serve/client/option-checks.ts";
import type { ServeContext } from "../../src/serve/context.ts";
import { withoutLogin } from "../../src/serve/engines/nats/address.ts";
import type { Fleet, RunRecord, RunSpec, RunState } from "../../src/serve/fleet.ts";
import { liveOptions, toolForCli } from "../../src/serve/live-options.ts";
import { followUp, newRun, newSpec, readSpec, refusedMode } from "../../src/serve/new-run.ts";
import { placeRun } from "../../src/serve/place-run.ts";
import { image, modeFields, runFields, source } from "../../src/serve/run-fields.ts";
import { ownerOf, sessionList } from "../../src/serve/session-list.ts";
import { figuresByDay } from "../../src/serve/session-summary.ts";
import { trust } from "../../src/store/trust.ts";

const base = mkdtempSync(join(tmpdir(), "courser-requests-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const spec: RunSpec = { cli: "courser", request: { workspace: "/w", model: "offline" }, prompt: { text: "go" } };

describe("the record of a run", () => {
  it("the record of a run has its own ids, a version, and the name if one is given", () => {
    const one = newRun(spec);
    expect(one.id).toMatch(/^run-[\da-f-]{36}$/);
    expect(one.agent).toMatch(/^bc-[\da-f-]{36}$/);
    expect(one.spec).toEqual({ version: 1, ...spec });
    expect(one).not.toHaveProperty("name");
    expect(newRun(spec, { agent: "bc-1", name: "n" })).toMatchObject({ agent: "bc-1", name: "n" });
    expect(newRun(spec).id).not.toBe(one.id);
    expect(() => newSpec({ ...spec, request: { ...spec.request, ephemeral: true } })).toThrow("--no-persist");
  });

  it("the record of a follow-up resumes the session with the first run's settings, except trust", () => {
    const request: RunRequest = { workspace: "/w", chat: { type: "new" }, trust: true, force: true };
    const run = { agent: "bc-1", spec: { ...spec, request } } as RunRecord;
    const next = followUp(run, "s-1", { text: "and now?" });
    expect(next.agent).toBe("bc-1");
    expect(next.spec.request).toEqual({ workspace: "/w", force: true, chat: { type: "resume", id: "s-1" } });
    expect(next.spec.prompt).toEqual({ text: "and now?" });
    expect(next.spec).not.toHaveProperty("attended");
    expect(followUp(run, undefined, { text: "x" }).spec.request).not.toHaveProperty("chat");
    expect(followUp(run, undefined, { text: "x" }, true).spec.attended).toBe(true);
    const attended = { ...run, spec: { ...run.spec, attended: true } } as RunRecord;
    expect(followUp(attended, undefined, { text: "x" }).spec.attended).toBe(true);
  });

  it("a worker refuses a run record with a field that it does not know", () => {
    expect(readSpec(spec)).toBe(spec);
    const full: RunSpec = {
      ...spec,
      version: 1,
      prompt: { text: "go", data: "d", images: ["/a.png", { mime: "image/png", base64: "AA" }] },
      source: { type: "git", from: "/r", ref: "main" },
      placement: { pool: "p", labels: { gpu: "a" }, priority: "high" },
      onWorkerLoss: "continue",
      attended: true,
    };
    expect(readSpec(full)).toBe(full);
    for (const more of [
      { type: "folder", path: "/f" },
      { type: "archive", object: "o", run: "r" },
    ])
      expect(readSpec({ ...spec, source: more as never })).toMatchObject({ source: more });
    const wrong: [object, string][] = [
      [{ later: 1 }, "later"],
      [{ cli: "emacs" }, "cli"],
      [{ version: 0 }, "version"],
      [{ attended: "yes" }, "attended"],
      [{ onWorkerLoss: "retry" }, "onWorkerLoss"],
      [{ source: { type: "ftp", from: "x" } }, "source"],
      [{ source: { type: "git" } }, "source"],
      [{ source: { type: "folder" } }, "source"],
      [{ source: { type: "archive" } }, "source"],
      [{ placement: { labels: { gpu: 1 } } }, "labels"],
      [{ placement: { labels: [] } }, "labels"],
      [{ placement: { zone: "x" } }, "zone"],
      [{ prompt: { data: "x" } }, "prompt"],
      [{ prompt: { text: "x", images: [1] } }, "images"],
    ];
    for (const [fields, named] of wrong)
      expect(() => readSpec({ ...spec, ...fields } as RunSpec), named).toThrow(
        expect.objectContaining({ code: "USAGE", message: expect.stringContaining(named) }),
      );
    const { prompt: _none, ...without } = spec;
    expect(() => readSpec(without as RunSpec)).toThrow("prompt");
    expect(() => readSpec({ ...spec, request: { ...spec.request, unheardOf: true } as never })).toThrow("unheardOf");
  });

  it("a follow-up cannot add force to a run", () => {
    expect(refusedMode("force", {})?.message).toContain("--force");
    expect(refusedMode("force", { force: true })).toBeUndefined();
    expect(refusedMode("plan", {})).toBeUndefined();
    expect(refusedMode("ask", { force: false })).toBeUndefined();
  });
});

describe("input from people about a run", () => {
  it.each([
    ["force", { force: true }],
    ["default", { force: false }],
    ["plan", { mode: "plan" }],
    ["ask", { mode: "ask" }],
    [undefined, {}],
  ])("the service understands the mode %s of a request", (mode, fields) => {
    expect(modeFields(mode)).toEqual(fields);
  });

  it.each<[string, (value: unknown) => string | undefined, unknown[], unknown[]]>([
    ["an image", image, ["/a.png", { mime: "image/png", base64: "AA" }], [1, { mime: "image/png" }, { base64: "A" }]],
    [
      "a source",
      source,
      ["upload", { type: "git", from: "x" }, { type: "git", from: "x", ref: "y" }, { type: "folder", path: "/x" }],
      [
        1,
        { type: "git" },
        { type: "folder" },
        { type: "folder", path: "/x", ref: "y" },
        { type: "archive", object: "o" },
      ],
    ],
    [
      "a prompt",
      runFields.prompt,
      ["x", { text: "x" }, { text: "x", images: ["/a"] }],
      ["", "  ", {}, { text: " " }, 3],
    ],
    ["labels", runFields.labels, [{}, { gpu: "a" }], [{ gpu: 1 }, { gpu: "a", os: 2 }, "gpu", null]],
    ["a priority", runFields.priority, ["high", "normal", "low"], ["urgent", 1]],
    ["a mode", runFields.mode, ["default", "force", "plan", "ask", "agent"], ["yolo"]],
    ["what a lost worker means", runFields.onWorkerLoss, ["continue", "interrupt"], ["retry", true]],
    ["an agent CLI", runFields.cli, ["courser", "cursor", "claude", "codex", "gemini", "opencode", "pi"], ["emacs"]],
  ])("the service checks the part of a run request that is %s", (_what, check, right, wrong) => {
    for (const value of right) expect(check(value), JSON.stringify(value)).toBeUndefined();
    for (const value of wrong) expect(check(value), JSON.stringify(value)).toEqual(expect.any(String));
  });

  it.each([
    ["cwd", "workspace"],
    ["tool", "cli"],
    ["agent", "cli"],
    ["permissionMode", "mode"],
    ["yolo", "mode: 'force'"],
    ["resume", "chat: { type: 'resume', id }"],
    ["budget", "limits: { maxTurns, maxTimeMs, maxCost }"],
    ["timeoutMs", "limits: { maxTimeMs }"],
    ["timeout", "limits: { maxTimeMs }"],
    ["maxTurns", "limits: { maxTurns }"],
    ["label", "labels: { name: 'value' }"],
    ["canUseTool", "onQuestion"],
    ["addDirs", "roots"],
    ["repository", "source: 'git:URL#REF'"],
  ])("the service answers a request with the unknown field %s with %s", (habit, here) => {
    const call = () => checkCall("run", { prompt: "go", [habit]: "x" });
    expect(call).toThrow(`run: unknown option '${habit}'. Here it is ${here}.`);
  });

  it("the service checks positions, program names and counts in requests", () => {
    const refused = (name: "fleet" | "run" | "follow", options: object) =>
      expect(() => checkCall(name, options)).toThrow();
    checkCall("follow", { from: 0 });
    checkCall("fleet", { concurrency: 1, program: ["node", "x"], env: {} });
    checkCall("run", { prompt: "go", source: { type: "upload", isWhole: true }, workspace: "here", onSent: () => {} });
    refused("follow", { from: -1 });
    refused("fleet", { concurrency: 0 });
    refused("fleet", { program: "node" });
    refused("run", { prompt: "go", source: { type: "upload", isWhole: 1 } });
    refused("run", { prompt: "go", onSent: "x" });
    refused("run", { prompt: "go", onQuestion: "x" });
  });
});

describe("options for another vendor's CLI", () => {
  const told = (request: Partial<RunRequest>, cli: RunSpec["cli"] = "claude") =>
    liveOptions({ ...spec, cli, request: { workspace: "/w", ...request } });

  it.each<[Partial<RunRequest>, object]>([
    [{}, {}],
    [{ roots: ["/a"] }, { addDirs: ["/a"] }],
    [{ roots: [] }, {}],
    [{ chat: { type: "new" } }, {}],
    [{ chat: { type: "resume", id: "s" } }, { resume: "s" }],
    [{ chat: { type: "resume", id: "-1" } }, { resume: true }],
    [{ chat: { type: "resume", id: "s", fork: true } }, { resume: "s", fork: true }],
    [{ mode: "plan" }, { permissionMode: "plan" }],
    [
      { mode: "plan", force: true },
      { mode: "plan", permissionMode: "force" },
    ],
    [{ mode: "agent" } as never, {}],
    [{ force: true }, { permissionMode: "force" }],
    [{ force: false }, {}],
    [{ trust: true }, { trust: true }],
    [{ model: "m" }, { model: "m" }],
    [
      { systemPrompt: "s", appendSystemPrompt: "a" },
      { systemPrompt: "s", appendSystemPrompt: "a" },
    ],
    [{ allowedTools: [] }, { allowedTools: [] }],
    [
      { allowedTools: ["Read"], disallowedTools: ["Shell"] },
      { allowedTools: ["Read"], disallowedTools: ["Shell"] },
    ],
    [{ disallowedTools: [] }, {}],
    [{ permissions: { deny: ["Shell(rm)"] } }, { permissions: { deny: ["Shell(rm)"] } }],
    [{ sandbox: "enabled" }, { sandbox: true }],
    [{ sandbox: "disabled" }, { sandbox: false }],
    [{ unlistedCommands: "sandbox" } as never, {}],
    [{ single: true, withoutLocalHooks: true }, {}],
  ])("the request %j becomes options for another vendor's CLI", (request, options) => {
    expect(told(request)).toEqual({ tool: "claude", cwd: "/w", ...options });
  });

  it.each<[string, unknown]>([
    ["worktree", { name: "x" }],
    ["chat", { type: "new", id: "mine" }],
    ["chat", { type: "resume", id: "s", orNew: true }],
    ["chat", { type: "resume", id: "s", newId: "mine" }],
    ["ephemeral", true],
    ["mode", "ask"],
    ["effort", "high"],
    ["fallbackModels", ["m"]],
    ["endpoint", "http://x"],
    ["endpointType", "openai"],
    ["browser", true],
    ["mcpConfigs", ["x"]],
    ["approvedServers", ["x"]],
    ["pluginDirs", ["x"]],
    ["hooks", { x: 1 }],
    ["unlistedCommands", "ask"],
    ["autoReview", true],
    ["askCommand", "x"],
    ["failOn", ["denial"]],
    ["requiredServers", ["x"]],
    ["price", { input: 1 }],
    ["limits", { maxTurns: 1 }],
    ["answerSchema", { type: "object" }],
  ])("a request for another vendor's CLI is refused if it has %s, which that CLI would ignore: %j", (name, value) => {
    expect(() => told({ [name]: value }, "codex")).toThrow(
      `codex has no word for ${name}. Leave it out, or run courser.`,
    );
  });

  it("a run of another vendor's CLI uses that CLI's driver, and Courser's uses that of the original", () => {
    expect(["courser", "cursor", "claude", "pi"].map((cli) => toolForCli(cli as never))).toEqual([
      "cursor",
      "cursor",
      "claude",
      "pi",
    ]);
    expect(() => told({ effort: "high", limits: { maxTurns: 1 } })).toThrow("claude has no word for effort, limits.");
  });
});

describe("where a run works", () => {
  const configDir = join(base, "place-config");
  const folder = join(base, "place-work");
  mkdirSync(folder);
  mkdirSync(configDir);
  trust(configDir, folder);
  const context = { configDir, env: { HOME: base }, fleet: {} as Fleet } as unknown as ServeContext;
  const place = (given: object, more: Partial<ServeContext> = {}) =>
    placeRun({ ...context, ...more }, newRun(spec), given, new AbortController().signal);
  const fleetUrl = "nats://x";

  it("a local run works in a trusted folder, without pools or sources", async () => {
    const run = await place({ workspace: folder, onWorkerLoss: "continue" });
    expect(run.spec).toMatchObject({ request: { workspace: folder, model: "offline" }, onWorkerLoss: "continue" });
    for (const name of ["source", "placement"]) expect(run.spec).not.toHaveProperty(name);
    expect(run.spec.request).not.toHaveProperty("trust");
    for (const given of [{ pool: "p" }, { labels: { a: "b" } }, { priority: "low" }, { source: "upload" }])
      await expect(place({ workspace: folder, ...given })).rejects.toThrow("are for a service over a fleet");
    await expect(place({ workspace: base })).rejects.toMatchObject({ code: expect.any(String) });
    expect((await place({ workspace: folder, pool: undefined })).spec).not.toHaveProperty("placement");
  });

  it("a run whose files come from elsewhere needs a worker, and gets a readable name", async () => {
    const on = async (given: object) => (await place(given, { fleetUrl })).spec;
    expect(await on({ source: "git:https://x/y/repo.git#main", pool: "p", labels: { a: "b" } })).toMatchObject({
      request: { workspace: "/repo" },
      source: { type: "git", from: "https://x/y/repo.git", ref: "main" },
      placement: { pool: "p", labels: { a: "b" } },
    });
    expect((await on({ source: "folder:/data/set" })).request.workspace).toBe("/set");
    expect((await on({ source: "none", workspace: "/there" })).request.workspace).toBe("/there");
    expect((await on({ source: "folder:/data/set" })).request).not.toHaveProperty("trust");
    for (const given of [
      { source: "none" },
      { source: "none", workspace: "there" },
      { source: "folder:/x", workspace: "x" },
    ])
      await expect(on(given)).rejects.toMatchObject({ code: "CWD_MISSING" });
  });
});

describe("the list of sessions", () => {
  const home = join(base, "home");
  const configDir = join(home, ".cursor");
  mkdirSync(join(home, ".claude/projects/-w"), { recursive: true });
  mkdirSync(configDir, { recursive: true });
  const write = (id: string, minutesAgo: number, cwd: string, text: string) => {
    const timestamp = new Date(Date.now() - minutesAgo * 60_000).toISOString();
    const entry = {
      parentUuid: null,
      isSidechain: false,
      type: "user",
      uuid: `u-${id}`,
      sessionId: id,
      timestamp,
      cwd,
    };
    const lines = [
      { ...entry, message: { role: "user", content: text } },
      {
        ...entry,
        type: "assistant",
        parentUuid: entry.uuid,
        uuid: `a-${id}`,
        message: { id: "m", role: "assistant", model: "m", content: [{ type: "text", text: `${text}: done\nmore` }] },
      },
    ];
    const file = join(home, ".claude/projects/-w", `${id}.jsonl`);
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
  write("11111111-1111-4111-8111-111111111111", 1, "/w", "first");
  write("22222222-2222-4222-8222-222222222222", 2, "/other", "second");
  const first = "11111111-1111-4111-8111-111111111111";
  const second = "22222222-2222-4222-8222-222222222222";
  const record = (sessionId: string, state: RunState, open = 0): RunRecord =>
    ({ id: `run-${sessionId[0]}`, sessionId, state, open, spec: { ...spec, cli: "claude" } }) as RunRecord;
  const context = (...runs: RunRecord[]): ServeContext =>
    ({
      env: { HOME: home },
      configDir,
      fleet: { runs: async () => runs } as unknown as Fleet,
    }) as unknown as ServeContext;
  const list = async (runs: RunRecord[], query: object = {}) =>
    (await sessionList(context(...runs), { limit: 10, since: 0, ...query })).items;

  it.each<[string, RunState, number, string, boolean]>([
    ["is running while nothing is asked", "running", 0, "running", true],
    ["is waiting with one open question", "running", 1, "waiting", true],
    ["is waiting with many", "running", 3, "waiting", true],
    ["is running while it is queued", "queued", 0, "running", true],
    ["is done", "finished", 0, "done", false],
    ["has failed", "error", 0, "failed", false],
    ["was interrupted", "cancelled", 1, "interrupted", false],
  ])("the list of sessions shows one whose run %s", async (_what, state, open, shown, isLive) => {
    const [item] = (await list([record(first, state, open)])).filter(({ id }) => id === first);
    expect(item).toMatchObject({ state: shown, agent: "claude", tool: "claude", workspace: "/w", isTrusted: false });
    expect(item!.run).toBe(isLive ? "run-1" : undefined);
    expect(item).not.toHaveProperty("path");
  });

  it("the list of sessions shows the newest run of each, or done if none is known", async () => {
    const items = await list([record(first, "error"), record(first, "running", 1)]);
    expect(items.map(({ id, state }) => [id[0], state]).sort()).toEqual([
      ["1", "failed"],
      ["2", "done"],
    ]);
    const { env: _env, ...info } = { env: 0, ...items.find(({ id }) => id === first)! };
    expect(await ownerOf(context(record(first, "running", 1)), { ...info, path: "/x" } as never)).toEqual({
      agent: "claude",
      state: "waiting",
      isTrusted: false,
    });
  });

  it("the list of sessions can be filtered by agent, state, project, time, words and number", async () => {
    const ids = async (query: object, ...runs: RunRecord[]) => (await list(runs, query)).map(({ id }) => id[0]).sort();
    expect(await ids({})).toEqual(["1", "2"]);
    expect(await ids({ limit: 1 })).toHaveLength(1);
    expect(await ids({ project: "/w" })).toEqual(["1"]);
    expect(await ids({ project: "/none" })).toEqual([]);
    expect(await ids({ agent: "claude" })).toEqual(["1", "2"]);
    expect(await ids({ agent: "codex" })).toEqual([]);
    expect(await ids({ state: "waiting" }, record(second, "running", 1))).toEqual(["2"]);
    expect(await ids({ since: Date.now() + 60_000 })).toEqual([]);
    expect(await ids({ search: "second" })).toEqual(["2"]);
    const { projects } = await sessionList(context(), { limit: 1, since: 0 });
    expect(projects).toEqual(["/other", "/w"]);
  });

  it("the list of sessions shows trust, and counts by day", async () => {
    trust(configDir, "/w");
    const items = await list([]);
    expect(items.map(({ id, isTrusted }) => [id[0], isTrusted]).sort()).toEqual([
      ["1", true],
      ["2", false],
    ]);
    const days = await figuresByDay(context(record(first, "error"), record(second, "cancelled")), 3);
    expect(days).toHaveLength(3);
    expect(days.map(({ day }) => day)).toEqual([...days.map(({ day }) => day)].sort());
    const today = new Date();
    const name = `${today.getFullYear()}-${String(today.getMonth() + 1).padStart(2, "0")}-${String(today.getDate()).padStart(2, "0")}`;
    expect(days.at(-1)!.day).toBe(name);
    expect(days.reduce((sum, day) => sum + day.runs, 0)).toBe(2);
    expect(days.reduce((sum, day) => sum + day.failed, 0)).toBe(1);
    expect(days.reduce((sum, day) => sum + day.stopped, 0)).toBe(1);
    expect(days.reduce((sum, day) => sum + day.done, 0)).toBe(0);
    expect(days.map(({ costUsd }) => costUsd)).toEqual([0, 0, 0]);
  });
});

describe("displayed fleet addresses", () => {
  it.each([
    ["nats://a:4222", "nats://a:4222"],
    ["nats://user:secret@a:4222", "nats://a:4222"],
    ["nats://user:se/cr?et@a:4222", "nats://a:4222"],
    ["nats://u:p@q@a:4222,u:p@b:4222,c:4222", "nats://a:4222,b:4222,c:4222"],
  ])("the repository address %s is displayed without its login", (given, shown) =>
    expect(withoutLogin(given)).toBe(shown),
  );
});
