// The small files of the configuration folder: what is kept in each, who may read it, and what is made of one that others wrote.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readKeys, removeKeys, saveKey } from "../../src/store/auth.ts";
import { forgetLogin, readLogin, readTokens, updateLogin } from "../../src/store/mcp-logins.ts";
import { pricesFile, readPrices, savePrices } from "../../src/store/model-prices.ts";
import { keepPlan, planFile } from "../../src/store/plans.ts";
import { openPromptFile } from "../../src/store/prompt-history.ts";
import {
  claimService,
  forgetService,
  readKilledService,
  readService,
  serviceFile,
} from "../../src/store/service-file.ts";
import { openSubagentOutput, subagentOutput } from "../../src/store/subagent-output.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "courser-kept-")));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const modeOf = (file: string) => statSync(file).mode & 0o777;
const said = (work: () => unknown): { code?: string; message: string } => {
  try {
    work();
  } catch (error) {
    return error as { code?: string; message: string };
  }
  throw new Error("nothing was thrown");
};
/** No process has this pid. */
const nobody = 2 ** 30;

describe("keys and logins", () => {
  const file = () => join(dir, "auth.json");

  it("removing saved API keys, one or all, names those that were removed", () => {
    expect(removeKeys(dir)).toEqual([]);
    expect(existsSync(file())).toBe(false);
    for (const vendor of ["one", "two", "three"]) saveKey(dir, vendor, `key of ${vendor}`);
    expect(removeKeys(dir, "two")).toEqual(["two"]);
    const text = readFileSync(file(), "utf8");
    expect(removeKeys(dir, "two")).toEqual([]);
    expect(readFileSync(file(), "utf8")).toBe(text);
    expect({ ...readKeys(dir) }).toEqual({ one: "key of one", three: "key of three" });
    expect(removeKeys(dir)).toEqual(["one", "three"]);
    expect({ ...readKeys(dir) }).toEqual({});
  });

  it("saving a key keeps other entries of the key file, makes it private, and ignores odd entries", () => {
    writeFileSync(file(), JSON.stringify({ own: 1, keys: { odd: "text", none: null, number: { key: 7 } } }));
    chmodSync(file(), 0o644);
    expect({ ...readKeys(dir) }).toEqual({});
    saveKey(dir, "one", "secret");
    expect(modeOf(file())).toBe(0o600);
    const { own, version, keys } = JSON.parse(readFileSync(file(), "utf8"));
    expect([own, version, keys]).toEqual([1, 1, expect.objectContaining({ odd: "text", number: { key: 7 } })]);
    expect({ ...readKeys(dir) }).toEqual({ one: "secret" });
    expect(Number.isNaN(Date.parse(keys.one.savedAt))).toBe(false);
  });

  it("saving the first API key creates the settings that show a login, and keeps existing ones", () => {
    const settings = join(dir, "cli-config.json");
    saveKey(dir, "one", "secret");
    expect(JSON.parse(readFileSync(settings, "utf8"))).toEqual({ version: 1 });
    writeFileSync(settings, '{"version":1,"mine":2}');
    saveKey(dir, "one", "other");
    expect(readFileSync(settings, "utf8")).toBe('{"version":1,"mine":2}');
  });

  it("a saved MCP login is found only by the server's whole address", () => {
    const url = new URL("https://one.test/mcp?team=1#part");
    const login = { tokens: { access_token: "a", refresh_token: "r" }, client: { client_secret: "c" } };
    updateLogin(dir, url, (before) => ({ ...before, ...login, redirectUrl: "http://127.0.0.1" }));
    for (const [address, isSame] of [
      ["https://one.test/mcp?team=1", true],
      ["https://one.test/mcp?team=2", false],
      ["https://one.test/mcp", false],
      ["https://one.test/?team=1", false],
      ["http://one.test/mcp?team=1", false],
      ["https://one.test:8443/mcp?team=1", false],
    ] as const)
      expect([address, readLogin(dir, new URL(address))]).toEqual([
        address,
        isSame ? { ...login, redirectUrl: "http://127.0.0.1" } : {},
      ]);
    expect(modeOf(join(dir, readdirSync(dir)[0]!))).toBe(0o600);
    expect(readTokens(dir).sort()).toEqual(["a", "c", "r"]);
    updateLogin(
      dir,
      new URL("https://two.test/"),
      () => ({ tokens: { access_token: "b", refresh_token: 7 } }) as never,
    );
    expect(readTokens(dir).sort()).toEqual(["a", "b", "c", "r"]);
    expect([forgetLogin(dir, url), forgetLogin(dir, url)]).toEqual([true, false]);
    expect(readTokens(dir)).toEqual(["b"]);
  });

  it("a saved MCP login counts with a client registration alone; odd entries count as none", () => {
    const url = new URL("https://one.test/");
    const file = () => join(dir, readdirSync(dir)[0]!);
    updateLogin(dir, url, () => ({ client: { client_id: "i" } }));
    expect([forgetLogin(dir, url), readLogin(dir, url)]).toEqual([true, {}]);
    for (const servers of [
      undefined,
      7,
      { "https://one.test/": 7 },
      { "https://one.test/": { tokens: 7, client: [], redirectUrl: 1 } },
    ]) {
      writeFileSync(file(), JSON.stringify({ servers, kept: 1 }));
      expect([readLogin(dir, url), readTokens(dir), forgetLogin(dir, url)]).toEqual([{}, [], false]);
    }
    chmodSync(file(), 0o644);
    updateLogin(dir, url, () => ({ tokens: { access_token: "x" } }));
    expect([modeOf(file()), JSON.parse(readFileSync(file(), "utf8")).kept]).toEqual([0o600, 1]);
  });
});

describe("prices and plans", () => {
  it("saved prices are read back, and an odd file counts as none", () => {
    expect(readPrices(dir)).toBeUndefined();
    savePrices(dir, { asOf: "2026-01-02", vendors: { one: "table" } }, "https://prices.test");
    expect(readPrices(dir)).toEqual({
      version: 1,
      source: "https://prices.test",
      asOf: "2026-01-02",
      vendors: { one: "table" },
    });
    for (const odd of [{ version: 2 }, { asOf: 7 }, { vendors: [] }, { vendors: undefined }]) {
      writeFileSync(pricesFile(dir), JSON.stringify({ version: 1, asOf: "2026-01-02", vendors: {}, ...odd }));
      expect(readPrices(dir)).toBeUndefined();
    }
  });

  it.each([
    ["Éxtract  the Parser!", "e-xtract-the-parser"],
    ["--- ", "plan"],
    [`${"x".repeat(39)}😀y`, "x".repeat(39)],
    ["日本語 plan", "日本語-plan"],
  ])("the plan %j is kept in a file of its own with the name %s", (name, slug) => {
    const files = [planFile(dir, name), planFile(dir, name)];
    for (const file of files) expect(file).toMatch(new RegExp(`^${dir}/plans/${slug}-?-[0-9a-f]{8}\\.plan\\.md$`));
    expect(files[0]).not.toBe(files[1]);
  });

  it("a plan keeps its name, words and tasks, and is never written over", () => {
    const file = planFile(dir, "One");
    const plan = { name: 'A "plan"', overview: "What", text: "\n# Do it\n\n" };
    keepPlan(file, { ...plan, todos: [{ id: "1", content: "first: this" }] });
    expect(readFileSync(file, "utf8")).toBe(
      '---\nname: "A \\"plan\\""\noverview: "What"\ntodos:\n  - id: "1"\n    content: "first: this"\n    status: pending\n---\n\n# Do it\n',
    );
    expect([modeOf(file), modeOf(dirname(file))]).toEqual([0o600, 0o700]);
    expect(said(() => keepPlan(file, { ...plan, todos: [] })).code).toMatch(/^STORE_/);
    const other = planFile(dir, "Two");
    keepPlan(other, { ...plan, todos: [] });
    expect(readFileSync(other, "utf8")).toContain("\ntodos: []\n---\n");
  });
});

describe("the file of a service", () => {
  const info = { pid: process.pid, host: "127.0.0.1", port: 1, token: "t", startedAt: 1, version: "v" };

  it("each fleet has its own service file, whose name holds no password and is not too long", () => {
    expect(serviceFile("/c")).toBe("/c/serve.json");
    expect(serviceFile("/c", "nats://me:secret@host:4222/a b")).toBe("/c/services/nats_host_4222_a_b.json");
    expect(serviceFile("/c", `nats://${"h".repeat(200)}`)).toBe(`/c/services/nats_${"h".repeat(95)}.json`);
  });

  it("a service's file counts while its process lives; later the service counts as killed until forgotten", () => {
    const file = serviceFile(dir, "nats://host");
    expect([readService(file), readKilledService(file)]).toEqual([undefined, undefined]);
    expect(claimService(file, info)).toBe(true);
    expect([readService(file), readKilledService(file), modeOf(file)]).toEqual([info, undefined, 0o600]);
    forgetService(file, process.pid + 1);
    expect(readService(file)).toEqual(info);
    forgetService(file, process.pid);
    expect(existsSync(file)).toBe(false);
    const gone = { ...info, pid: nobody };
    expect(claimService(file, gone)).toBe(true);
    expect([readService(file), readKilledService(file)]).toEqual([undefined, gone]);
  });

  it("of two services the first wins, unless it is known not to answer", () => {
    const file = serviceFile(dir);
    const mine = { ...info, pid: process.ppid };
    claimService(file, info);
    expect(claimService(file, mine)).toBe(false);
    expect(claimService(file, mine, process.ppid)).toBe(false);
    expect(claimService(file, { ...info, port: 2 })).toBe(true);
    expect(claimService(file, mine, process.pid)).toBe(true);
    expect(readService(file)).toEqual(mine);
  });

  it.each([{}, { pid: "1", port: 1, token: "t" }, { pid: 1, token: "t" }, { pid: 1, port: 1 }])(
    "a file with %j names no service",
    (content) => {
      writeFileSync(serviceFile(dir), JSON.stringify(content));
      expect([readService(serviceFile(dir)), readKilledService(serviceFile(dir))]).toEqual([undefined, undefined]);
    },
  );
});

describe("what is written while something runs", () => {
  it("the output of a subagent is appended to its own private file until it is closed", () => {
    const output = openSubagentOutput(dir, "id");
    expect(output.path).toBe(subagentOutput(dir, "id"));
    output.write("one ");
    openSubagentOutput(dir, "id").write("two");
    output.close();
    output.write("late");
    output.close();
    expect([readFileSync(output.path, "utf8"), modeOf(output.path)]).toEqual(["one two", 0o600]);
  });

  it("a subagent whose output file cannot be written goes on", () => {
    writeFileSync(join(dir, "subagents"), "");
    const output = openSubagentOutput(dir, "id");
    output.write("lost");
    output.close();
    expect(readdirSync(dir)).toEqual(["subagents"]);
  });

  const history = (workspace = "/w") => openPromptFile({ configDir: dir, workspace });
  const file = () => join(dir, "prompt-history.jsonl");

  it("the prompt history returns prompts newest first, those of this workspace before others", () => {
    expect(history().read()).toEqual([]);
    history().add({ text: "one" });
    history("/other").add({ text: "two", shell: true });
    history().add({ text: "three", pastes: { x: "pasted" } });
    expect(history().read()).toEqual([
      { text: "three", pastes: { x: "pasted" } },
      { text: "one" },
      { text: "two", shell: true },
    ]);
    expect(
      history("/other")
        .read()
        .map(({ text }) => text),
    ).toEqual(["two", "three", "one"]);
    expect([modeOf(file()), readdirSync(dir)]).toEqual([0o600, ["prompt-history.jsonl"]]);
  });

  it("the prompt history skips lines of other versions, and drops odd fields", () => {
    const lines = [
      { text: 7, workspace: "/w" },
      { text: "no place" },
      { text: "kept", workspace: "/w", shell: "yes", pastes: { a: "x", b: 7 }, more: 1 },
      { text: "plain", workspace: "/w", pastes: "none" },
    ];
    writeFileSync(file(), `${lines.map((each) => JSON.stringify(each)).join("\n")}\n7\n{"text":"cut`);
    expect(history().read()).toEqual([{ text: "plain" }, { text: "kept", pastes: { a: "x" } }]);
  });

  it("the prompt history stores no prompt that is too long, and drops its older half when too long", () => {
    history().add({ text: "y".repeat(256 * 1024) });
    expect(existsSync(file())).toBe(false);
    const line = (text: string) => `${JSON.stringify({ workspace: "/w", text })}\n`;
    const filler = "z".repeat(1000);
    const count = Math.floor((2 * 1024 * 1024 - 200) / line(`0000 ${filler}`).length);
    writeFileSync(
      file(),
      Array.from({ length: count }, (_, at) => line(`${String(at).padStart(4, "0")} ${filler}`)).join(""),
    );
    history().add({ text: "below" });
    expect(history().read()).toHaveLength(count + 1);
    history().add({ text: `above ${filler}` });
    const kept = history().read();
    expect(kept.length).toBeGreaterThan(count * 0.49);
    expect(kept.length).toBeLessThan(count * 0.51);
    expect([kept[0]!.text, kept[1]!.text]).toEqual([`above ${filler}`, "below"]);
    expect(kept.at(-1)!.text).toMatch(/^\d{4} z/);
    expect(readFileSync(file(), "utf8").endsWith("\n")).toBe(true);
  });

  it("a prompt history that cannot be saved says so with its path", () => {
    mkdirSync(file());
    const { code, message } = said(() => history().add({ text: "x" }));
    expect(code).toMatch(/^STORE_/);
    expect(message).toContain(file());
  });
});
