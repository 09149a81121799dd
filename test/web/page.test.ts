// fetchPage over real sockets: kinds of content, charsets, limits, refusals, the cache of a run.
import { afterEach, describe, expect, it } from "vitest";
import { fetchPage, GuardRefusal, NetError, PageError } from "../../src/web/page.ts";
import { createPageCache } from "../../src/web/page-cache.ts";
import { simplePdf } from "../support/simple-pdf.ts";
import { startWeb, type TestWeb } from "./web-server.ts";

let web: TestWeb | undefined;
afterEach(async () => {
  await web?.stop();
  web = undefined;
});

const serve = async (type: string, body: string | Buffer, status = 200) => {
  web = await startWeb((_, response) => {
    response.writeHead(status, type === "" ? {} : { "content-type": type });
    response.end(body);
  });
  return web.request;
};

const read = async (type: string, body: string | Buffer) =>
  (await fetchPage("http://docs.test/page", await serve(type, body))).markdown;

describe("fetchPage", () => {
  it("JSON and text from the web are returned as they are, HTML as Markdown", async () => {
    expect(await read("application/json", '{\n"a": [1, 2]\n}')).toBe('{\n"a": [1, 2]\n}');
    await web!.stop();
    expect(await read("text/plain; charset=utf-8", "a <b> c\n")).toBe("a <b> c\n");
    await web!.stop();
    expect(await read("text/markdown", "# Hi\n")).toBe("# Hi\n");
    await web!.stop();
    expect(await read("text/html", "<h1>Hi</h1><p>There &amp; here")).toBe("# Hi\n\nThere & here");
  });

  const charsets: [name: string, type: string, body: Buffer, text: string][] = [
    ["header", "text/plain; charset=ISO-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    ["header in quotes", 'text/plain; format=flowed; charset="windows-1251"', Buffer.from([0xcf, 0xf0]), "Пр"],
    ["meta", "text/html", Buffer.from('<meta charset="shift_jis"><p>\x93\xfa\x96{', "latin1"), "日本"],
    [
      "long meta",
      "text/html",
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>\xb1', "latin1"),
      "ą",
    ],
    ["byte order mark", "text/plain; charset=latin1", Buffer.from("\ufeffä"), "ä"],
    ["UTF-16", "", Buffer.from("\ufeffhi ä", "utf16le"), "hi ä"],
    ["nothing, UTF-8", "text/html", Buffer.from("<p>ü"), "ü"],
    ["nothing, not UTF-8", "text/html", Buffer.from("<p>\x93quoted\x94", "latin1"), "“quoted”"],
    ["a name that nobody knows", "text/plain; charset=none", Buffer.from("ü"), "ü"],
  ];
  it.each(charsets)("the charset of a web page is read from: %s", async (_, type, body, text) => {
    expect(await read(type, body)).toBe(text);
  });

  it("a PDF from the web is shown as its text", async () => {
    const text = await read("application/pdf", simplePdf(["Hello from a PDF", "Page two"]));
    expect(text).toBe("Hello from a PDF\n\nPage two");
    await web!.stop();
    await expect(read("application/pdf", "%PDF-1.7 nonsense")).rejects.toThrow(/The PDF cannot be read/);
  });

  it("a web page with unreadable content is reported", async () => {
    await expect(read("image/png", Buffer.from([0x89, 0x50, 0, 1]))).rejects.toThrow(/image\/png of 4 bytes/);
    await web!.stop();
    await expect(read("application/octet-stream", Buffer.from([1, 0, 2]))).rejects.toThrow(PageError);
    await web!.stop();
    const failing = fetchPage("http://docs.test/x", await serve("application/json", '{"error":\n"no such page"}', 404));
    await expect(failing).rejects.toMatchObject({
      message: expect.stringContaining('404 Not Found: {"error": "no such page"}'),
    });
  });

  it("WebFetch cuts long web pages and says so", async () => {
    const page = await fetchPage("http://docs.test/", await serve("text/plain", "a".repeat(1_500_000)));
    expect(page).toMatchObject({ isTruncated: true });
    expect(page.markdown.length).toBe(1_000_000);
    await web!.stop();
    const limited = await fetchPage("http://docs.test/", {
      ...(await serve("text/plain", "abcdef")),
      limits: { bytes: 3 },
    });
    expect(limited).toMatchObject({ isTruncated: true, markdown: "abc" });
  });

  it("each redirect of a web fetch is checked against the permissions, not only the first URL", async () => {
    web = await startWeb((_, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end());
    await expect(fetchPage("http://docs.test/", web.request)).rejects.toMatchObject({ verdict: "deny" });
    await expect(fetchPage("http://docs.test/", { ...web.request, mode: "default" })).rejects.toThrow(GuardRefusal);
    const silent = await startWeb(() => {});
    try {
      const late = fetchPage("http://docs.test/", { ...silent.request, limits: { totalMs: 200 } });
      await expect(late).rejects.toThrow(NetError);
    } finally {
      await silent.stop();
    }
  });

  it("WebFetch requests a web page once per run", async () => {
    const cache = createPageCache();
    const request = { ...(await serve("text/plain", "once")), cache };
    const first = await fetchPage("http://docs.test/p#top", request);
    const second = await fetchPage("http://docs.test/p#end", request);
    expect([first.markdown, second.markdown, second.url]).toEqual(["once", "once", "http://docs.test/p#end"]);
    expect(web!.seen.length).toBe(1);
    const small = createPageCache(5);
    for (const name of ["a", "b"]) small.set(name, { ...first, markdown: "four" });
    expect([small.get("a"), small.get("b")?.markdown]).toEqual([undefined, "four"]);
  });

  it("a web fetch tells servers that Markdown is welcome, and only our name", async () => {
    await fetchPage("http://docs.test/", await serve("text/plain", "x"));
    const { accept, "user-agent": agent, cookie, authorization } = web!.seen[0]!.headers;
    expect(accept).toMatch(/^text\/markdown,/);
    expect([agent?.includes("courser"), cookie, authorization]).toEqual([true, undefined, undefined]);
  });
});
