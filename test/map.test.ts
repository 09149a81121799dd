// AGENTS.md and the README.md of each folder: they are short, and what they name is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { mayImport } from "./support/may-import.ts";

const root = resolve(import.meta.dirname, "..");
const folders = readdirSync(join(root, "src"));
const pages = [
  "AGENTS.md",
  ...folders.map((folder) => `src/${folder}/README.md`),
  ...["test", "bench", "integrations"].map((folder) => `${folder}/README.md`),
];

describe("the map of the source", () => {
  it("AGENTS.md has at most 6,000 bytes", () => {
    expect(readFileSync(join(root, "AGENTS.md")).length).toBeLessThanOrEqual(6000);
  });

  it.each(pages)("%s names only existing files", (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const places = [root, join(root, "src"), join(root, dirname(page))];
    const missing = pathsIn(text).filter((path) => !places.some((place) => existsSync(join(place, path))));
    expect(missing).toEqual([]);
    for (const command of text.matchAll(/npm run (?:long -- )?([\w-]+)/g)) expect(isScript(command[0])).toBe(true);
  });

  it("the map lists every folder of the source", () => {
    const text = readFileSync(join(root, "AGENTS.md"), "utf8");
    expect(folders.filter((folder) => !text.includes(`\`${folder}/\``))).toEqual([]);
  });

  it.each(Object.keys(mayImport).filter((folder) => !folder.startsWith("studio")))(
    "the README of %s says what that folder may import",
    (folder) => {
      const text = readFileSync(join(root, `src/${folder}/README.md`), "utf8");
      const said = /^May import: (.+)\.$/m.exec(text)?.[1] ?? "";
      expect([...said.matchAll(/`([^`]+)`/g)].map(([, name]) => name).sort()).toEqual([...mayImport[folder]!].sort());
    },
  );
});

/** What is in backticks and looks like the path of a file or a folder. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`([\w@.-]+(?:\/[\w@.-]+)*(?:\/|\.(?:tsx?|mjs|json|md|css|conf|html)))`/g)]
    .map(([, path]) => path!)
    .filter((path) => path !== "courser.json" && path !== "dist/");
}

function isScript(command: string): boolean {
  const [, , name, , long] = command.split(" ");
  const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
  if (long === undefined) return name! in scripts;
  return new RegExp(`^  "?${long}"?: \\[`, "m").test(readFileSync(join(root, "scripts/long.mjs"), "utf8"));
}
