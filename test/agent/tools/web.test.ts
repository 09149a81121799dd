// WebFetch and WebSearch as a model reads them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { BackgroundShells } from "../../../src/agent/background.ts";
import { createProcessRunner } from "../../../src/agent/process.ts";
import { webFetch } from "../../../src/agent/tools/web-fetch.ts";
import { webSearch } from "../../../src/agent/tools/web-search.ts";
import { createPageCache } from "../../../src/web/page-cache.ts";
import { searchEngine } from "../../../src/web/search-engines.ts";
import { rulesOf } from "../../policy/fixture.ts";
import { startWeb } from "../../web/web-server.ts";
import { workspace } from "./workspace.ts";

async function open(answer: (path: string) => { type?: string; body: string; location?: string }) {
  const web = await startWeb((request, response) => {
    const { type = "text/plain", body, location } = answer(request.url!);
    response.writeHead(location ? 302 : 200, { "content-type": type, ...(location && { location }) });
    response.end(body);
  });
  onTestFinished(() => web.stop());
  const space = workspace();
  const place = `127.0.0.1:${web.port}`;
  const access = {
    mode: "default" as const,
    rules: rulesOf({ allow: [`WebFetch(${place})`] }, "user"),
    env: {},
    pages: createPageCache(),
    engine: searchEngine({ url: `http://${place}` }, {}),
  };
  const background = new BackgroundShells(createProcessRunner(), space.root);
  return { space, url: `http://${place}`, extras: { web: access, background }, web };
}

describe("WebFetch and WebSearch", () => {
  it("WebFetch gives the model what fits, and saves the rest to a file", async () => {
    const { space, url, extras } = await open(() => ({ body: "line of text\n".repeat(10_000) }));
    const { text, value } = await space.call(webFetch, { url }, extras);
    expect(value.markdown.length).toBe(130_000);
    expect(text.length).toBeLessThan(30_000);
    const [, left, file] = /\[(\d+) more characters are in (\S+): Read or Grep it\.\]$/.exec(text)!;
    expect([Number(left), file!.startsWith(join(space.root, "courser-"))]).toEqual([130_000 - 29_000, true]);
    expect(readFileSync(file!, "utf8")).toBe(value.markdown);
  });

  it("WebFetch names the final address, and reports an empty page", async () => {
    const { space, url, extras } = await open((path) =>
      path === "/old"
        ? { body: "", location: "/new" }
        : { type: "text/html", body: path === "/new" ? "<p>moved" : "<script>1</script>" },
    );
    expect((await space.call(webFetch, { url: `${url}/old` }, extras)).text).toBe(`[From ${url}/new]\n\nmoved`);
    expect((await space.call(webFetch, { url: `${url}/new#part` }, extras)).text).toBe("moved");
    expect((await space.call(webFetch, { url: `${url}/app` }, extras)).text).toMatch(/^The page has no text/);
  });

  it("the WebFetch tool accepts the argument names of other agents", () => {
    expect(webFetch.parse({ uri: "https://a.test" })).toEqual({ url: "https://a.test" });
    expect(webSearch.parse({ search_term: "x" })).toEqual({ query: "x" });
    expect(() => webFetch.parse({ url: " " })).toThrow(/must not be empty/);
  });

  it("running WebFetch and WebSearch calls end with the run", async () => {
    const { space, url, extras, web } = await open(() => ({ body: "late" }));
    const stop = new AbortController();
    stop.abort();
    const failed = await space.fail(webFetch, { url }, { ...extras, signal: stop.signal });
    expect(failed.value).toEqual({ url, error: "The run was stopped." });
    const search = await space.fail(webSearch, { query: "x" }, { ...extras, signal: stop.signal });
    expect([search.value.error, web.seen.length]).toEqual(["The run was stopped.", 0]);
  });

  it("the WebSearch tool lists its results", async () => {
    const results = [{ title: "T", url: "https://t.test/", content: "text" }];
    const { space, extras } = await open(() => ({ body: JSON.stringify({ results }) }));
    expect((await space.call(webSearch, { query: "x" }, extras)).text).toBe("1. T\n   https://t.test/\n   text");
  });
});
