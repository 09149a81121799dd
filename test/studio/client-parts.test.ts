// The parts of the studio's page that need no page: times, figures, addresses, requests, the stream, keys, and the colours of output.
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { agentLetters, agentName } from "../../src/studio/client/model/agents.ts";
import { commentsPrompt } from "../../src/studio/client/model/comments.ts";
import { baseName, clock, dayGroup, formatAge, moment } from "../../src/studio/client/model/figures.ts";
import { filesAt, momentTimes } from "../../src/studio/client/model/moments.ts";
import { changedFiles, latestTodos, turnNumbers } from "../../src/studio/client/model/summary.ts";
import { createApi } from "../../src/studio/client/service/api.ts";
import { followLog } from "../../src/studio/client/service/event-stream.ts";
import { createHttp, type Http, type ServiceError } from "../../src/studio/client/service/http.ts";
import { View } from "../../src/studio/components/index.ts";
import { Ansi } from "../../src/studio/components/text/ansi.tsx";
import { TurnClock } from "../../src/view/turn-clock.ts";

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
/** Noon, in the middle of a week and of a year, as the clock of this machine counts. */
const noon = new Date(2026, 5, 17, 12, 0, 0).getTime();

describe("times in lists", () => {
  it.each([
    [0, "0 s ago"],
    [-5 * second, "0 s ago"],
    [1 * second, "1 s ago"],
    [59.9 * second, "59 s ago"],
    [60 * second, "1 min ago"],
    [119 * second, "1 min ago"],
    [59 * minute + 59 * second, "59 min ago"],
    [60 * minute, "1 h ago"],
    [23 * hour + 59 * minute, "23 h ago"],
  ])("the studio shows a session changed %d ms ago as: %s", (ms, words) => {
    expect(formatAge(noon - ms, noon)).toBe(words);
  });

  it("the studio shows a time as hour today, as weekday this week, else as date, with the year if older", () => {
    expect(moment(noon - 3 * hour, noon)).toBe("09:00");
    expect(formatAge(noon - 3 * day, noon)).toBe(moment(noon - 3 * day, noon));
    const weekday = new Date(noon - 5 * day).toLocaleDateString([], { weekday: "short" });
    expect(moment(noon - 5 * day, noon)).toBe(weekday);
    const dayAndMonth = (at: number) => new Date(at).toLocaleDateString([], { day: "numeric", month: "short" });
    expect(moment(noon - 6 * day, noon)).toBe(dayAndMonth(noon - 6 * day));
    expect(moment(noon - 299 * day, noon)).toBe(dayAndMonth(noon - 299 * day));
    expect(moment(noon - 301 * day, noon)).toContain("2025");
  });

  it.each([
    [-1, "0:00"],
    [0, "0:00"],
    [41_900, "0:41"],
    [134_000, "2:14"],
    [599_000, "9:59"],
    [600_000, "10:00"],
    [3_599_000, "59:59"],
    [3_600_000, "1:00:00"],
    [3_734_000, "1:02:14"],
    [36_000_000, "10:00:00"],
  ])("the studio shows a running time of %d ms as %s", (ms, words) => {
    expect(clock(ms)).toBe(words);
  });

  it.each([
    [noon + day, "Today"],
    [noon - 11 * hour, "Today"],
    [noon - 13 * hour, "Yesterday"],
    [noon - 35 * hour, "Yesterday"],
    [noon - 37 * hour, "This week"],
    [noon - 7 * day + 1, "This week"],
    [noon - 7 * day, "This month"],
    [noon - 31 * day + 1, "This month"],
    [noon - 31 * day, "Older"],
  ])("the studio lists a session of the time %d under %s", (at, group) => {
    expect(dayGroup(at, noon)).toBe(group);
  });

  it.each([
    ["/a/b.txt", "b.txt"],
    ["/a/b/", "b"],
    ["C:\\work\\x\\", "x"],
    ["plain", "plain"],
    ["/", "/"],
  ])("the studio shows the path %s by its last part %s", (path, name) => {
    expect(baseName(path)).toBe(name);
  });
});

describe("agents and comments", () => {
  it("the studio shows agents by their usual names and two letters", () => {
    expect(["courser", "cursor", "claude"].map(agentName)).toEqual(["courser", "cursor-agent", "claude"]);
    expect(["courser", "cursor", "claude", "codex", "gemini", "opencode", "pi", "amp"].map(agentLetters)).toEqual([
      "Co",
      "Cu",
      "Cl",
      "Cx",
      "Ge",
      "Op",
      "Pi",
      "Am",
    ]);
  });

  it("the studio joins comments on changes into one prompt, file by file and line by line", () => {
    const comment = (path: string, line: number, text: string) => ({
      path,
      line,
      text,
      step: "s",
      code: "  code();  ",
    });
    expect(commentsPrompt([comment("a.ts", 1, "why?")])).toBe(
      "I reviewed your changes. Please address this comment:\n\n- a.ts:1\n  `code();`\n  why?",
    );
    const many = commentsPrompt([
      comment("b.ts", 9, "two\nlines"),
      comment("a.ts", 3, "x"),
      comment("b.ts", 2, "first"),
    ]);
    expect(many).toContain("address these comments:");
    expect(many.match(/^- .*$/gm)).toEqual(["- b.ts:2", "- b.ts:9", "- a.ts:3"]);
    expect(many).toContain("  two\n  lines");
    expect(commentsPrompt([{ ...comment("a", 1, "x"), code: "y".repeat(300) }])).toContain(`\`${"y".repeat(200)}\``);
  });
});

describe("summaries of a conversation", () => {
  const call = (tool: string, value: unknown, args: unknown = {}, kind = "success") =>
    ({ type: "call", call: { tool, args, outcome: { kind, value } } }) as never;

  it("the studio counts changed lines per file over all changes, and marks deleted files", () => {
    const blocks = [
      call("edit", { path: "a", linesAdded: 2, linesRemoved: 1 }),
      call("write", { linesCreated: 5 }, { path: "b" }),
      call("edit", { path: "a", linesAdded: 3, linesRemoved: 4 }),
      call("delete", { path: "c", linesRemoved: 7 }),
      call("edit", { path: "d", linesAdded: 9 }, {}, "error"),
      call("read", { path: "e", linesAdded: 9 }),
      call("edit", { linesAdded: 1 }),
      call("edit", { path: "f", linesAdded: "many", linesRemoved: Number.NaN }),
      { type: "text" } as never,
    ];
    expect(changedFiles(blocks)).toEqual([
      { path: "a", added: 5, removed: 5, isDeleted: false },
      { path: "b", added: 5, removed: 0, isDeleted: false },
      { path: "c", added: 0, removed: 7, isDeleted: true },
      { path: "f", added: 0, removed: 0, isDeleted: false },
    ]);
    const again = [call("delete", { path: "a" }), call("write", { path: "a", linesCreated: 1 })];
    expect(changedFiles(again)).toEqual([{ path: "a", added: 1, removed: 0, isDeleted: false }]);
  });

  it("the studio shows the latest todo list: its result, or what was requested", () => {
    const todo = (id: string) => ({ id });
    expect(latestTodos([])).toEqual([]);
    expect(latestTodos([call("updateTodos", { todos: [todo("1")] }), call("read", {})])).toEqual([todo("1")]);
    expect(
      latestTodos([call("updateTodos", { todos: [todo("1")] }), call("updateTodos", { todos: [todo("2"), 3] })]),
    ).toEqual([todo("2")]);
    expect(latestTodos([call("updateTodos", undefined, { todos: [todo("3")] })])).toEqual([todo("3")]);
    expect(latestTodos([call("updateTodos", { todos: "none" })])).toEqual([]);
  });

  it("the studio adds earlier turns from disk to the shown ones, and times the running turn up to now", () => {
    const figures = [1, 2].map((turn) => ({
      turn,
      calls: turn,
      durationMs: 100,
      toolMs: 30,
      waitMs: 20,
      usage: undefined,
      context: { used: turn },
      costUsd: turn === 1 ? 0.5 : null,
      outcome: turn === 1 ? "fail" : "done",
    })) as never;
    const shown = [
      { number: 2, state: "done", prompt: "p" },
      { number: 3, state: "running", startedAt: Date.now() - 500 },
      { number: 4, state: "running", startedAt: Date.now() + 5000 },
      { number: 5, state: "running" },
    ] as never;
    const [first, second, third, fourth, fifth] = turnNumbers(shown, figures, () => ({ toolMs: 1, waitMs: 2 }));
    expect(first).toEqual({
      number: 1,
      prompt: "",
      durationMs: 100,
      modelMs: 50,
      toolMs: 30,
      waitMs: 20,
      calls: 1,
      changed: [],
      context: { used: 1 },
      costUsd: 0.5,
      state: "failed",
    });
    expect(second).toEqual({ number: 2, state: "done", prompt: "p", context: { used: 2 } });
    expect(third!.durationMs).toBeGreaterThanOrEqual(500);
    expect(third!.durationMs).toBeLessThan(10_000);
    expect(third).toMatchObject({ toolMs: 1, waitMs: 2 });
    expect(fourth!.durationMs).toBe(0);
    expect(fifth!.durationMs).toBeLessThan(1000);
    const all = turnNumbers([], figures, () => ({ toolMs: 0, waitMs: 0 }));
    expect(all.map(({ number, state }) => [number, state])).toEqual([
      [1, "failed"],
      [2, "done"],
    ]);
    expect(all[1]).not.toHaveProperty("costUsd");
    expect(turnNumbers([], undefined, () => ({ toolMs: 0, waitMs: 0 }))).toEqual([]);
    const own = [{ number: 2, state: "done", context: { used: 9 } }] as never;
    expect(turnNumbers(own, figures, () => ({ toolMs: 0, waitMs: 0 }))[1]).toMatchObject({ context: { used: 9 } });
  });

  it("the studio's timing of a stored turn separates the wait for an answer from its tools", () => {
    const turn = new TurnClock();
    const call = { callId: "1", tool: "shell", args: {} };
    turn.take({ type: "user", text: "go", at: 0 });
    turn.take({ type: "tool_start", ...call, at: 100 });
    turn.take({ type: "tool_end", ...call, at: 5200 });
    turn.take({ type: "done", text: "", durationMs: 5300, apiDurationMs: 100, waitedMs: 5000, at: 5300 });
    expect(turn.times()).toEqual({ toolMs: 100, waitMs: 5000 });
  });

  it("a studio replay skips long pauses and never goes back in time", () => {
    const steps = [undefined, 1000, 1500, 9000, undefined, 8000, 8100].map((at) => ({ event: { at } })) as never;
    expect(momentTimes(steps, 2000)).toEqual([0, 0, 500, 2500, 2500, 2500, 2600]);
  });

  it("a studio replay shows files as they were at a moment", () => {
    const end = (callId: string) => ({ event: { type: "tool_end", callId } });
    const steps = [{ event: { type: "text" } }, end("1"), end("2"), end("3")] as never;
    const change = (callId: string, more: object) => ({ callId, kind: "edit", ...more });
    const changes = [
      { path: "a", steps: [change("1", { before: "0", after: "1" }), change("3", { before: "1", after: "3" })] },
      { path: "new", steps: [change("2", { before: "", after: "n" })] },
      { path: "gone", steps: [change("2", { kind: "delete", before: "g", after: null })] },
      { path: "made", steps: [change("3", { kind: "command", after: null })] },
      { path: "unknown", steps: [change("9", { before: null, after: "x" })] },
    ] as never;
    const at = (moment: number) => filesAt(changes, steps, moment).map(({ path, text }) => [path, text]);
    expect(at(0)).toEqual([
      ["a", "0"],
      ["gone", "g"],
    ]);
    expect(at(1)).toEqual(at(0));
    expect(at(2)).toEqual([
      ["gone", "g"],
      ["a", "1"],
    ]);
    expect(at(3)).toEqual([
      ["a", "1"],
      ["new", "n"],
      ["gone", undefined],
    ]);
    const last = filesAt(changes, steps, 4);
    expect(last.map(({ path }) => path)).toEqual(["new", "gone", "a", "made"]);
    expect(last.find(({ path }) => path === "made")).toMatchObject({ isUnknown: true, byCommand: { callId: "3" } });
    expect(last.find(({ path }) => path === "a")).toEqual({ path: "a", text: "3" });
  });
});

describe("addresses, choices and keys", () => {
  const kept = new Map<string, string>();
  const listeners = new Map<string, (event: never) => void>();
  const pushed: string[] = [];
  let router: typeof import("../../src/studio/client/state/router.ts");
  let choices: typeof import("../../src/studio/client/state/choices.ts");
  let keys: typeof import("../../src/studio/client/state/keys.ts");
  class Element {}
  let openDialog: object | null = null;

  beforeAll(async () => {
    vi.stubGlobal("location", { pathname: "/sessions/claude/s-1/changes" });
    vi.stubGlobal("history", {
      pushState: (_state: unknown, _title: string, to: string) => pushed.push(`push ${to}`),
      replaceState: (_state: unknown, _title: string, to: string) => pushed.push(`replace ${to}`),
    });
    vi.stubGlobal("addEventListener", (name: string, listener: (event: never) => void) =>
      listeners.set(name, listener),
    );
    vi.stubGlobal("localStorage", {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => kept.set(name, value),
    });
    vi.stubGlobal("HTMLElement", Element);
    vi.stubGlobal("document", { querySelector: () => openDialog });
    kept.set("courser.new-run", JSON.stringify({ cli: "claude", mode: "plan", permission: "force", model: "m" }));
    router = await import("../../src/studio/client/state/router.ts");
    choices = await import("../../src/studio/client/state/choices.ts");
    keys = await import("../../src/studio/client/state/keys.ts");
  });
  beforeEach(() => void (pushed.length = 0));
  afterAll(() => void vi.unstubAllGlobals());

  it("the studio converts page addresses to views and back", () => {
    const { placeAt, addressOf } = router;
    expect(router.place.value).toEqual({ type: "session", tool: "claude", id: "s-1", tab: "changes" });
    const places = [
      ["/", { type: "home" }],
      ["/new", { type: "new" }],
      ["/inbox", { type: "inbox" }],
      ["/sessions/cursor/x", { type: "session", tool: "cursor", id: "x", tab: "timeline" }],
      ["/sessions/cursor/x/files", { type: "session", tool: "cursor", id: "x", tab: "files" }],
      ["/runs/run-1", { type: "run", id: "run-1", tab: "timeline" }],
      ["/runs/run-1/replay", { type: "run", id: "run-1", tab: "replay" }],
      ["/runs/run-1/events", { type: "run", id: "run-1", tab: "events" }],
    ] as const;
    for (const [address, place] of places) {
      expect(placeAt(address)).toEqual(place);
      expect(addressOf(place)).toBe(address);
    }
    expect(placeAt("/runs/run-1/nonsense")).toMatchObject({ tab: "timeline" });
    for (const odd of ["/sessions/cursor", "/sessions", "/runs", "/runs/", "/what"])
      expect(placeAt(odd)).toEqual({ type: "unknown" });
    expect(addressOf({ type: "unknown" })).toBe("/");
  });

  it("the studio's navigation adds to the browser history unless it replaces, and links do not reload the page", () => {
    const { navigate: go, place, watchLinks } = router;
    go({ type: "inbox" });
    expect(place.value).toEqual({ type: "inbox" });
    go({ type: "run", id: "r", tab: "changes" }, { replace: true });
    expect(pushed).toEqual(["push /inbox", "replace /runs/r/changes"]);
    watchLinks();
    const click = (more: object = {}, attributes: string[] = []) => {
      let isPrevented = false;
      const link = { hasAttribute: (name: string) => attributes.includes(name), getAttribute: () => "/new" };
      const target = { closest: () => link };
      const event = { target, button: 0, preventDefault: () => (isPrevented = true), ...more };
      listeners.get("click")!(event as never);
      return isPrevented;
    };
    expect(click()).toBe(true);
    expect(pushed.at(-1)).toBe("push /new");
    const left = [{ button: 1 }, { metaKey: true }, { ctrlKey: true }, { shiftKey: true }, { altKey: true }];
    for (const more of [...left, { defaultPrevented: true }, { target: { closest: () => null } }, { target: {} }])
      expect(click(more), JSON.stringify(more)).toBe(false);
    expect(click({}, ["download"])).toBe(false);
    listeners.get("popstate")!({} as never);
    expect(place.value).toMatchObject({ type: "session", id: "s-1" });
  });

  it("the studio's form for a new run keeps the last choices, but never force mode", () => {
    const { choices: chosen, choose, keepChoices } = choices;
    expect(chosen.value).toMatchObject({
      cli: "claude",
      mode: "plan",
      permission: "ask",
      model: "m",
      isWorktree: false,
    });
    choose({ permission: "force", pool: "p" });
    expect(chosen.value).toMatchObject({ permission: "force", pool: "p", cli: "claude" });
    keepChoices();
    const saved = JSON.parse(kept.get("courser.new-run")!);
    expect(saved).toMatchObject({ pool: "p", mode: "plan" });
    expect(saved).not.toHaveProperty("permission");
  });

  it("the studio's keys act on the view in front, alone or as a sequence, and never while typing", () => {
    const { actions, offerActions: offer, watchKeys } = keys;
    const done: string[] = [];
    const action = (id: string, key: string) => ({ id, title: id, keys: key, run: () => done.push(id) });
    watchKeys(() => done.push("palette"));
    let at = 0;
    const press = (key: string, more: object = {}) => {
      let isPrevented = false;
      const event = { key, timeStamp: (at += 100), target: null, preventDefault: () => (isPrevented = true), ...more };
      listeners.get("keydown")!(event as never);
      return isPrevented;
    };
    const takeBack = offer("everywhere", [action("go inbox", "g i"), action("below", "j"), action("inbox alone", "i")]);
    const view = [action("above", "j")];
    const leave = offer("view", view);
    expect(press("j")).toBe(true);
    press("g");
    press("i");
    press("i");
    expect(done).toEqual(["above", "go inbox", "inbox alone"]);
    press("g");
    at += 1000;
    press("i");
    expect(done.at(-1)).toBe("inbox alone");
    expect(press("x")).toBe(false);
    leave();
    press("j");
    expect(done.at(-1)).toBe("below");
    expect(press("k", { metaKey: true })).toBe(true);
    press("K", { ctrlKey: true });
    expect(done.slice(-2)).toEqual(["palette", "palette"]);
    const count = done.length;
    const typing = (tagName: string) => ({ target: Object.assign(new Element(), { tagName }) });
    for (const more of [
      { altKey: true },
      { ctrlKey: true },
      { metaKey: true },
      { defaultPrevented: true },
      typing("INPUT"),
      typing("TEXTAREA"),
      typing("SELECT"),
    ])
      press("j", more);
    press("j", { target: Object.assign(new Element(), { tagName: "DIV", isContentEditable: true }) });
    openDialog = {};
    press("j");
    openDialog = null;
    expect(done).toHaveLength(count);
    press("j", typing("DIV"));
    expect(done).toHaveLength(count + 1);
    offer("view", view);
    const other = offer("view", []);
    leave();
    expect([...actions.value.keys()]).toContain("view");
    other();
    takeBack();
    expect([...actions.value.keys()].filter((each) => each === "view" || each === "everywhere")).toEqual([]);
  });
});

describe("requests to the service", () => {
  afterAll(() => void vi.unstubAllGlobals());

  it("the studio's requests have the service's field names and addresses", async () => {
    const asked: unknown[] = [];
    const http = {
      get: async (path: string) => {
        asked.push(path);
        return { items: ["item"] };
      },
      send: async (...args: unknown[]) => {
        asked.push(args);
        return { items: ["item"], text: "copied to 01234567-89ab-cdef-0123-456789abcdef." };
      },
    } as unknown as Http;
    const api = createApi(http);
    const ref = { tool: "claude", id: "a/b" };
    const filter = { search: " words ", agent: "", project: "/w", state: "done", days: 0 };
    await api.sessions(filter, 50);
    expect(asked.pop()).toBe("/api/sessions?search=words&project=%2Fw&state=done&limit=50");
    await api.sessions({ ...filter, days: 2 }, 50);
    const since = Number(new URLSearchParams(String(asked.pop()).split("?")[1]).get("since"));
    expect(Math.abs(Date.now() / 1000 - 2 * 86_400 - since)).toBeLessThan(5);
    await api.session(ref);
    await api.events(ref, "from", 3);
    await api.lastEvents(ref, 7);
    await api.changes(ref, { commands: false, now: true });
    await api.changes(ref, { commands: true });
    await api.changes(ref, { commands: true, now: true });
    await api.run("r/1");
    await api.runChanges("r");
    expect(asked.splice(0)).toEqual([
      "/api/sessions/claude/a%2Fb",
      "/api/sessions/claude/a%2Fb/events?limit=10000&from=3",
      "/api/sessions/claude/a%2Fb/events?last=7",
      "/api/sessions/claude/a%2Fb/changes",
      "/api/sessions/claude/a%2Fb/changes?commands=1",
      "/api/sessions/claude/a%2Fb/changes?commands=1&now=1",
      "/api/runs/r%2F1",
      "/api/runs/r/changes",
    ]);
    expect(await api.fork(ref)).toBe("01234567-89ab-cdef-0123-456789abcdef");
    await api.fork(ref, 0);
    await api.rename(ref, "t");
    await api.remove(ref);
    await api.rewind(ref, 4);
    await api.answer("r", { id: "q", hash: "h" }, { type: "yes" });
    await api.stop("r");
    expect(asked.splice(0)).toEqual([
      ["POST", "/api/sessions/claude/a%2Fb/fork", {}],
      ["POST", "/api/sessions/claude/a%2Fb/fork", { turn: 0 }],
      ["PATCH", "/api/sessions/claude/a%2Fb", { title: "t" }],
      ["DELETE", "/api/sessions/claude/a%2Fb"],
      ["POST", "/api/sessions/claude/a%2Fb/rewind", { turn: 4 }],
      ["POST", "/api/runs/r/answer", { question: "q", hash: "h", answer: { type: "yes" } }],
      ["POST", "/api/runs/r/stop"],
    ]);
    for (const list of [api.agents, api.models, api.days]) expect(await list()).toEqual(["item"]);
    expect(await api.log("r", 5)).toEqual(["item"]);
    expect(await api.files("/w", "p")).toEqual(["item"]);
    expect(await api.summaries([])).toEqual(["item"]);
    expect([api.exportAddress(ref, "md"), api.patchAddress("r")]).toEqual([
      "/api/sessions/claude/a%2Fb/export?format=md",
      "/api/runs/r/patch",
    ]);
  });

  it("the studio's requests carry the token, and a failed one explains itself in a sentence", async () => {
    let refused = 0;
    const seen: { path: string; init: RequestInit }[] = [];
    let answer: () => Promise<Response> = async () => Response.json({ ok: 1 });
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
      seen.push({ path, init });
      return answer();
    });
    const http = createHttp("secret", () => refused++);
    expect(await http.get("/x")).toEqual({ ok: 1 });
    expect(await http.send("POST", "/y", { a: 1 })).toEqual({ ok: 1 });
    await http.send("DELETE", "/z");
    expect(seen.map(({ init }) => [init.method, init.body])).toEqual([
      [undefined, undefined],
      ["POST", '{"a":1}'],
      ["DELETE", "{}"],
    ]);
    expect(seen[0]!.init).toMatchObject({ headers: { Authorization: "Bearer secret" }, credentials: "omit" });
    expect(seen[1]!.init.headers).toMatchObject({ "Content-Type": "application/json" });
    const failing = async (status: number, body?: object) => {
      answer = async () => (body ? Response.json(body, { status }) : new Response("oops", { status }));
      return http.get("/x").catch((error: ServiceError) => [error.status, error.code, error.message]);
    };
    expect(await failing(404, { error: { code: "gone", message: "It is gone." } })).toEqual([
      404,
      "gone",
      "It is gone.",
    ]);
    expect(await failing(500)).toEqual([500, "failed", "The service answered 500."]);
    expect(refused).toBe(0);
    await failing(401);
    expect(refused).toBe(1);
    answer = () => Promise.reject(new TypeError("network"));
    await expect(http.get("/x")).rejects.toMatchObject({
      code: "unreachable",
      message: "The service does not respond.",
    });
    const stopped = AbortSignal.abort();
    await expect(http.get("/x", stopped)).rejects.toBeInstanceOf(TypeError);
  });

  it("the studio follows the event stream, resumes it after the last event, and reports its loss", async () => {
    vi.stubGlobal("addEventListener", () => {});
    // Whoever answers knows the token: the same proof as the page makes.
    vi.stubGlobal("fetch", async (path: string) => {
      const nonce = new URL(path, "http://x").searchParams.get("nonce");
      const { createHmac } = await import("node:crypto");
      return Response.json({ proof: createHmac("sha256", "secret").update(`courser:${nonce}`).digest("hex") });
    });
    const stop = new AbortController();
    const told: unknown[] = [];
    const headers: object[] = [];
    const streams = [
      [
        'event: hello\ndata: {"runs":[],"questions":[]}\n\nid: 0\nevent: entry\ndata: {"position":0}\n\n',
        "event: runs\nda",
        'ta: {"runs":[1]}\n\n',
      ],
      [
        'event: hello\ndata: {"runs":[2],"questions":[]}\n\nevent: sessions\ndata: {"changed":[3]}\n\nevent: heartbeat\ndata: {}\n\n',
      ],
    ];
    const http = {
      open: async (_path: string, given: object) => {
        headers.push(given);
        const pieces = streams.shift();
        if (!pieces) {
          stop.abort();
          throw new Error("over");
        }
        return new Response(new Blob(pieces).stream());
      },
    } as unknown as Http;
    await followLog({
      http,
      token: "secret",
      signal: stop.signal,
      onEntry: (entry) => told.push(["entry", entry]),
      onRuns: (runs) => told.push(["runs", runs]),
      onSessions: (changed) => told.push(["sessions", changed]),
      onState: (state) => told.push(state),
      onHello: (there, again) => told.push(["hello", there.runs, again]),
    });
    expect(told).toEqual([
      "open",
      ["hello", [], false],
      ["entry", { position: 0 }],
      ["runs", [1]],
      "lost",
      "open",
      ["hello", [2], true],
      ["sessions", [3]],
      "lost",
    ]);
    expect(headers).toEqual([
      { Accept: "text/event-stream" },
      { Accept: "text/event-stream", "Last-Event-ID": "0" },
      { Accept: "text/event-stream", "Last-Event-ID": "0" },
    ]);
  });
});

describe("output of programs", () => {
  const shown = (text: string, more: { last?: number; first?: number } = {}) =>
    renderToString(h(View, { isStatic: true, children: h(Ansi, { text, ...more }) }));
  const plain = (html: string) => html.replace(/<[^>]*>/g, "");
  const esc = (code: string, text: string) => `\x1b[${code}m${text}\x1b[0m`;

  it.each([
    ["31", "cr-fg-red"],
    ["92", "cr-fg-green"],
    ["44", "cr-bg-blue"],
    ["1", "cr-bold"],
    ["3", "cr-italic"],
    ["4", "cr-underline"],
    ["38;5;196", "cr-fg-red"],
    ["38;5;46", "cr-fg-green"],
    ["38;5;21", "cr-fg-blue"],
    ["38;5;226", "cr-fg-yellow"],
    ["38;5;51", "cr-fg-cyan"],
    ["38;5;201", "cr-fg-magenta"],
    ["38;5;16", "cr-fg-black"],
    ["38;5;231", "cr-fg-white"],
    ["38;5;232", "cr-fg-black"],
    ["38;5;255", "cr-fg-white"],
    ["38;2;200;10;10", "cr-fg-red"],
    ["48;2;10;10;200", "cr-bg-blue"],
    ["38;2;120;100;90", "cr-fg-white"],
    ["38;2;60;50;40", "cr-fg-black"],
  ])("the studio shows the terminal colour %s as %s", (code, name) => {
    expect(shown(esc(code, "text"))).toContain(`<span class="${name}">text</span>`);
  });

  it("text copied from the studio's terminal output has no titles, cursor moves or overwritten lines", () => {
    expect(plain(shown("\x1b]0;title\x07one\x1b[2K\r\ntwo\x1b[1;2H"))).toBe("one\ntwo\n");
    expect(plain(shown("10 %\r50 %\rdone\nnext"))).toBe("done\nnext\n");
    expect(plain(shown("a\n\nb\n\n\n"))).toBe("a\n\nb\n");
    expect(shown("plain")).not.toContain('class="cr-fg');
    expect(plain(shown("a\n\nb\nc\n", { last: 2 }))).toBe("b\nc\n");
  });
});
