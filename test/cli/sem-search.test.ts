// SemanticSearch through the built CLI: shape of the answer, what is hidden stays hidden, folders, an embedding endpoint.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { startWeb } from "../web/web-server.ts";

let space: Workspace | undefined;
afterEach(() => space?.remove());

const files = {
  "src/backoff.ts":
    "// Waits longer after each failed attempt.\nexport function retryRequest() {\n  return delay(2 ** attempt);\n}\n",
  "src/colour.ts": "export function mixColours() {}\n",
  "lib/other.ts": "// failed attempt, waits\nexport const other = 1;\n",
  "secret/keys.ts": "// failed attempt waits longer: hidden\nexport const key = 1;\n",
  "ignored/copy.ts": "// failed attempt waits longer\n",
  ".gitignore": "ignored/\n",
  ".cursorignore": "secret/\n",
};

function open(config: { deny?: string[]; courser?: object } = {}): Workspace {
  space = createWorkspace(files);
  mkdirSync(space.config, { recursive: true });
  const permissions = { allow: [], deny: config.deny ?? [] };
  writeFileSync(join(space.config, "cli-config.json"), JSON.stringify({ version: 1, permissions }));
  if (config.courser) writeFileSync(join(space.config, "courser.json"), JSON.stringify(config.courser));
  return space;
}

const asking = (args: object) => [{ calls: [{ name: "SemanticSearch", args }] }, { text: "done" }];
const question = "where do we wait after an attempt failed?";

function answer(run: CliRun): any {
  const end = run.lines().find((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  return end!["tool_call"]["semSearchToolCall"];
}
const paths = (results: string) => [...results.matchAll(/<search_result path="([^"]*)"/g)].map(([, path]) => path);

describe("SemanticSearch", () => {
  it("SemanticSearch answers in the stream's format, best first, without hidden and ignored files", async () => {
    const here = open();
    const run = await here.play(asking({ query: question, explanation: "to change it" }));
    const { args, result } = answer(run);
    expect(args).toEqual({ query: question, targetDirectories: [], explanation: "to change it" });
    expect(paths(result.success.results)).toEqual(["src/backoff.ts", "lib/other.ts"]);
    expect(result.success.results).toContain(
      `<search_result path="src/backoff.ts" startLine="1" endLine="4">\n${files["src/backoff.ts"].trimEnd()}\n</search_result>`,
    );
    const kept = readdirSync(join(here.config, "projects"), { recursive: true, encoding: "utf8" });
    expect(kept.some((name) => /code-index-\w+\.db$/.test(name))).toBe(true);
  });

  it("SemanticSearch keeps to the given directories, even ignored ones, and to Read deny rules", async () => {
    const here = open({ deny: ["Read(lib/**)"] });
    const inside = answer(await here.play(asking({ query: question, targetDirectories: ["src"] }))).result;
    expect(paths(inside.success.results)).toEqual(["src/backoff.ts"]);
    const ignored = answer(await here.play(asking({ query: question, target_directories: ["ignored"] }))).result;
    expect(paths(ignored.success.results)).toEqual(["ignored/copy.ts"]);
    const all = answer(await here.play(asking({ query: question }))).result;
    expect(paths(all.success.results)).toEqual(["src/backoff.ts"]);
    const denied = answer(await here.play(asking({ query: question, targetDirectories: ["lib"] }))).result;
    expect(Object.keys(denied)).not.toContain("success");
    const hidden = answer(await here.play(asking({ query: question, targetDirectories: ["secret"] }))).result;
    expect(JSON.stringify(hidden)).not.toContain("hidden\\nexport");
    expect(Object.keys(hidden)).toEqual(["rejected"]);
  });

  it("SemanticSearch leaves nothing on the disk with --no-persist", async () => {
    const here = open();
    await here.play(asking({ query: question }), ["--no-persist"]);
    const projects = join(here.config, "projects");
    const kept = existsSync(projects) ? readdirSync(projects, { recursive: true, encoding: "utf8" }) : [];
    expect(kept.filter((name) => name.includes("code-index"))).toEqual([]);
  });

  it("SemanticSearch uses the user's embedding endpoint, and says when it fails", async () => {
    const web = await startWeb((_, response) => {
      const { input } = JSON.parse(web.seen.at(-1)!.body) as { input: string[] };
      // Near to the question is what speaks of `other`.
      const data = input.map((text, index) => ({
        index,
        embedding: text === question || text.includes("other") ? [1, 0] : [0, 1],
      }));
      response.end(JSON.stringify({ data }));
    });
    onTestFinished(() => web.stop());
    const courser = { embeddings: { url: `http://127.0.0.1:${web.port}/v1`, model: "m", keyEnv: "EMBED" } };
    const here = open({ courser });
    const env = { EMBED: "secret-of-embeddings" };
    const first = answer(await here.play(asking({ query: question }), [], { env })).result;
    expect(paths(first.success.results)[0]).toBe("lib/other.ts");
    expect(web.seen[0]).toMatchObject({
      url: "/v1/embeddings",
      headers: { authorization: "Bearer secret-of-embeddings" },
    });
    await here.play(asking({ query: question }), [], { env });
    expect(web.seen).toHaveLength(3); // the files, and each question: vectors are kept
    await web.stop();
    const without = open({ courser });
    const run = await without.play(asking({ query: question }), [], { env });
    expect(paths(answer(run).result.success.results)[0]).toBe("src/backoff.ts");
    expect(run.stdout + run.stderr).not.toContain("secret-of-embeddings");
  });
});
