// Reads the documentation pages in the package, for `help <page>`, as plain text without browser-only markup.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programName } from "../../text/program-name.ts";

const folder = fileURLToPath(new URL("../../docs", import.meta.url));

/** The names of all pages: `models`, `sdk`, `decisions/running`. */
export function pageNames(): string[] {
  const files = existsSync(folder) ? (readdirSync(folder, { recursive: true }) as string[]) : [];
  return files
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.replace(/(?:\/index)?\.md$/, ""))
    .sort();
}

/** Returns the text of a documentation page, by its name or its path (docs/models.md). */
export function helpPage(pageName: string): string | undefined {
  const name = pageName.replace(/^docs\//, "").replace(/\.md$/, "");
  if (!pageNames().includes(name)) return undefined;
  const files = [join(folder, `${name}.md`), join(folder, name, "index.md")];
  return plainText(readFileSync(files.find((file) => existsSync(file))!, "utf8"));
}

function plainText(markdown: string): string {
  return `${markdown
    .replace(/(?<![\w./-])courser(?= (?:-|"|[a-z-]+\b))/g, programName())
    .replace(/^<!--.*-->\n/gm, "")
    .replace(/^!\[[^\]]*\]\([^)]*\)\s*\n/gm, "")
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, "$1")
    .trim()}\n`;
}
