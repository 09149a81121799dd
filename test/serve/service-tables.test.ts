// What the service says and shows, part by part: files of workspaces, changes, pages of events, records, refusals, metrics, uploads.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { Changes } from "../../src/serve/engines/changes.ts";
import { ObjectFiles } from "../../src/serve/engines/object-files.ts";
import { agentName, ignoreMissingPermission, refuseRun, refuseToDelete } from "../../src/serve/engines/refusals.ts";
import { fileChanges } from "../../src/serve/file-changes.ts";
import { refuseGrants, restrictionsIn } from "../../src/serve/routes/request-shapes.ts";
import { agentBody, branchesOf, failures, restStatus, runView } from "../../src/serve/routes/rest-shapes.ts";
import { eventsPage, sessionChanges, sessionUsage } from "../../src/serve/sessions.ts";
import { filesToSend } from "../../src/serve/upload/files-to-send.ts";
import { describeUpload } from "../../src/serve/upload/index.ts";
import { managementAddress } from "../../src/serve/worker/management.ts";
import { claimFolder, leaveFolder, sweepFolders } from "../../src/serve/worker/run-folders.ts";
import { metricsText, prometheusText, WorkerStats } from "../../src/serve/worker/stats.ts";
import { listFolder, readWorkspaceFile, trustedWorkspace } from "../../src/serve/workspaces.ts";
import { trust } from "../../src/store/trust.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-tables-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const write = (path: string, text: string | Buffer = "") => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};

describe("files of a workspace", () => {
  it("the service serves only an existing trusted folder, by its real path", () => {
    const config = join(folder, "config");
    write("work/a");
    symlinkSync("work", join(folder, "link"));
    for (const path of ["work", join(folder, "none"), join(folder, "work/a")])
      expect(() => trustedWorkspace(config, path)).toThrow("must be the absolute path of a directory that exists");
    expect(() => trustedWorkspace(config, join(folder, "work"))).toThrow(
      /work is not trusted\. Trust it where .* --trust\.$/,
    );
    trust(config, join(folder, "work"));
    expect(trustedWorkspace(config, join(folder, "link"))).toBe(join(folder, "work"));
  });

  it("the service lists a folder's entries by name and kind, and nothing outside the workspace", () => {
    const work = join(folder, "work");
    for (const name of ["b", "a", "d/e"]) write(`work/${name}`);
    write("secret");
    for (const [name, target] of [
      ["out", "../secret"],
      ["up", ".."],
      ["in", "d"],
    ])
      symlinkSync(target!, join(work, name!));
    expect(listFolder(work, "")).toEqual([
      { name: "a", type: "file" },
      { name: "b", type: "file" },
      { name: "d", type: "folder" },
      ...["in", "out", "up"].map((name) => ({ name, type: "other" })),
    ]);
    expect(listFolder(work, "in")).toEqual([{ name: "e", type: "file" }]);
    for (const path of ["..", "up", "a", "none", "/", "a\0b", "../work"].slice(0, 6))
      expect(() => listFolder(work, path)).toThrow(`${JSON.stringify(path)} is not a file of the workspace.`);
    write("work/..odd/f");
    expect(listFolder(work, "..odd")).toHaveLength(1);
    for (const path of ["out", "../secret", "d", "none"])
      expect(() => readWorkspaceFile(work, path)).toThrow("is not a file of the workspace");
  });

  it("the service reads a file up to 2 MiB, unless its name suggests secrets", () => {
    write("a", "hä");
    expect(readWorkspaceFile(folder, "a")).toEqual({ text: "hä", bytes: 3, isCut: false });
    const most = 2 * 1024 * 1024;
    for (const [bytes, isCut] of [
      [most, false],
      [most + 1, true],
    ] as const) {
      truncateSync(join(folder, "a"), bytes);
      const read = readWorkspaceFile(folder, "a");
      expect([read.text.length > most - 3 && read.text.length <= most, read.bytes, read.isCut]).toEqual([
        true,
        bytes,
        isCut,
      ]);
    }
    write(".env", "KEY=1");
    symlinkSync(".env", join(folder, "plain"));
    for (const name of [".env", "plain"])
      expect(() => readWorkspaceFile(folder, name)).toThrow(`"${name}" is not shown: its name suggests secrets.`);
  });
});

it("the service gathers a session's changes by file, from successful calls that change files", () => {
  const end = (tool: string, args: object, value: unknown, kind = "success") => ({
    turn: 2,
    event: { type: "tool_end", callId: "c", tool, args, outcome: { kind, value } } as never,
  });
  const whole = {
    path: "/a",
    linesAdded: 2,
    linesRemoved: 1,
    diffString: "d",
    beforeFullFileContent: "b",
    afterFullFileContent: "n",
  };
  const step = { turn: 2, callId: "c" };
  expect(
    fileChanges([
      end("edit", {}, whole),
      end("edit", {}, whole, "failure"),
      end("read", { path: "/a" }, {}),
      end("toString", { path: "/a" }, {}),
      end("write", { path: "/b", fileText: "t" }, { linesCreated: 3 }),
      end("delete", { path: "/a" }, { linesRemoved: Number.NaN }),
      end("edit", {}, { linesAdded: 1 }),
      end("edit", { path: "/c" }, { linesAdded: "1" }),
      { turn: 1, event: { type: "user", text: "x" } as never },
    ]),
  ).toEqual([
    {
      ...{ path: "/a", linesAdded: 2, linesRemoved: 1 },
      steps: [
        { ...step, kind: "edit", diff: "d", before: "b", after: "n" },
        { ...step, kind: "delete", diff: null, before: null, after: null },
      ],
    },
    {
      path: "/b",
      linesAdded: 3,
      linesRemoved: 0,
      steps: [{ ...step, kind: "write", diff: null, before: null, after: "t" }],
    },
    {
      path: "/c",
      linesAdded: 0,
      linesRemoved: 0,
      steps: [{ ...step, kind: "edit", diff: null, before: null, after: null }],
    },
  ]);
});

describe("pages of a session", () => {
  const text = (name: string) => ({ type: "text_end", text: name }) as never;
  const session = {
    turns: [
      { number: 3, events: ["a", "b", "c"].map(text) },
      { number: 4, events: [] },
      { number: 5, events: ["d", "e"].map(text) },
    ],
  } as never;
  const page = (query: { from?: number; turn?: number; limit: number }) => {
    const { items, ...rest } = eventsPage(session, query);
    return [
      items.map(({ index, turn, event }) => `${index}${turn}${(event as { text: string }).text}`).join(" "),
      rest,
    ];
  };

  it.each([
    [{ limit: 10 }, "03a 13b 23c 35d 45e", { total: 5 }],
    [{ limit: 2 }, "03a 13b", { total: 5, next: 2 }],
    [{ limit: 4, from: 1 }, "13b 23c 35d 45e", { total: 5 }],
    [{ limit: 2, from: 2 }, "23c 35d", { total: 5, next: 4 }],
    [{ limit: 1, from: 4 }, "45e", { total: 5 }],
    [{ limit: 9, from: 9 }, "", { total: 5 }],
    [{ limit: 9, turn: 4 }, "35d 45e", { total: 5 }],
    [{ limit: 1, turn: 5 }, "35d", { total: 5, next: 4 }],
  ])("the service returns the page %j of a list", (query, items, rest) => expect(page(query)).toEqual([items, rest]));

  it("the service computes a turn's figures from its events and its end", () => {
    const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, totalCost: 0.5 };
    const events = [
      { type: "tool_start", callId: "a", at: 0 },
      {
        type: "tool_end",
        callId: "a",
        tool: "write",
        args: { path: "/a" },
        outcome: { kind: "success", value: {} },
        at: 5,
      },
      { type: "done", durationMs: 9, usage, context: { used: 7 }, at: 9 },
    ];
    const turns = [
      { number: 1, events },
      { number: 2, events: [] },
    ] as never;
    expect(sessionUsage({ turns } as never)).toEqual([
      {
        turn: 1,
        calls: 1,
        outcome: "done",
        durationMs: 9,
        toolMs: 5,
        waitMs: 0,
        usage,
        context: { used: 7 },
        costUsd: 0.5,
      },
      {
        turn: 2,
        calls: 0,
        outcome: null,
        durationMs: 0,
        toolMs: 0,
        waitMs: 0,
        usage: null,
        context: null,
        costUsd: null,
      },
    ]);
    expect([undefined, 1, 2].map((turn) => sessionChanges({ turns } as never, turn).length)).toEqual([1, 1, 0]);
  });
});

describe("records as clients see them", () => {
  it("the service shows an agent as archived, active or idle", () => {
    const agent = {
      id: "a",
      name: "n",
      isArchived: false,
      isBusy: false,
      createdAt: 0,
      updatedAt: 1,
      workspace: "/w",
      cli: "courser",
    };
    const plain = {
      id: "a",
      name: "n",
      createdAt: "1970-01-01T00:00:00.000Z",
      updatedAt: "1970-01-01T00:00:00.001Z",
      workspace: "/w",
      cli: "courser",
    };
    expect(agentBody(agent as never)).toEqual({ ...plain, status: "IDLE" });
    expect(agentBody({ ...agent, isBusy: true } as never).status).toBe("ACTIVE");
    expect(agentBody({ ...agent, isBusy: true, isArchived: true } as never).status).toBe("ARCHIVED");
    expect(agentBody({ ...agent, latestRun: "r", sessionId: "s" } as never)).toMatchObject({
      latestRunId: "r",
      sessionId: "s",
    });
  });

  it("the service takes as a run's last change its end, start or creation", () => {
    const run = { id: "r", agent: "a", state: "queued", createdAt: 0, open: 2 };
    const first = {
      id: "r",
      agentId: "a",
      status: "CREATING",
      createdAt: "1970-01-01T00:00:00.000Z",
      questions: 2,
      git: { branches: [] },
    };
    expect(runView(run as never)).toEqual({ ...first, updatedAt: first.createdAt });
    expect(runView({ ...run, startedAt: 1 } as never).updatedAt).toBe("1970-01-01T00:00:00.001Z");
    const end = { durationMs: 5, text: "t", code: "C", branch: "b" };
    expect(runView({ ...run, state: "error", startedAt: 1, endedAt: 2, end, sessionId: "s" } as never)).toEqual({
      ...{
        ...first,
        status: "ERROR",
        updatedAt: "1970-01-01T00:00:00.002Z",
        durationMs: 5,
        result: "t",
        errorCode: "C",
      },
      ...{ git: { branches: [{ name: "b" }] }, sessionId: "s" },
    });
    expect((["queued", "running", "finished", "error", "cancelled"] as const).map(restStatus)).toEqual([
      ...["CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED"],
    ]);
    expect(branchesOf(undefined)).toEqual({ branches: [] });
    expect(
      Object.entries(failures(400, 403, 404, 409, 410)).map(([code, { description }]) => `${code} ${description}`),
    ).toEqual([
      ...["400 The request is wrong", "403 Not allowed here", "404 Not found", "409 Not now", "410 Not kept any more"],
    ]);
  });

  it("clients of the service may restrict a run, and only its owner may grant", () => {
    const body = {
      mode: "plan",
      hooks: ["a"],
      permissions: { deny: ["x"] },
      prompt: "p",
      trust: undefined,
      force: true,
    };
    expect(restrictionsIn(body)).toEqual({ mode: "plan", hooks: ["a"], permissions: { deny: ["x"] } });
    expect(() => refuseGrants(body)).not.toThrow();
    expect(() => refuseGrants({ trust: false })).toThrow('Only the owner of the service can grant "trust".');
  });
});

it("the service explains that an agent is busy or archived", () => {
  const agent = { id: "a", isArchived: false, isBusy: false };
  expect(() => refuseRun(agent)).not.toThrow();
  expect(() => refuseRun({ ...agent, isBusy: true })).toThrow("The agent a is busy with another run.");
  expect(() => refuseRun({ ...agent, isBusy: true, isArchived: true })).toThrow("The agent a is archived.");
  expect(() => refuseToDelete({ id: "a", isBusy: true })).toThrow("Cancel it first.");
  expect(() => refuseToDelete(agent)).not.toThrow();
  expect(() => ignoreMissingPermission(new UserError("FLEET_REFUSED", "x"))).not.toThrow();
  for (const error of [new UserError("USAGE", "x"), new Error("FLEET_REFUSED")])
    expect(() => ignoreMissingPermission(error)).toThrow(error);
  const named = (text: string, name?: string) =>
    agentName({ spec: { prompt: { text } }, ...(name !== undefined && { name }) } as never);
  expect([named(" a\n b "), named("x", "given"), named("y".repeat(90)).length]).toEqual(["a b", "given", 80]);
});

describe("the objects of runs as files", () => {
  const bytes = async function* (...texts: string[]) {
    for (const text of texts) yield Buffer.from(text);
  };

  it("a stored object of a run appears once complete, and goes with its run", async () => {
    const files = new ObjectFiles(join(folder, "objects"));
    await files.put("r", "a.gz", bytes("one", "two"));
    let text = "";
    for await (const piece of files.get("r", "a.gz")!) text += piece;
    expect(text).toBe("onetwo");
    const broken = async function* () {
      yield Buffer.from("one");
      throw Object.assign(new Error("x"), { code: "ENOSPC" });
    };
    await expect(files.put("r", "b", broken())).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/objects\/r\/b cannot be written: .+\.$/),
    });
    expect(files.get("r", "b")).toBeUndefined();
    files.drop("r");
    expect(existsSync(join(folder, "objects/r"))).toBe(false);
    for (const [run, name] of [
      ["..", "a"],
      ["r", "a/b"],
      [".r", "a"],
      ["r", ""],
    ] as const)
      await expect(files.put(run, name, bytes())).rejects.toThrow("cannot name what is kept for a run");
  });
});

describe("changes of a folder", () => {
  afterEach(() => void vi.useRealTimers());

  it("waiting for a change of the run database ends at a change, an abort, or after a second", async () => {
    const changes = new Changes(folder);
    const { signal } = new AbortController();
    const seen = changes.count;
    const waiting = changes.after(seen, signal);
    changes.announce();
    await waiting;
    expect(changes.count).toBeGreaterThan(seen);
    expect(existsSync(join(folder, "runs.changed"))).toBe(true);
    await changes.after(seen, signal); // it has changed since
    await changes.after(changes.count, AbortSignal.abort());
    const stop = new AbortController();
    const stopped = changes.after(changes.count, stop.signal, { patient: true });
    stop.abort();
    await stopped;
    changes.close();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const gone = new Changes(join(folder, "none"));
    for (const patient of [true, false]) {
      let isWoken = false;
      const woken = gone.after(gone.count, signal, { patient }).then(() => (isWoken = true));
      await vi.advanceTimersByTimeAsync(999);
      expect(isWoken).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await woken;
    }
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a worker's folders and figures", () => {
  it("a machine removes the folders of dead workers and keeps others", () => {
    const data = join(folder, "data");
    const [own, left, dead, far] = ["own", "left", "dead", "far"].map((id) => claimFolder(data, { id, attempts: 2 }));
    expect([own, readFileSync(join(own!, "owner"), "utf8")]).toEqual([
      join(data, "runs/own-2"),
      `${process.pid} ${hostname()}`,
    ]);
    leaveFolder(left!);
    writeFileSync(join(dead!, "owner"), `4194305 ${hostname()}`);
    writeFileSync(join(far!, "owner"), "4194305 elsewhere far");
    expect(sweepFolders(data, join(folder, "config"))).toBe(1);
    expect([own, left, dead, far].map((each) => existsSync(each!))).toEqual([true, true, false, true]);
    writeFileSync(join(own!, "old"), "");
    claimFolder(data, { id: "own", attempts: 2 });
    expect(existsSync(join(own!, "old"))).toBe(false);
    for (const id of ["", "../x", "-x", "a.b"])
      expect(() => claimFolder(data, { id, attempts: 1 })).toThrow("an id that is not a name");
    expect(sweepFolders(join(folder, "none"), folder)).toBe(0);
  });

  it("the service counts runs by outcome, and reports them in Prometheus format", () => {
    const stats = new WorkerStats({ name: 'n"\\\n', pool: "p", version: "1", concurrency: 4 } as never);
    for (let run = 0; run < 4; run++) stats.begin();
    stats.end("lost", 1500);
    stats.end({ outcome: "finished" } as never, 250);
    expect([stats.taken, stats.running, stats.endedAll, stats.ended("lost"), stats.ended("error")]).toEqual([
      4, 2, 2, 1, 0,
    ]);
    expect([
      stats.isReady,
      Object.assign(stats, { isTaking: true }).isReady,
      Object.assign(stats, { isReached: false }).isReady,
    ]).toEqual([false, true, false]);
    const values = metricsText(stats)
      .split("\n")
      .filter((line) => line.startsWith("courser"));
    expect(values).toEqual([
      'courser_worker_info{name="n\\"\\\\\\n",pool="p",version="1"} 1',
      "courser_worker_ready 0",
      "courser_worker_runs_taken_total 4",
      ...["finished", "error", "cancelled", "given back", "lost"].map(
        (ending) => `courser_worker_runs_ended_total{ending="${ending}"} ${/finished|lost/.test(ending) ? 1 : 0}`,
      ),
      "courser_worker_leases_lost_total 1",
      "courser_worker_runs_running 2",
      "courser_worker_concurrency 4",
      "courser_worker_run_seconds_total 1.75",
    ]);
    expect(prometheusText([["m", "gauge", "Help.", [[{}, 1.23456]]]])).toBe(
      "# HELP m Help.\n# TYPE m gauge\nm 1.235\n",
    );
  });

  it.each([
    ["80", "127.0.0.1", 80],
    [":80", "127.0.0.1", 80],
    ["localhost:65535", "127.0.0.1", 65_535],
    ["[::1]:0", "::1", 0],
    ["0.0.0.0:1", "0.0.0.0", 1],
  ])("the management address %s", (given, host, port) => expect(managementAddress(given)).toEqual({ host, port }));

  it.each(["65536", "", "host", "::1:80", "a b:1", "1:2:3"])("the management address '%s' is refused", (given) =>
    expect(() => managementAddress(given)).toThrow(`--management-addr '${given}' is not HOST:PORT.`),
  );
});

describe("files that are sent to a fleet", () => {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };

  it("an upload leaves out secrets, ignored files and links that lead out, unless everything is wanted", async () => {
    for (const name of ["a", "d/b", ".env", "out/x"]) write(name, "12");
    write(".gitignore", "out\n");
    symlinkSync("a", join(folder, "in"));
    symlinkSync("../..", join(folder, "d/up"));
    symlinkSync("/etc", join(folder, "away"));
    const { files, bytes, secrets, others } = await filesToSend(folder, { env });
    expect([[...files].sort(), bytes, secrets, [...others].sort()]).toEqual([
      [".gitignore", "a", "d/b", "in"],
      4 + 2 + 2 + 1,
      [".env"],
      ["away", "d/up"],
    ]);
    expect([...(await filesToSend(folder, { env, isWhole: true })).files].sort()).toEqual([
      ...[".env", ".gitignore", "a", "d/b", "in", "out/x"],
    ]);
  });

  it("an upload that is too large is refused with its three largest files", async () => {
    for (const [name, mb] of [
      ["a", 100],
      ["b", 90],
      ["c", 80],
      ["d", 1],
    ] as const) {
      write(name);
      truncateSync(join(folder, name), mb * 1_000_000);
    }
    await expect(filesToSend(folder, { env })).rejects.toThrow(
      /is too large to be sent: 4 files, 271\.0 MB; at most 50000 files and 268\.4 MB\. The largest: a \(100\.0 MB\), b \(90\.0 MB\), c \(80\.0 MB\)\. Name/,
    );
    truncateSync(join(folder, "a"), 256 * 1024 * 1024 - 171_000_000);
    expect((await filesToSend(folder, { env })).bytes).toBe(256 * 1024 * 1024);
  });

  it("the message about an upload says what was sent and left out, five names of a kind", () => {
    const six = ["a", "b", "c", "d", "e", "f"];
    const sent = { source: {} as never, count: 1, bytes: 1500, packedBytes: 10, secrets: [], others: [] };
    expect(describeUpload("/w", sent)).toBe("Sent 1 file of /w: 2 kB, packed 10 B.");
    expect(describeUpload("/w", { ...sent, count: 2, secrets: six, others: ["x"] })).toBe(
      "Sent 2 files of /w: 2 kB, packed 10 B. Left out: may hold secrets: a, b, c, d, e and 1 more; repositories of their own, and links that lead out: x.",
    );
  });
});
