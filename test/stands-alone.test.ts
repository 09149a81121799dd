// Nothing leads out of the repository: what tests and scripts read is in it. CI runs them in a clone with nothing beside it.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

const files = ["bench", "scripts", "src", "test"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(m?ts|mjs|cjs)$/.test(name))
    .map((name) => join(root, folder, name)),
);

/** Paths that a line starts from its own file, or from the root of the repository. */
function pathsIn(file: string, line: string): string[] {
  const own = /\bimport\.meta\.(dirname|url)\b|\bimport\(|\bfrom "/.test(line);
  const base = own ? dirname(file) : /\b(repository|root)\b/.test(line) ? root : undefined;
  if (base === undefined) return [];
  return [...line.matchAll(/["'`](\.\.?\/[^"'`\s]*)/g)].map(([, path]) => resolve(base, path!));
}

it("no path of a test or a script leads out of the repository", () => {
  const outside = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => pathsIn(file, line))
      .filter((path) => relative(root, path).startsWith(".."))
      .map((path) => `${relative(root, file)}: ${relative(root, path)}`),
  );
  expect(outside).toEqual([]);
  // It can fail.
  const beside = "../beside/a.json";
  expect(pathsIn(join(root, "test/a.test.ts"), `join(repository, "${beside}")`)).toEqual([resolve(root, beside)]);
});
