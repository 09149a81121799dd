// `npm run long -- eval-search`: in how many questions the right file is among the first five, for our search and for plain FTS5.
//   npm run long -- eval-search [--misses] [--embeddings URL --model NAME | --stand-in]
// With an embedding endpoint files are found by meaning as well; `--stand-in` starts one that knows how words are spelled and no more.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { embedFiles, nearestFiles } from "../../../src/agent/code-search/by-meaning.ts";
import type { EmbeddingEndpoint } from "../../../src/agent/code-search/embeddings.ts";
import { fuseRankings, spare } from "../../../src/agent/code-search/folders.ts";
import { createSearch } from "../../../src/agent/code-search/search.ts";
import { CodeIndex } from "../../../src/store/code-index/code-index.ts";
import { openDatabase } from "../../../src/store/sqlite.ts";
import asked from "./questions.json" with { type: "json" };

export type Asked = { package: string; question: string; files: string[]; set: string };
export type Found = Asked & { ours: string[]; plain: string[]; ms: number };

/**
 * `made with`: the search was made and tuned with them. `held back`: written with those, never looked at while tuning.
 * `later`: written about other packages when the search was done.
 */
export const questions: readonly Asked[] = asked;

const packages = resolve(import.meta.dirname, "../../../node_modules");

/** The sources that questions are about: what a package was written in, or the next best that it ships. */
export function sourcesOf(name: string): string[] {
  const folder = join(packages, name);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.split("\\").join("/"));
  return names
    .filter((path) => /\.(?:js|ts)$/.test(path) && !/^(?:cjs|types)\/|\.d\.ts$/.test(path))
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

export async function evaluate(list: readonly Asked[] = questions, endpoint?: EmbeddingEndpoint): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of new Set(list.map((each) => each.package))) {
    const folder = join(packages, name);
    const paths = sourcesOf(name);
    const index = new CodeIndex(undefined);
    const search = createSearch({ index, folder });
    await search.update(paths, new AbortController().signal);
    const plain = plainIndex(folder, paths);
    const read = (path: string) => readFile(join(folder, path));
    const signal = new AbortController().signal;
    const meaning = endpoint && { endpoint, index, signal, isWanted: () => true, read };
    while (meaning && (await embedFiles(meaning)) > 0);
    for (const each of list.filter((question) => question.package === name)) {
      const started = performance.now();
      const byWords = await search.find(each.question, { most: meaning ? 5 * spare : 5 });
      const near = meaning && (await nearestFiles(each.question, 5 * spare, meaning));
      const hits = near ? (await fuseRankings(byWords, near, read)).slice(0, 5) : byWords;
      const ms = performance.now() - started;
      found.push({ ...each, ours: hits.map((hit) => hit.path), plain: plain(each.question), ms });
    }
    index.close();
  }
  return found;
}

/** What one gets from FTS5 as it comes: a row for each file, any of the words, best first. */
function plainIndex(folder: string, paths: readonly string[]): (question: string) => string[] {
  const database = openDatabase(":memory:");
  database.exec("CREATE VIRTUAL TABLE texts USING fts5(path, body)");
  const insert = database.prepare("INSERT INTO texts VALUES (?, ?)");
  for (const path of paths) insert.run(path, readFileSync(join(folder, path), "utf8"));
  return (question) => {
    const select = database.prepare("SELECT path FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 5");
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    return select.all(words.map((word) => `"${word}"`).join(" OR ")).map((row) => String(row["path"]));
  };
}

export function isRight({ files }: Asked, answer: readonly string[]): boolean {
  return answer.some((path) => files.includes(path));
}

export function share(list: readonly Found[], of: "ours" | "plain"): number {
  return list.length === 0 ? 0 : list.filter((each) => isRight(each, each[of])).length / list.length;
}

/** Names that stand in the target, and its own name, must not stand in the question: finding those is no art. */
export function namesIn({ package: name, files }: Asked): Set<string> {
  const names = new Set<string>();
  for (const file of files) {
    const [, base = ""] = /([^/]+?)(?:\/index)?\.\w+$/.exec(file) ?? [];
    names.add(base.toLowerCase());
    const text = readFileSync(join(packages, name, file), "utf8");
    const definition =
      /^(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:function\*?|class|const|let|var|type|interface)\s+([A-Za-z_$][\w$]*)/gm;
    for (const [, found] of text.matchAll(definition)) names.add(found!.toLowerCase());
  }
  return names;
}

/** Texts as the trigrams of their words, hashed into 512 numbers: alike where they are spelled alike. */
function spelling(text: string): number[] {
  const vector = new Array<number>(512).fill(0);
  for (const word of text.toLowerCase().match(/[\p{L}]{3,}/gu) ?? [])
    for (let at = 0; at + 3 <= word.length + 1; at++) {
      let hash = 7;
      for (const letter of ` ${word}`.slice(at, at + 3)) hash = (hash * 31 + letter.codePointAt(0)!) % 4093;
      vector[hash % 512]! += 1;
    }
  return vector.map((count) => Math.log1p(count));
}

async function standIn(): Promise<EmbeddingEndpoint & { close(): void }> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { input } = JSON.parse(body) as { input: string[] };
    response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: spelling(text) })) }));
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, model: "spelling", close: () => server.close() };
}

export async function main(argv: readonly string[]): Promise<number> {
  const options = { misses: "boolean", "stand-in": "boolean", embeddings: "string", model: "string" } as const;
  const { values } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(Object.entries(options).map(([name, type]) => [name, { type }])),
  });
  const own = values["stand-in"] ? await standIn() : undefined;
  const url = values["embeddings"] as string | undefined;
  const found = await evaluate(questions, own ?? (url ? { url, model: String(values["model"]) } : undefined));
  own?.close();
  const sets = [...new Set(found.map((each) => each.set)), "all"];
  for (const name of sets) {
    const list = found.filter((each) => name === "all" || each.set === name);
    const percent = (value: number) => `${(value * 100).toFixed(1)} %`;
    console.log(
      `${name} (${list.length}): ${percent(share(list, "ours"))}, plain FTS5 ${percent(share(list, "plain"))}`,
    );
  }
  const times = found.map((each) => each.ms).sort((left, right) => left - right);
  console.log(
    `median of a question: ${times[times.length >> 1]!.toFixed(1)} ms, the slowest ${times.at(-1)!.toFixed(1)} ms`,
  );
  const shown = values["misses"] ? found.filter((each) => each.set === "made with" && !isRight(each, each.ours)) : [];
  for (const each of shown)
    console.log(`\n${each.question}\n  wanted ${each.files.join(", ")}\n  got ${each.ours.join(", ")}`);
  return share(found, "ours") >= 0.8 && share(found, "ours") - share(found, "plain") >= 0.1 ? 0 : 1;
}
