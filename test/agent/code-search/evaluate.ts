// `npm run eval:search`: in how many questions the right file is among the first five, for our search and for plain FTS5.
//   npm run eval:search -- [--misses]
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
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

export async function evaluate(list: readonly Asked[] = questions): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of new Set(list.map((each) => each.package))) {
    const folder = join(packages, name);
    const paths = sourcesOf(name);
    const index = new CodeIndex(undefined);
    const search = createSearch({ index, folder });
    await search.update(paths, new AbortController().signal);
    const plain = plainIndex(folder, paths);
    for (const each of list.filter((question) => question.package === name)) {
      const started = performance.now();
      const hits = await search.find(each.question, { most: 5 });
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
  const select = database.prepare("SELECT path FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 5");
  return (question) => {
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

export async function main(argv: readonly string[]): Promise<number> {
  const found = await evaluate();
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
  const shown = argv.includes("--misses")
    ? found.filter((each) => each.set === "made with" && !isRight(each, each.ours))
    : [];
  for (const each of shown)
    console.log(`\n${each.question}\n  wanted ${each.files.join(", ")}\n  got ${each.ours.join(", ")}`);
  return share(found, "ours") >= 0.8 && share(found, "ours") - share(found, "plain") >= 0.1 ? 0 : 1;
}
