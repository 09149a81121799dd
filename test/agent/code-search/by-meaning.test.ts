// Code search with an embedding endpoint: found by meaning, embedded once, and honest where the endpoint fails.
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createWorkspace } from "../../support/run-cli.ts";

const place = createWorkspace();
let server: Server;
let asked: string[][] = [];
let status = 200;

/** A small multilingual model: a dimension for each meaning, whatever the language that it is said in. */
const meanings = [
  /组件|component/gi,
  /使用|\buse[sd]?\b|render/gi,
  /项目|project|\bapp\b/gi,
  /数据库|database|\bsql\b/gi,
  /./s,
];
const vectorOf = (text: string) => meanings.map((each, at) => (at === 4 ? 0.1 : (text.match(each)?.length ?? 0)));

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { input } = JSON.parse(body) as { input: string[] };
    asked.push(input);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: vectorOf(text) })) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  place.file(
    "showcase/src/App.tsx",
    "export function App() {\n  return <Component use={project} />; // renders a component\n}\n",
  );
  place.file("server/store.ts", "export const database = openSql();\nexport const rows = database.all();\n");
  place.file("secrets/id_rsa", "component of a project\n");
});
beforeEach(() => {
  asked = [];
  status = 200;
});
afterAll(() => {
  server.close();
  place.remove();
});

async function search(query: string, { withEndpoint = true } = {}): Promise<string> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  mkdirSync(place.config, { recursive: true });
  writeFileSync(
    join(place.config, "courser.json"),
    JSON.stringify(withEndpoint ? { embeddings: { url, model: "tiny" } } : {}),
  );
  writeFileSync(
    join(place.config, "script.json"),
    JSON.stringify([{ calls: [{ name: "SemanticSearch", args: { query } }] }, { text: "Done." }]),
  );
  const args = [
    "-p",
    "--force",
    "--model",
    `script:${join(place.config, "script.json")}`,
    "--output-format",
    "stream-json",
    "search",
  ];
  const lines = (await place.run(args)).lines() as any[];
  const { semSearchToolCall } = lines.find(({ subtype }) => subtype === "completed").tool_call;
  return semSearchToolCall.result.success.results;
}

const question = "如何在项目中使用组件";

it("search by meaning finds code asked for in another language and embeds each chunk once", async () => {
  expect(await search(question)).toMatch(/^<search_result path="showcase\/src\/App.tsx"/);
  const sent = asked.flat();
  expect(sent.filter((text) => text.includes("openSql"))).toHaveLength(1);
  expect(sent.join("\n")).not.toContain("id_rsa");
  asked = [];
  expect(await search("where is the database?")).toMatch(/^<search_result path="server\/store.ts"/);
  expect(asked).toEqual([["where is the database?"]]);
});

it("search by meaning embeds only what an edit changed", async () => {
  place.file("server/store.ts", "export const table = openTable(); // a component of the project\n");
  await search(question);
  expect(asked.flat().map((text) => text.split("\n")[0])).toEqual(["server/store.ts", question]);
});

it("semantic search falls back to word search if the embedding endpoint fails", async () => {
  status = 500;
  expect(await search("where is the component rendered?")).toContain("App.tsx");
});

it("an empty search result tells the model what to try", async () => {
  expect(await search(question, { withEndpoint: false })).toBe(
    "Nothing was found. The search is by words: search for identifiers in the language of the code, or use Grep.",
  );
  expect(asked).toEqual([]);
});
