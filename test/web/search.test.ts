// searchWeb against servers on loopback that speak as the engines do.
import { afterEach, describe, expect, it } from "vitest";
import { SearchError, searchWeb } from "../../src/web/search.ts";
import { searchEngine } from "../../src/web/search-engines.ts";
import { startWeb, type TestWeb } from "./web-server.ts";

let web: TestWeb | undefined;
afterEach(async () => {
  await web?.stop();
  web = undefined;
});

const answers: Record<string, unknown> = {
  searxng: {
    results: [
      { title: "One", url: "https://one.test/", content: "first  thing" },
      { title: "Bad", url: "javascript:x" },
    ],
  },
  brave: {
    web: {
      results: [{ title: "<strong>One</strong>", url: "https://one.test/", description: "first &amp; <b>thing</b>" }],
    },
  },
  tavily: { results: [{ title: "One", url: "https://one.test/", content: "first thing" }] },
  exa: { results: [{ title: null, url: "https://one.test/", text: "first thing" }] },
};

async function ask(engine: string, answer: unknown, status = 200) {
  web = await startWeb((_, response) => {
    response.writeHead(status, {
      "content-type": "application/json",
      ...(status === 302 && { location: "http://elsewhere.test/" }),
    });
    response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const chosen = searchEngine(
    { engine, url: `http://127.0.0.1:${web.port}`, keyEnv: "MY_KEY" },
    { MY_KEY: "secret-key-1" },
  );
  return searchWeb("what is new", { engine: chosen!, env: {} });
}

describe("searchWeb", () => {
  it.each(Object.keys(answers))(
    "the search engine %s gets the query and key, and its results are read",
    async (engine) => {
      const [hit, ...others] = await ask(engine, answers[engine]);
      expect(hit).toEqual({
        title: engine === "exa" ? "https://one.test/" : "One",
        url: "https://one.test/",
        snippet: engine === "brave" ? "first & thing" : "first thing",
      });
      expect(others).toEqual([]);
      const [request] = web!.seen;
      expect(`${decodeURIComponent(request!.url.replaceAll("+", " "))}${request!.body}`).toContain("what is new");
      expect(Object.values(request!.headers).join(" ")).toContain("secret-key-1");
      expect(request!.url + request!.body).not.toContain("secret-key-1");
    },
  );

  it("web search explains errors of a search engine without showing the key", async () => {
    await expect(ask("brave", { error: "secret-key-1 is wrong" }, 401)).rejects.toThrow(
      /brave at 127.0.0.1:\d+ answered 401. Its key is wrong/,
    );
    await web!.stop();
    await expect(ask("brave", "no secret-key-1 here", 500)).rejects.toThrow("answered 500. no … here.");
    await web!.stop();
    await expect(ask("searxng", "<html>")).rejects.toThrow(/format json/);
    await web!.stop();
    await expect(ask("tavily", "x".repeat(5_000_000))).rejects.toThrow(SearchError);
  });

  it("web search never follows redirects of a search engine, so the key stays with it", async () => {
    await expect(ask("exa", {}, 302)).rejects.toThrow(/redirects/);
    expect(web!.seen.length).toBe(1);
  });

  it("web search takes its engine from the settings, else from the environment", () => {
    const of = (settings: object, env: Record<string, string> = {}) => {
      const found = searchEngine(settings, env);
      return found && [found.kind.name, found.url, found.key];
    };
    expect(of({})).toBeUndefined();
    expect(of({}, { SEARXNG_URL: "http://127.0.0.1:8888" })).toEqual(["searxng", "http://127.0.0.1:8888", ""]);
    expect(of({}, { TAVILY_API_KEY: "t" })).toEqual(["tavily", "https://api.tavily.com/search", "t"]);
    expect(of({ engine: "exa" }, { TAVILY_API_KEY: "t", EXA_API_KEY: "e" })?.[2]).toBe("e");
    expect(of({ engine: "exa" }, { TAVILY_API_KEY: "t" })).toEqual(["exa", "https://api.exa.ai/search", ""]);
    expect(of({ url: "http://[::1]:1" })).toEqual(["searxng", "http://[::1]:1", ""]);
    expect(of({ url: "ftp://a.test" })).toBeUndefined();
  });

  it("web search reports a missing API key before it asks the search engine", async () => {
    const engine = searchEngine({ engine: "brave" }, {})!;
    await expect(searchWeb("x", { engine })).rejects.toThrow(/brave needs a key: set BRAVE_API_KEY/);
  });
});
