// Code search on 20,000 files made of real sources: making the index, looking whether it is up to date, a question; and how
// often the right file is among the first five. Plain FTS5 over the same files is the floor.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createSearch } from "../src/agent/code-search/search.ts";
import { CodeIndex } from "../src/store/code-index/code-index.ts";
import { openDatabase } from "../src/store/sqlite.ts";
import { evaluate, questions, share, sourcesOf } from "../test/agent/code-search/evaluate.ts";
import { median } from "./measure.ts";

export type CodeSearchFigures = {
  megabytes: number;
  indexSeconds: number;
  plainSeconds: number;
  recheckSeconds: number;
  questionMs: number;
  /** Shares of questions, from 0 to 1: tuned with, held back, and of plain FTS5. */
  tuned: number;
  heldBack: number;
  plain: number;
};

export async function codeSearchFigures(files = 20_000): Promise<CodeSearchFigures> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "courser-code-search-")));
  const signal = new AbortController().signal;
  try {
    const { paths, bytes } = makeTree(join(root, "work"), files);
    const plainSeconds = await seconds(async () => plainIndex(join(root, "work"), join(root, "plain.db"), paths));
    const index = new CodeIndex(join(root, "index.db"));
    const search = createSearch({ index, folder: join(root, "work") });
    const indexSeconds = await seconds(() => search.update(paths, signal));
    const recheckSeconds = await seconds(() => search.update(paths, signal));
    const times: number[] = [];
    for (const { question } of questions) times.push((await seconds(() => search.find(question))) * 1000);
    index.close();
    const found = await evaluate();
    return {
      megabytes: bytes / 1e6,
      indexSeconds,
      plainSeconds,
      recheckSeconds,
      questionMs: median(times),
      tuned: share(
        found.filter((each) => each.set === "made with"),
        "ours",
      ),
      heldBack: share(
        found.filter((each) => each.set !== "made with"),
        "ours",
      ),
      plain: share(found, "plain"),
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Sources of the packages that the questions are about, again and again, each time with other names in it. */
function makeTree(root: string, files: number): { paths: string[]; bytes: number } {
  const packages = resolve(import.meta.dirname, "../node_modules");
  const sources = [...new Set(questions.map((each) => each.package))].flatMap((name) =>
    sourcesOf(name).map((path) => join(packages, name, path)),
  );
  const texts = sources.map((path) => readFileSync(path, "utf8")).filter((text) => text.length < 60_000);
  const paths: string[] = [];
  let bytes = 0;
  for (let number = 0; number < files; number++) {
    const folder = `part${Math.floor(number / 100)}`;
    if (number % 100 === 0) mkdirSync(join(root, folder), { recursive: true });
    const text = texts[number % texts.length]!.replace(
      /\b(\w*[aeiou])(re|set|head|call)(\w*)\b/g,
      `$1$2${number % 997}$3`,
    );
    const path = `${folder}/file${number}.ts`;
    writeFileSync(join(root, path), text);
    bytes += text.length;
    paths.push(path);
  }
  return { paths, bytes };
}

function plainIndex(folder: string, file: string, paths: readonly string[]): void {
  const database = openDatabase(file);
  database.exec("PRAGMA synchronous = OFF; CREATE VIRTUAL TABLE texts USING fts5(path, body); BEGIN");
  const insert = database.prepare("INSERT INTO texts VALUES (?, ?)");
  for (const path of paths) insert.run(path, readFileSync(join(folder, path), "utf8"));
  database.exec("COMMIT");
  database.close();
}

async function seconds(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
