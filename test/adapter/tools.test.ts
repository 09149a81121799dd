// The tools of the runtime: unknown names and wrong arguments run nothing, commands and pages are judged first.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createExecTool, type ExecOptions } from "../../src/adapter/tools/exec.ts";
import { createToolRouter } from "../../src/adapter/tools/router.ts";
import { createWebFetchTool, createWebSearchTool } from "../../src/adapter/tools/web.ts";
import { aliveWith, uniqueSleep } from "../agent/process-support.ts";
import { note, scratchFolder } from "./support.ts";

const folder = scratchFolder();

describe("the tool router", () => {
  const ran: unknown[] = [];
  beforeEach(() => void ran.splice(0));
  const router = createToolRouter([
    { ...note, aliases: ["mcp_note"], run: async (args) => (ran.push(args) > 0 ? "ok" : "") },
    {
      name: "broken",
      schema: { type: "object" },
      run: async () => {
        throw new Error("it broke");
      },
    },
  ]);

  test("the adapter's tool router lists each tool once and accepts all of its names", () => {
    expect(router.list().map(({ name }) => name)).toEqual(["note", "broken"]);
    expect(router.known()).toMatchObject([{ name: "note" }, { name: "mcp_note" }, { name: "broken" }]);
    expect(() =>
      createToolRouter([
        { ...note, run: async () => "" },
        { ...note, run: async () => "" },
      ]),
    ).toThrow('two tools are named "note"');
  });

  test("a tool call with an unknown name or invalid arguments returns an error, and no tool code runs", async () => {
    for (const name of ["nope", "constructor", "__proto__", ""])
      expect(await router.call(name, {})).toMatchObject({
        isError: true,
        content: expect.stringContaining("TOOL_UNKNOWN"),
      });
    for (const args of [{}, { text: 1 }, [], null, "x", undefined])
      expect(await router.call("note", args)).toMatchObject({
        isError: true,
        content: expect.stringContaining("TOOL_ARGUMENTS"),
      });
    expect(await router.call("note", { text: "a" }, { signal: AbortSignal.abort() })).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
  });

  test("a tool call through the adapter's router returns text, and a thrown error becomes text too", async () => {
    expect(await router.call("mcp_note", { text: "a" })).toEqual({ content: "ok", isError: false });
    expect(await router.call("broken", {})).toEqual({ content: "it broke", isError: true });
    expect(ran).toEqual([{ text: "a" }]);
  });
});

describe("the exec tool", () => {
  const run = (command: string, options: ExecOptions = {}, more: object = {}) =>
    createToolRouter([createExecTool({ workspace: folder, home: folder, ...options })]).call("exec", {
      command,
      ...more,
    });

  test("the exec tool runs a command that a rule allows, in the workspace", async () => {
    const allowed = { allow: ["Shell(pwd)", "Shell(echo)", "Shell(exit:*)"] };
    expect(await run("pwd", allowed)).toEqual({ content: `${folder}\n`, isError: false });
    expect(await run("echo a && echo b", allowed)).toEqual({ content: "a\nb\n", isError: false });
    expect(await run("pwd", allowed, { cwd: "/" })).toMatchObject({ isError: true });
  });

  test("the exec tool refuses commands that no rule allows, that a rule denies, or that touch protected paths", async () => {
    const effect = join(folder, "pwned");
    expect(await run(`touch ${effect}`)).toMatchObject({
      isError: true,
      content: expect.stringContaining("Not permitted"),
    });
    const denied: ExecOptions = { mode: "force", deny: ["Shell(touch)"] };
    expect(await run(`touch ${effect}`, denied)).toMatchObject({ isError: true });
    expect(await run(`env touch ${effect}`, denied)).toMatchObject({ isError: true });
    expect(await run("mkdir -p .cursor && echo '{}' > .cursor/hooks.json", { mode: "force" })).toMatchObject({
      isError: true,
    });
    expect(existsSync(effect)).toBe(false);
    expect(existsSync(join(folder, ".cursor/hooks.json"))).toBe(false);
  });

  test("when a user is present, the exec tool asks for permission and runs the command only after a yes", async () => {
    const asked: unknown[] = [];
    const answering = (answer: unknown) => ({
      ask: async (question: object) => {
        asked.push(question);
        return answer as boolean;
      },
    });
    expect(await run("echo hi", answering(true))).toEqual({ content: "hi\n", isError: false });
    for (const no of [false, undefined, "yes", 1])
      expect(await run("echo hi", answering(no))).toMatchObject({ isError: true });
    expect(asked[0]).toMatchObject({ command: "echo hi", cwd: folder, reasons: expect.any(Array) });
    expect(await run("echo hi", { ...answering(true), deny: ["Shell(echo)"] })).toMatchObject({ isError: true });
  });

  test("the exec tool reports exit codes, stderr and timeouts, leaves no process and passes on no API keys", async () => {
    const forced: ExecOptions = { mode: "force" };
    expect(await run("echo out; echo err >&2; exit 3", forced)).toEqual({
      content: "out\n\nerr\n\n[exit code 3]",
      isError: true,
    });
    const nap = uniqueSleep();
    const slow = await run(`sleep ${nap} & sleep ${nap}`, { ...forced, timeoutMs: 200 });
    expect(slow).toMatchObject({ isError: true, content: expect.stringContaining("timed out after 200 ms") });
    expect(aliveWith(nap)).toEqual([]);
    const env = { ...process.env, MY_API_KEY: "sk-1234567890abcdef" };
    expect(await run('echo "[$MY_API_KEY]"', { ...forced, env })).toMatchObject({ content: "[]\n" });
  });

  test("the exec tool refuses an invalid permission rule at once", () => {
    expect(() => createExecTool({ deny: ["rm -rf"] })).toThrow(/did you mean Shell\(rm -rf\)/);
  });
});

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, "http://x");
  if (pathname === "/page")
    response.setHeader("content-type", "text/html").end("<h1>Title</h1><p>Some <b>text</b>.</p>");
  else if (pathname === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
  else if (pathname === "/search") {
    if (request.headers.authorization === "Bearer wrong-key-123456")
      response.writeHead(401).end("bad key wrong-key-123456");
    else
      response.setHeader("content-type", "application/json").end(
        JSON.stringify({
          results: [{ title: `About ${searchParams.get("q")}`, url: "https://a.test/", content: "words" }],
        }),
      );
  } else response.writeHead(404).end("not here");
});
const port = await new Promise<number>((resolve) =>
  server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
);
afterAll(() => server.close());

describe("web_fetch", () => {
  const here = `http://127.0.0.1:${port}`;
  const opened = { allow: [`WebFetch(127.0.0.1:${port})`] };
  const fetch = (url: string, options: Parameters<typeof createWebFetchTool>[0] = {}, name = "web_fetch") =>
    createToolRouter([createWebFetchTool(options)]).call(name, { url });

  test("web_fetch returns a page as Markdown under both of its names", async () => {
    expect((await fetch(`${here}/page`, opened)).content).toContain("Some **text**.");
    expect((await fetch(`${here}/page`, opened, "mcp_web_fetch")).isError).toBe(false);
    expect(await fetch(`${here}/none`, opened)).toMatchObject({
      isError: true,
      content: expect.stringContaining("404"),
    });
  });

  test("web_fetch refuses private addresses, also after redirects, and other protocols", async () => {
    for (const url of [
      `${here}/page`,
      "http://169.254.169.254/",
      "http://localhost:1/",
      "file:///etc/passwd",
      "nonsense",
    ])
      expect(await fetch(url)).toMatchObject({ isError: true, content: expect.stringContaining("Not permitted") });
    expect(await fetch(`${here}/away`, { ...opened, ask: async () => true })).toMatchObject({ isError: true });
  });

  test("web_fetch asks about or refuses hosts that no list names, and deny wins", async () => {
    const asked: string[] = [];
    const ask = async ({ url }: { url: string }) => {
      asked.push(url);
      return false;
    };
    expect(await fetch("https://b.test/", { allow: ["WebFetch(a.test)"], ask })).toMatchObject({ isError: true });
    expect(asked).toEqual(["https://b.test/"]);
    expect(await fetch("https://a.test/", { deny: ["WebFetch(a.test)"], ask })).toMatchObject({ isError: true });
    expect(asked).toHaveLength(1);
  });
});

describe("web_search", () => {
  const search = (options: Parameters<typeof createWebSearchTool>[0], name = "web_search") =>
    createToolRouter([createWebSearchTool({ env: {}, ...options })]).call(name, { query: "cats & dogs" });

  test("web_search uses a configurable endpoint", async () => {
    const endpoint = `http://127.0.0.1:${port}`;
    for (const name of ["web_search", "mcp_web_search"])
      expect(await search({ endpoint }, name)).toEqual({
        content: "About cats & dogs\nhttps://a.test/\nwords",
        isError: false,
      });
    expect((await search({ env: { SEARXNG_URL: endpoint } })).isError).toBe(false);
  });

  test("web_search without an endpoint says what to configure, and does not print a refused key", async () => {
    expect((await search({})).content).toContain("No search engine is configured");
    const refused = await search({
      endpoint: `http://127.0.0.1:${port}`,
      keyEnv: "MINE",
      env: { MINE: "wrong-key-123456" },
    });
    expect(refused.isError).toBe(true);
    expect(refused.content).not.toContain("wrong-key-123456");
    expect(() => createWebSearchTool({ engine: "altavista" })).toThrow(/available: searxng/);
  });
});
