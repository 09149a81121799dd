// The browser, by the built CLI and a real Chromium: what can be done on a page, what a page cannot reach, and that nothing is left.
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Devtools } from "../../src/agent/browser/devtools.ts";
import { findBrowser } from "../../src/agent/browser/find-browser.ts";
import { renderSnapshot } from "../../src/agent/browser/snapshot.ts";
import { addressOf } from "../../src/agent/browser/tools.ts";
import { imageKind } from "../../src/protocol/image.ts";
import { type CliOptions, type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";

const hasBrowser = existsSync("/usr/bin/chromium");
const cleanUp: (() => unknown)[] = [];
afterAll(async () => {
  for (const each of cleanUp.reverse()) await each();
});

type Page = (
  url: URL,
) => { type?: string; headers?: Record<string, string>; status?: number; body: string } | undefined;

async function serve(page: Page): Promise<{ url: string; port: number; asked: string[]; server: Server }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const answer = page(new URL(request.url ?? "/", "http://x"));
    if (!answer) return; // never answered
    response.writeHead(answer.status ?? 200, { "content-type": answer.type ?? "text/html", ...answer.headers });
    response.end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, asked, server };
}

function workspaceFor(allow: string[], deny: string[] = []): Workspace {
  const workspace = createWorkspace();
  cleanUp.push(() => workspace.remove());
  mkdirSync(workspace.config, { recursive: true });
  const config = { version: 1, permissions: { allow, deny } };
  writeFileSync(join(workspace.config, "cli-config.json"), JSON.stringify(config));
  return workspace;
}

type Call = [tool: string, args?: Record<string, unknown>];

/** One call a reply: each may use what the one before has shown. */
async function play(
  workspace: Workspace,
  calls: Call[],
  args: string[] = [],
  options: CliOptions = {},
): Promise<CliRun> {
  const replies = calls.map(([tool, args = {}]) => ({ calls: [{ name: `browser-${tool}`, args }] }));
  workspace.file("main.json", JSON.stringify([...replies, { text: "ok" }]));
  const fixed = ["-p", "--trust", "--browser", "--output-format", "stream-json", "--model", "script:main.json"];
  const temporary = join(workspace.home, "tmp");
  mkdirSync(temporary, { recursive: true });
  const env = { TMPDIR: temporary, ...options.env };
  return workspace.run([...fixed, ...args, "go"], { timeoutMs: 60_000, ...options, env });
}

function results(run: CliRun): Record<string, any>[] {
  return run.lines().flatMap((line) => {
    const call = line["subtype"] === "completed" ? line["tool_call"]?.mcpToolCall : undefined;
    return call ? [call.result] : [];
  });
}

const textOf = (result: Record<string, any>): string => result["success"]?.content[0].text.text;

const shop: Page = (url) => {
  if (url.pathname === "/file.zip")
    return { body: "zip", type: "application/zip", headers: { "content-disposition": "attachment" } };
  if (url.pathname === "/done")
    return {
      body: `<title>Done</title><h1>Sent ${url.searchParams.get("q")} ${url.searchParams.get("s")}</h1><a href="/file.zip">zip</a>`,
    };
  return {
    body: `<title>Shop</title><h1>Hello</h1><p>Some <b>bold</b> words</p>
      <form action="/done"><label>Query <input name=q value=old></label>
      <select name=s><option>one</option><option>two</option></select><button>Send</button></form>
      <a href="/done?q=linked" target=_blank>New tab</a>
      <button onclick="alert('hi'); document.title='clicked'">Alert</button>
      <div style="height:3000px"></div><input type=checkbox checked disabled aria-label="Box">`,
  };
};

describe.skipIf(!hasBrowser)(`browser pages${hasBrowser ? "" : " (skipped: there is no Chromium here)"}`, () => {
  let run: CliRun;
  let told: Record<string, any>[];
  let workspace: Workspace;
  beforeAll(async () => {
    const { url, port } = await serve(shop);
    workspace = workspaceFor([`WebFetch(127.0.0.1:${port})`]);
    run = await play(workspace, [
      ["open", { url }],
      ["click", { ref: "e4" }],
      ["click", { ref: "e15" }],
      ["click", { ref: "e1" }],
      ["type", { ref: "e17", text: "new words", submit: true }],
      ["click", { ref: "e25" }],
      ["open", { url: `${url}/file.zip` }],
      ["open", { url }],
      ["screenshot", {}],
      ["screenshot", { fullPage: true }],
      ["click", { ref: "e32" }],
      ["type", { ref: "e35", text: "x" }],
    ]);
    told = results(run);
  }, 90_000);

  it("the browser tool describes a page as an outline with a name for each control", () => {
    expect(run.exit, run.stderr).toBe(0);
    expect(textOf(told[0]!)).toBe(
      [
        `Page: Shop (${/http:\S+\//.exec(textOf(told[0]!))![0]})`,
        '- heading "Hello" level=1',
        '- text "Some"',
        '- text "bold"',
        '- text "words"',
        '- text "Query"',
        '- textbox "Query" [e1] value="old"',
        '- combobox [e2] value="one"',
        '  - option "one" [e3] selected',
        '  - option "two" [e4]',
        '- button "Send" [e5]',
        `- link "New tab" [e6] url=${/url=(\S+)/.exec(textOf(told[0]!))![1]}`,
        '- button "Alert" [e7]',
        '- checkbox "Box" [e8] checked=true disabled',
      ]
        .join("\n")
        .replace(" checked=true", textOf(told[0]!).includes("checked=true") ? " checked=true" : " checked"),
    );
  });

  it("the browser tool can click and type, dismisses dialogs, and refuses control names of an earlier outline", () => {
    expect(textOf(told[1]!)).toContain('combobox [e10] value="two"');
    expect(textOf(told[2]!)).toMatch(
      /^Page: clicked[\s\S]*\[The page showed a dialog \(alert\), which was dismissed: "hi"\]$/,
    );
    expect(told[3]).toMatchObject({ success: { isError: true } });
    expect(textOf(told[3]!)).toContain('"e1" is not on the current page');
    expect(textOf(told[4]!)).toContain('heading "Sent new words two"');
    expect(textOf(told[10]!)).toContain('heading "Sent linked null"');
    expect(textOf(told[11]!)).toContain("is not a text field");
  });

  it("pages in the agent's browser cannot download files", () => {
    expect(textOf(told[5]!)).toMatch(/\[A download was refused: http.*file\.zip\]/);
    expect(told[6]).toMatchObject({ success: { isError: true } });
    expect(textOf(told[6]!)).toContain("A download was refused");
  });

  it("the browser tool takes a screenshot, and its stream lines name the MCP provider browser", () => {
    const [view, whole] = told
      .slice(8, 10)
      .map((result) => Buffer.from(result["success"].content[0].image.data, "base64"));
    const size = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];
    expect(imageKind(view!)).toBe("image/png");
    expect(size(whole!)[1]).toBeGreaterThan(3000);
    expect(size(view!)[1]).toBeLessThan(1000);
    const started = run.lines().find((line) => line["subtype"] === "started")!["tool_call"];
    expect(started.mcpToolCall.args).toMatchObject({
      name: "browser-open",
      providerIdentifier: "browser",
      toolName: "open",
    });
  });

  it("the browser tool leaves no files behind", async () => {
    expect(await processes(workspace)).toBe(0);
    expect(leftBehind(workspace)).toEqual([]);
    if (process.getuid?.() === 0) expect(run.notices().match(/runs without its own sandbox/g)).toHaveLength(1);
  });
});

describe.skipIf(!hasBrowser)(`frames${hasBrowser ? "" : " (skipped: there is no Chromium here)"}`, () => {
  it("the browser tool clicks and types in frames of any site, and WebSockets work if rules allow them", async () => {
    const inner = `<button onclick="this.textContent='pressed'">Press</button><input aria-label=Field>`;
    const site = await serve((url) => {
      if (url.pathname === "/inner") return { body: inner };
      const other = `http://localhost:${site.port}/inner`;
      const socket = `const s = new WebSocket("ws://" + location.host); s.onopen = () => h.textContent = "socket open"`;
      return {
        body: `<iframe src="${other}"></iframe><iframe src="/inner"></iframe><h1 id=h>?</h1><script>${socket}</script>`,
      };
    });
    site.server.on("upgrade", (request, socket) => {
      const key = createHash("sha1").update(
        `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`,
      );
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key.digest("base64")}\r\n\r\n`,
      );
    });
    const rules = [`WebFetch(127.0.0.1:${site.port})`, `WebFetch(localhost:${site.port})`];
    const run = await play(workspaceFor(rules), [
      ["open", { url: site.url }],
      ["click", { ref: "e1" }],
      ["click", { ref: "e7" }],
      ["type", { ref: "e12", text: "typed" }],
    ]);
    const page = textOf(results(run).at(-1)!);
    expect(page.match(/button "pressed"/g), page).toHaveLength(2);
    expect(page).toMatch(/Frame http:\/\/localhost:\d+\/inner:\n.*\n- textbox "Field" \[e16\] value="typed"/);
    expect(page).toContain('heading "socket open"');
  }, 60_000);
});

/** Everything that a page can try, at a server and a port that no rule opens. */
const attacks = (port: number, udp: number) => `<title>Evil</title>
  <img src="http://127.0.0.1:${port}/img"><script src="http://localhost:${port}/script"></script>
  <link rel=stylesheet href="http://127.1:${port}/css"><link rel=prefetch href="http://127.0.0.1:${port}/prefetch">
  <link rel=preconnect href="http://127.0.0.1:${port}"><link rel=dns-prefetch href="//canary.internal">
  <iframe src="http://0x7f000001:${port}/frame"></iframe><object data="http://127.0.0.1:${port}/object"></object>
  <video src="http://127.0.0.1:${port}/video"></video><iframe src="file:///etc/passwd"></iframe>
  <h1 id=h>waiting</h1><script>
  const at = "127.0.0.1:${port}", done = [];
  const note = (name) => { done.push(name); h.textContent = done.sort().join(" "); };
  fetch("http://" + at + "/fetch", {mode: "no-cors"}).then((answer) => answer.text()).then(() => note("fetch"), () => note("nofetch"));
  const socket = new WebSocket("ws://" + at + "/ws"); socket.onopen = () => note("ws"); socket.onerror = () => note("nows");
  new EventSource("http://" + at + "/events");
  navigator.sendBeacon("http://" + at + "/beacon", "x");
  new Worker(URL.createObjectURL(new Blob(["fetch('http://" + at + "/worker', {mode: 'no-cors'})"])));
  try { const peer = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:${udp}"}]}); peer.createDataChannel("x");
    peer.createOffer().then((offer) => peer.setLocalDescription(offer)); note("peer"); } catch { note("nopeer"); }
  try { const frame = document.createElement("iframe"); document.body.append(frame); new frame.contentWindow.RTCPeerConnection();
    note("framepeer"); } catch { note("noframepeer"); }
  </script>`;

describe.skipIf(!hasBrowser)(
  `network access of pages${hasBrowser ? "" : " (skipped: there is no Chromium here)"}`,
  () => {
    it("in the browser tool, every request of a page needs a permission rule, also under --force", async () => {
      const canary = { connections: 0, packets: 0 };
      const tcp = createTcpServer((socket) => {
        canary.connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
      const udp = createSocket("udp4", () => canary.packets++);
      await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
      cleanUp.push(
        () => tcp.close(),
        () => udp.close(),
      );
      const { port } = tcp.address() as AddressInfo;
      const site = await serve(({ pathname }) => {
        if (pathname === "/sent-on")
          return { status: 302, headers: { location: `http://127.0.0.1:${port}/redirected` }, body: "" };
        if (pathname === "/refresh")
          return { body: `<meta http-equiv=refresh content="0;url=http://127.0.0.1:${port}/refreshed">` };
        if (pathname === "/post")
          return { body: `<form method=post action="http://127.0.0.1:${port}/post"><button>Go</button></form>` };
        return { body: attacks(port, udp.address().port) };
      });
      const workspace = workspaceFor([`WebFetch(127.0.0.1:${site.port})`]);
      const run = await play(
        workspace,
        [
          ["open", { url: site.url }],
          ["snapshot"],
          ["open", { url: `${site.url}/sent-on` }],
          ["open", { url: `${site.url}/refresh` }],
          ["open", { url: `${site.url}/post` }],
          ["click", { ref: "e1" }],
          ["open", { url: `http://127.0.0.1:${port}/direct` }],
          ["open", { url: "file:///etc/passwd" }],
          ["open", { url: "chrome://settings" }],
          ["open", { url: "http://[::1]:80/" }],
        ],
        ["--force"],
      );
      const told = results(run);
      expect(canary).toEqual({ connections: 0, packets: 0 });
      expect(textOf(told[1]!)).toMatch(/heading "nofetch noframepeer nopeer nows"/);
      expect(textOf(told[0]!) + textOf(told[1]!)).toContain(
        `The browser refused 127.0.0.1:${port}: 127.0.0.1 is this machine`,
      );
      expect(JSON.stringify(told)).not.toContain("root:");
      expect(told[2]!["rejected"].reason).toContain(`refused 127.0.0.1:${port}`);
      for (const index of [6, 7, 8, 9]) expect(told[index], String(index)).toHaveProperty("rejected");
      expect(run.exit).toBe(0);
      // With a rule the same page does reach it: the page tries, and the counter counts.
      const opened = workspaceFor([`WebFetch(127.0.0.1:${site.port})`, `WebFetch(127.0.0.1:${port})`]);
      await play(opened, [["open", { url: site.url }]]);
      expect(canary.connections).toBeGreaterThan(3);
    }, 90_000);

    it("without a permission rule, the browser tool opens no page in print mode", async () => {
      const workspace = workspaceFor([], ["Mcp(browser:type)"]);
      const run = await play(workspace, [
        ["open", { url: "example.com" }],
        ["type", { ref: "e1", text: "x" }],
      ]);
      const [open] = results(run);
      expect(open!["rejected"].reason).toContain("It fetches from example.com, and no WebFetch rule covers that.");
      expect(run.stdout).toContain("There is no tool named browser-type");
      const plan = await play(workspace, [["click", { ref: "e1" }]], ["--mode", "plan"]);
      expect(plan.stdout).toMatch(
        /There is no tool named browser-click\..*browser-open, browser-snapshot, browser-screenshot/,
      );
    });
  },
);

describe.skipIf(!hasBrowser)(`starting the browser${hasBrowser ? "" : " (skipped: there is no Chromium here)"}`, () => {
  it("the browser tool starts its browser with a long temporary path and leaves nothing there", async () => {
    const { url, port } = await serve(shop);
    const workspace = workspaceFor([`WebFetch(127.0.0.1:${port})`]);
    const temporary = join(workspace.home, "a-folder-with-a-long-name", "and-another-one-inside-of-it", "tmp");
    mkdirSync(temporary, { recursive: true });
    const run = await play(workspace, [["open", { url }]], [], { env: { TMPDIR: temporary } });
    expect(textOf(results(run)[0]!)).toMatch(/^Page: Shop/);
    expect(readdirSync(temporary).filter((name) => name.includes("browser"))).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)(`ending the browser${hasBrowser ? "" : " (skipped: there is no Chromium here)"}`, () => {
  it("the browser process ends with the agent's run, even if a page hangs or the run is killed", async () => {
    const silent = await serve(() => undefined);
    const workspace = workspaceFor([`WebFetch(127.0.0.1:${silent.port})`]);
    const ending = (signal: NodeJS.Signals): CliOptions => ({
      onStart: (child) => {
        const timer = setInterval(() => {
          if (!silent.asked.includes(`/${signal}`)) return;
          clearInterval(timer);
          child.kill(signal);
        }, 50);
        child.on("close", () => clearInterval(timer));
      },
    });
    const stopped = await play(workspace, [["open", { url: `${silent.url}/SIGINT` }]], [], ending("SIGINT"));
    expect(stopped.exit).toBe(130);
    expect(stopped.lines().at(-1)).toMatchObject({ type: "result", is_error: true });
    expect(results(stopped)).toHaveLength(1);
    const killed = await play(workspace, [["open", { url: `${silent.url}/SIGKILL` }]], [], ending("SIGKILL"));
    expect(killed.signal).toBe("SIGKILL");
    await expect.poll(() => processes(workspace), { timeout: 10_000 }).toBe(0);
    const next = await play(workspace, [["snapshot"]]);
    expect(textOf(results(next)[0]!)).toContain("(the page is empty)");
    expect(leftBehind(workspace)).toEqual([]);
  }, 60_000);

  it("the browser tool reports a browser that does not start", async () => {
    const workspace = workspaceFor(["WebFetch(example.com)"]);
    const broken = workspace.file("broken", "#!/bin/sh\necho no libraries here >&2\nexit 3\n");
    (await import("node:fs")).chmodSync(broken, 0o755);
    const env = { COURSER_BROWSER: broken };
    const run = await play(workspace, [["open", { url: "https://example.com" }]], [], { env });
    expect(textOf(results(run)[0]!)).toMatch(/broken could not be started: no libraries here/);
  });
});

describe("no browser", () => {
  it("the browser tool reports a missing browser before anything else, with the command that installs it", async () => {
    const workspace = workspaceFor([]);
    const run = await play(workspace, [["open", { url: "https://example.com" }]], [], {
      env: { COURSER_BROWSER: "/nowhere/chrome" },
    });
    expect(run.exit).toBe(1);
    expect(run.lines().at(-1)).toMatchObject({ is_error: true, error_code: "BROWSER_MISSING" });
    expect(run.stderr).toContain("COURSER_BROWSER names /nowhere/chrome");
    expect(() => findBrowser({ PATH: "" }, "aix")).toThrow(
      /needs Chromium or Chrome, and neither is installed.*COURSER_BROWSER=/,
    );
  });
});

describe("browser addresses", () => {
  it.each([
    ["example.com", "https://example.com/"],
    ["localhost:3000/x", "http://localhost:3000/x"],
    ["127.0.0.1", "http://127.0.0.1/"],
    ["[::1]:80", "http://[::1]/"],
    ["example.com:8080", "https://example.com:8080/"],
    ["http://example.com", "http://example.com/"],
    ["javascript:alert(1)", "javascript:alert(1)"],
    ["file:///etc/passwd", "file:///etc/passwd"],
    ["localhost.evil.example", "https://localhost.evil.example/"],
  ])("the browser tool turns the address %s into a URL", (typed, meant) => expect(addressOf(typed)).toBe(meant));
});

describe("the browser's pipe", () => {
  it("the DevTools client reads messages in any pieces, and gives each command its own result", async () => {
    const sent: string[] = [];
    const devtools = new Devtools(async (text) => void sent.push(text));
    const events: string[] = [];
    devtools.listen(({ method }) => events.push(method));
    const first = devtools.send("A", { x: 1 });
    const second = devtools.send("B", {}, "s");
    const third = devtools.send("C");
    expect(sent[1]).toBe('{"id":2,"method":"B","params":{},"sessionId":"s"}\0');
    const bytes = Buffer.from(
      '{"id":2,"error":{"message":"nö"}}\0{"method":"E","params":{}}\0{"id":1,"result":{"y":2}}\0',
    );
    for (const byte of bytes) devtools.receive(Buffer.from([byte]));
    await expect(first).resolves.toEqual({ y: 2 });
    await expect(second).rejects.toThrow("nö");
    expect(events).toEqual(["E"]);
    devtools.end(new Error("gone"));
    await expect(third).rejects.toThrow("gone");
    await expect(devtools.send("D")).rejects.toThrow("gone");
  });

  it("the browser tool ends a browser that sends garbage", async () => {
    let broken = 0;
    const devtools = new Devtools(
      async () => {},
      () => broken++,
    );
    const asked = devtools.send("A");
    devtools.receive(Buffer.from("{no\0"));
    await expect(asked).rejects.toThrow("not JSON");
    const flooded = new Devtools(
      async () => {},
      () => broken++,
    );
    const chunk = Buffer.alloc(2 ** 24, 120);
    for (let sent = 0; sent < 5; sent++) flooded.receive(chunk);
    expect(broken).toBe(2);
    await expect(flooded.send("A")).rejects.toThrow("endless message");
  });

  it("the browser tool shortens the outline of a large page and counts what it left out", () => {
    const nodes = Array.from({ length: 5000 }, (_, index) => ({
      nodeId: String(index),
      ...(index > 0 && { parentId: "0" }),
      role: { value: index === 0 ? "RootWebArea" : "link" },
      name: { value: `Link\n${index}` },
      backendDOMNodeId: index,
      childIds: index === 0 ? Array.from({ length: 4999 }, (_, child) => String(child + 1)) : [],
    }));
    let number = 0;
    const { text, elements } = renderSnapshot([{ sessionId: "s", url: "u", nodes }], () => `e${++number}`, 2000);
    expect(text.length).toBeLessThan(2100);
    expect(text).toMatch(/^- link "Link 1" \[e1\]\n[\s\S]*\n\[\d+ more lines omitted\]$/);
    expect(elements.size).toBe(text.split("\n").length - 1);
    expect(elements.get("e1")).toEqual({ sessionId: "s", node: 1 });
  });
});

async function processes({ home }: Workspace): Promise<number> {
  const { execFileSync } = await import("node:child_process");
  const lines = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return lines.filter((line) => line.includes(`${home}/tmp/courser-browser-`) && !line.includes("<defunct>")).length;
}

/** Of browsers: the folder of the user holds the outputs of all runs, and when it was last swept. */
function leftBehind({ home }: Workspace): string[] {
  return readdirSync(join(home, "tmp")).filter((name) => name !== `courser-${process.getuid?.() ?? 0}`);
}
