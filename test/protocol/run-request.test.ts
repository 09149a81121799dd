import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { endpointTypes, type RunRequest } from "../../src/protocol/run.ts";
import { readRunRequest, requestChecks, requestFields, restrict } from "../../src/protocol/run-request.ts";
import { type Random, random } from "./random.ts";

const chance = (make: Random, share: number) => make.below(100) < share * 100;
const some = <Item>(make: Random, items: readonly Item[]): Item[] => items.filter(() => chance(make, 0.5));

/** Values of every field; a field without some does not compile. */
const values: { [Name in keyof Required<RunRequest>]: (make: Random) => RunRequest[Name] } = {
  workspace: (make) => make.pick(["/a", "/b"]),
  worktree: (make) => ({ name: make.pick(["one", "two"]) }),
  roots: (make) => some(make, ["/r", "/s"]),
  chat: (make) => make.pick([{ type: "new" }, { type: "resume", id: "-1", orNew: true }] as const),
  ephemeral: (make) => chance(make, 0.5),
  mode: (make) => make.pick(["agent", "plan", "ask"] as const),
  force: (make) => chance(make, 0.5),
  trust: (make) => chance(make, 0.5),
  model: (make) => make.pick(["m", "n"]),
  effort: (make) => make.pick(["low", "high"] as const),
  fallbackModels: (make) => some(make, ["f", "g"]),
  endpoint: (make) => make.pick(["http://x", "http://y"]),
  endpointType: (make) => make.pick(endpointTypes),
  systemPrompt: (make) => make.pick(["s", "t"]),
  appendSystemPrompt: (make) => make.pick(["s", "t"]),
  allowedTools: (make) => some(make, ["Read", "read", "Shell", "mcp", "docs:*", "docs:search", "docs-search"]),
  disallowedTools: (make) => some(make, ["Read", "Shell", "mcp"]),
  permissions: (make) => ({
    ...(chance(make, 0.7) && { allow: some(make, ["Shell(ls)", "Read(**)"]) }),
    ...(chance(make, 0.7) && { deny: some(make, ["Shell(rm)", "Write(**)"]) }),
  }),
  browser: (make) => chance(make, 0.5),
  mcpConfigs: (make) => some(make, ["{}"]),
  approvedServers: (make) => make.pick(["all", ["docs"]] as const),
  approvedServerCalls: (make) => make.pick(["allow", "ask"] as const),
  pluginDirs: (make) => some(make, ["/p", "/q"]),
  hooks: (make) => some(make, ["/h.json", "{}"]),
  withoutLocalHooks: (make) => chance(make, 0.5),
  sandbox: (make) => make.pick(["enabled", "disabled"] as const),
  unlistedCommands: (make) => make.pick(["sandbox", "ask"] as const),
  autoReview: (make) => chance(make, 0.5),
  askCommand: (make) => make.pick(["true", "false"]),
  single: (make) => chance(make, 0.5),
  failOn: (make) => some(make, ["denied", "empty"] as const),
  requiredServers: (make) => some(make, ["docs", "db"]),
  price: (make) => ({ input: make.pick([1, 2]), output: 3 }),
  limits: (make) => ({
    ...(chance(make, 0.5) && { maxTurns: make.pick([1, 5]) }),
    ...(chance(make, 0.5) && { maxTimeMs: make.pick([10, 20]) }),
    ...(chance(make, 0.5) && { maxCost: make.pick([0.5, 2]) }),
  }),
  answerSchema: () => ({ type: "object" }),
  compat: () => "2025",
};

function madeUp(make: Random): RunRequest {
  const chosen = Object.entries(values).filter(([name]) => name === "workspace" || chance(make, 0.4));
  return readRunRequest(Object.fromEntries(chosen.map(([name, value]) => [name, value(make)])));
}

/** How loose each thing is: what a run may do more by it. Compared as sets and numbers. */
function room(request: RunRequest) {
  const { permissions = {}, limits = {}, allowedTools, mode, force } = request;
  const level = mode === "ask" ? 0 : mode === "plan" ? 1 : force ? 3 : mode === "agent" || force === false ? 2 : 3;
  return {
    level,
    tools: allowedTools?.map((name) => name.toLowerCase()),
    limits: [limits.maxTurns, limits.maxTimeMs, limits.maxCost].map((each) => each ?? Number.POSITIVE_INFINITY),
    united: [
      ...(permissions.deny ?? []),
      ...(request.disallowedTools ?? []),
      ...(request.hooks ?? []),
      ...(request.pluginDirs ?? []),
      ...(request.requiredServers ?? []),
      ...(request.failOn ?? []),
      ...(request.ephemeral ? ["ephemeral"] : []),
      ...(request.sandbox === "enabled" ? ["sandbox"] : []),
      ...(request.unlistedCommands === "ask" ? ["unlisted"] : []),
      ...(request.approvedServerCalls === "ask" ? ["calls"] : []),
    ],
  };
}

function expectNotWeaker(joined: RunRequest, side: RunRequest): void {
  const [is, was] = [room(joined), room(side)];
  expect(is.level).toBeLessThanOrEqual(was.level);
  expect(is.united).toEqual(expect.arrayContaining(was.united));
  is.limits.forEach((limit, at) => {
    expect(limit).toBeLessThanOrEqual(was.limits[at]!);
  });
  if (was.tools) for (const name of is.tools!) expect(was.tools.some((each) => means(each, name))).toBe(true);
}

function means(wide: string, name: string): boolean {
  return wide === name || (wide === "mcp" && /[:-]/.test(name)) || (wide === "docs:*" && name === "docs:search");
}

/** Lists are sets, and what `agent` restricts is force. */
function settled({ force, mode, ...request }: RunRequest): object {
  const isForbidden = force === false || (mode === "agent" && !force);
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return [...new Set(value.map((each) => String(each).toLowerCase()))].sort();
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, sorted(each)]));
  };
  return {
    ...(sorted(request) as object),
    mode: mode === "agent" ? undefined : mode,
    force: isForbidden ? false : force,
  };
}

describe("merging restrictions", () => {
  const make = random(31);

  it("restrict() of run requests is associative, idempotent, and never weaker than either side", () => {
    for (let round = 0; round < 400; round++) {
      const [one, two, three] = [madeUp(make), madeUp(make), madeUp(make)];
      expect(settled(restrict(restrict(one, two), three))).toEqual(settled(restrict(one, restrict(two, three))));
      expect(settled(restrict(one, one))).toEqual(settled(one));
      for (const granting of ["base", "more"] as const) {
        const joined = restrict(one, two, granting);
        expectNotWeaker(joined, one);
        expectNotWeaker(joined, two);
      }
    }
  });

  it("restrict() of run requests takes no grant from the other side", () => {
    const names = Object.entries(requestFields).flatMap(([name, { effect }]) => (effect === "grants" ? [name] : []));
    for (let round = 0; round < 200; round++) {
      const [one, two] = [madeUp(make), madeUp(make)];
      const joined: Record<string, unknown> = restrict(one, two);
      for (const name of names.filter((each) => each !== "force" && each !== "approvedServerCalls"))
        expect(joined[name]).toEqual(one[name as keyof RunRequest]);
      expect(joined["force"] === true && one.force !== true).toBe(false);
      expect(joined["permissions"] ?? {}).toMatchObject(one.permissions?.allow ? { allow: one.permissions.allow } : {});
      if (!one.permissions?.allow) expect((joined["permissions"] as any)?.allow).toBeUndefined();
      expect(joined["sandbox"] === "disabled" && one.sandbox !== "disabled").toBe(false);
    }
  });

  it.each<[RunRequest, Partial<RunRequest>, Partial<RunRequest>]>([
    [{ workspace: "/a" }, { force: true }, { force: true }],
    [{ workspace: "/a", mode: "plan" }, { force: true }, { mode: "plan", force: true }],
    [{ workspace: "/a", mode: "agent" }, { force: true }, { mode: "agent", force: false }],
    [{ workspace: "/a", force: true }, { mode: "agent" }, { mode: "agent", force: false }],
    [{ workspace: "/a", force: true }, { force: false }, { force: false }],
    [{ workspace: "/a", sandbox: "enabled" }, { sandbox: "disabled" }, { sandbox: "enabled" }],
    [{ workspace: "/a" }, { sandbox: "disabled" }, { sandbox: "disabled" }],
    [
      { workspace: "/a", permissions: { allow: ["Shell(a)"], deny: ["Shell(b)"] } },
      { permissions: { allow: ["Shell(c)"], deny: ["Shell(d)"] } },
      { permissions: { allow: ["Shell(c)"], deny: ["Shell(b)", "Shell(d)"] } },
    ],
  ])("restrict() of %j with %j of somebody who may grant takes the grants over", (base, more, expected) => {
    expect(restrict(base, more, "more")).toEqual({ workspace: "/a", ...expected });
  });
});

it("a run request survives JSON completely", () => {
  const make = random(7);
  for (let round = 0; round < 200; round++) {
    const request = madeUp(make);
    expect(readRunRequest(JSON.parse(JSON.stringify(request)))).toEqual(request);
  }
});

it("each field of a run request accepts the values in the table and rejects others with the message there", async () => {
  const rule = "Shell(ls)";
  const odd = [null, true, 0, -1, 1, 1.5, Number.NaN, "", " ", "x", "/x", "C:\\x", "-x", [], ["x", 1], ["/x", "x"], {}];
  const own: Record<string, unknown[]> = {
    worktree: [
      { name: "n", base: "b", skipSetup: true },
      { name: 1 },
      { base: true },
      { skipSetup: "x" },
      { other: 1 },
    ],
    chat: [{ type: "new" }, { type: "new", id: "-1", name: 1 }, { type: "resume" }, { type: "old" }, { id: "x" }],
    permissions: [{ allow: [rule], deny: [rule] }, { allow: ["Shell"] }, { deny: rule }, { deny: ["No(x)"] }],
    limits: [{ maxTurns: 1, maxTimeMs: 0.5, maxCost: 0.5 }, { maxTurns: 2 ** 53 }, { maxTimeMs: 0 }, { maxCost: "1" }],
    price: [{ input: 0, output: 1 }, { input: 1 }, { input: -1, output: 1 }, { input: 1, output: "5" }],
    approvedServers: ["all", ["a"]],
    failOn: [
      ["denied", "empty"],
      ["denied", "none"],
    ],
  };
  const rows = Object.keys(requestFields).flatMap((name) => {
    const base = name === "workspace" ? {} : { workspace: "/a" };
    const said = new Map<string, string[]>();
    for (const value of [...odd, ...(own[name] ?? [])]) {
      let answer = "taken";
      try {
        readRunRequest({ ...base, [name]: value });
      } catch (error) {
        answer = (error as Error).message;
      }
      said.set(answer, [...(said.get(answer) ?? []), JSON.stringify(value)]);
    }
    return [...said].map(([answer, given]) => `${name} ${given.join(" ")}\n  ${answer}\n`);
  });
  await expect(rows.join("")).toMatchFileSnapshot(join(import.meta.dirname, "run-request.txt"));
});

it("a run request with an unknown field is refused by the field's name", () => {
  const read = (more: object) => () => readRunRequest({ workspace: "/a", ...more });
  expect(read({ Mode: "plan" })).toThrow('unknown field "Mode" (did you mean "mode"?)');
  expect(read({ mode: "Plan" })).toThrow('"mode" must be one of agent, plan, ask');
  expect(read({ mode: ["plan"] })).toThrow('"mode" must be one of');
  expect(read({ permissions: { denied: [] } })).toThrow('unknown field "denied"');
  expect(read({ limits: { maxTurns: 0.5 } })).toThrow('"maxTurns" must be a positive integer');
  expect(Object.keys(requestChecks)).toEqual(Object.keys(requestFields));
});

it("a run request with a chat id that looks like a flag is refused", () => {
  for (const id of ["--force", "-p", " x", "-2x", ""])
    for (const chat of [
      { type: "resume", id },
      { type: "new", id },
      { type: "resume", id: "-1", newId: id },
    ])
      expect(() => readRunRequest({ workspace: "/a", chat }), JSON.stringify(chat)).toThrow(/chat/);
  expect(readRunRequest({ workspace: "/a", chat: { type: "resume", id: "-1" } }).chat).toMatchObject({ id: "-1" });
});
