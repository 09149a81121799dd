// WebFetch and WebSearch through the built CLI, with a web on loopback that the user's own rules open.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { startWeb, type TestWeb } from "../web/web-server.ts";

let web: TestWeb;
const spaces: Workspace[] = [];

beforeAll(async () => {
  web = await startWeb((request, response) => {
    const path = new URL(request.url!, "http://x").pathname;
    if (path === "/search")
      return void response.end(JSON.stringify({ results: [{ title: "T", url: "https://t.test/", content: "c" }] }));
    if (path === "/away") return void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    if (path === "/gone") return void response.writeHead(404).end();
    response.setHeader("content-type", "text/html");
    response.end("<nav>menu</nav><h1>Page</h1><p>Text &amp; <a href='/b'>link</a>.");
  });
});
afterAll(async () => {
  for (const space of spaces) space.remove();
  await web.stop();
});

function space(
  permissions: { allow?: string[]; deny?: string[] } = {},
  config: object = {},
  courser?: object,
): Workspace {
  const made = createWorkspace();
  spaces.push(made);
  mkdirSync(made.config, { recursive: true });
  const rules = { allow: [`WebFetch(127.0.0.1:${web.port})`], deny: [], ...permissions };
  writeFileSync(join(made.config, "cli-config.json"), JSON.stringify({ version: 1, permissions: rules, ...config }));
  if (courser) writeFileSync(join(made.config, "courser.json"), JSON.stringify(courser));
  return made;
}

const fetching = (...paths: string[]) => [
  { calls: paths.map((path) => ({ name: "WebFetch", args: { url: `http://127.0.0.1:${web.port}${path}` } })) },
  { text: "done" },
];
const searching = [{ calls: [{ name: "WebSearch", args: { query: "what" } }] }, { text: "done" }];

/** Results of the calls, in order. */
function results(run: CliRun, key: string): any[] {
  const ends = run.lines().filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  return ends.map((line) => line["tool_call"][key].result);
}
const queries = (run: CliRun) => run.lines().filter((line) => line["type"] === "interaction_query");

describe("the web, through the CLI", () => {
  it("WebFetch reads what the user's rule allows, in the documented format", async () => {
    const here = space();
    const run = await here.run(
      [
        "-p",
        "--trust",
        "--output-format",
        "stream-json",
        "--model",
        `script:${here.file("../s.json", JSON.stringify(fetching("/", "/gone", "/away")))}`,
        "go",
      ],
      {},
    );
    const url = `http://127.0.0.1:${web.port}/`;
    const [page, gone, away] = results(run, "webFetchToolCall");
    expect(page).toEqual({ success: { url, markdown: `# Page\n\nText & [link](${url}b).` } });
    expect(gone).toEqual({ error: { url: `${url}gone`, error: "The server answered 404 Not Found." } });
    expect(away.rejected.reason).toMatch(
      /redirects to http:\/\/127.0.0.1:1\/: 127.0.0.1 is this machine, which is closed/,
    );
    const [end] = run.lines().filter((line) => line["type"] === "result");
    expect(end!["permission_denials"]).toHaveLength(1);
    expect(queries(run)).toEqual([]);
  });

  it("with --force, the stream reports fetches as asked and approved, and the agent fetches a page once", async () => {
    web.seen.length = 0;
    const script = [...fetching("/").slice(0, 1), ...fetching("/#part")];
    const run = await space().play(script);
    expect(results(run, "webFetchToolCall").map((result) => Object.keys(result)[0])).toEqual(["success", "success"]);
    expect(web.seen).toHaveLength(1);
    const [asked, answered] = queries(run);
    expect(asked).toMatchObject({
      subtype: "request",
      query_type: "webFetchRequestQuery",
      query: { id: 0, webFetchRequestQuery: { args: { url: expect.any(String) } } },
    });
    expect(answered).toMatchObject({
      subtype: "response",
      response: { id: 0, webFetchRequestResponse: { approved: {} } },
    });
  });

  it("print mode rejects web access without permission, and asks nobody", async () => {
    const here = space({ allow: [] });
    const script = here.file(
      "../s.json",
      JSON.stringify([{ calls: [{ name: "WebFetch", args: { url: "https://docs.test/" } }] }, { text: "ok" }]),
    );
    const run = await here.run([
      "-p",
      "--trust",
      "--output-format",
      "stream-json",
      "--model",
      `script:${script}`,
      "go",
    ]);
    expect(results(run, "webFetchToolCall")[0].rejected.reason).toContain("no WebFetch rule covers that");
    expect(queries(run)[1]).toMatchObject({
      response: { webFetchRequestResponse: { rejected: { reason: expect.any(String) } } },
    });
    expect(run.exit).toBe(0);
  });

  it("WebSearch uses the engine of the settings or environment, and says what to configure", async () => {
    const env = { SEARXNG_URL: `http://127.0.0.1:${web.port}` };
    const found = { success: { references: [{ title: "T", url: "https://t.test/", chunk: "c" }] } };
    const run = await space({ allow: [] }).play(searching, [], { env });
    expect(results(run, "webSearchToolCall")).toEqual([found]);
    expect(queries(run)[0]).toMatchObject({ query: { webSearchRequestQuery: { args: { searchTerm: "what" } } } });

    const configured = space(
      { allow: [] },
      { autoAcceptWebSearch: true },
      { search: { engine: "searxng", url: env.SEARXNG_URL } },
    );
    const script = configured.file("../s.json", JSON.stringify(searching));
    const args = ["-p", "--trust", "--output-format", "stream-json", "--model", `script:${script}`, "go"];
    expect(results(await configured.run(args), "webSearchToolCall")).toEqual([found]);

    const offline = await configured.run(["-p", "--trust", 'call the tool WebSearch with {"query": "what"}']);
    expect(offline.stdout).toContain("1. T\n   https://t.test/\n   c");

    const none = await space().play(searching);
    expect(results(none, "webSearchToolCall")[0].error.error).toMatch(/Set BRAVE_API_KEY.*courser\.json/);
    const denied = await space({ allow: [], deny: ["WebFetch(127.0.0.1)"] }).play(searching, [], { env });
    expect(Object.keys(results(denied, "webSearchToolCall")[0])).toEqual(["rejected"]);
    const wrong = await space({}, {}, { search: { engine: "gopher" } }).play(searching);
    expect(wrong.stderr).toMatch(/"search.engine" must be one of searxng, brave, tavily, exa.*\[CONFIG_INVALID\]/);
  });

  it("errors and commands do not show the API key of a search engine", async () => {
    const here = space(
      {},
      {},
      { search: { engine: "tavily", url: `http://127.0.0.1:${web.port}/nothing`, keyEnv: "ODD_NAME" } },
    );
    const script = [
      ...searching.slice(0, 1),
      { calls: [{ name: "Shell", args: { command: "env" } }] },
      { text: "done" },
    ];
    const run = await here.play(script, ["--sandbox", "disabled"], { env: { ODD_NAME: "k3y-of-the-user-0123" } });
    expect(run.stdout + run.stderr).not.toContain("k3y-of-the-user-0123");
  });
});
