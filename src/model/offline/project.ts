// Answers "what does this project do?" from its README, its manifest and its layout, in at most ten lines.
import { isObject, tryParse } from "../../json/object.ts";
import { firstOf } from "../../text/first-of.ts";
import type { ToolSpec } from "../provider.ts";
import { contentIn, failure, type Program, useTool } from "./desk.ts";
import { howToGetAModel } from "./understand.ts";

const KINDS: readonly [RegExp, string][] = [
  [/^package\.json$/, "a Node.js package"],
  [/^pyproject\.toml$|^setup\.(?:py|cfg)$|^requirements\.txt$/, "a Python project"],
  [/^Cargo\.toml$/, "a Rust crate"],
  [/^go\.mod$/, "a Go module"],
  [/^pom\.xml$/, "a Java project (Maven)"],
  [/^build\.gradle(?:\.kts)?$/, "a JVM project (Gradle)"],
  [/\.(?:csproj|sln)$/, "a .NET project"],
  [/^Gemfile$|\.gemspec$/, "a Ruby project"],
  [/^composer\.json$/, "a PHP package"],
  [/^CMakeLists\.txt$/, "a C or C++ project (CMake)"],
  [/^Makefile$/, "a project built with make"],
];

export function* describeProject(tools: readonly ToolSpec[]): Program {
  const listed = yield* useTool(tools, "LS", {});
  if (listed.isError) return failure("list the directory", listed);
  // The first line is the directory itself; lines indented further are not at the top level.
  const entries = [...listed.text.matchAll(/^ {0,2}([^\s…(].*?)(?:\s+\(.*\))?$/gm)].map((match) => match[1]!).slice(1);
  const readme = entries.find((name) => /^readme(?:\.\w+)?$/i.test(name));
  const [manifest, kind] =
    KINDS.flatMap(([pattern, of]) => entries.filter((name) => pattern.test(name)).map((name) => [name, of]))[0] ?? [];
  const readmeText = readme === undefined ? undefined : yield* useTool(tools, "Read", { path: readme, limit: 80 });
  const read = manifest === undefined ? undefined : yield* useTool(tools, "Read", { path: manifest });
  const paragraph = readmeText && !readmeText.isError ? firstParagraph(contentIn(readmeText.text).text) : undefined;
  const folders = entries.filter((name) => name.endsWith("/"));
  const files = entries.filter((name) => !name.endsWith("/"));
  return [
    paragraph === undefined ? `No README describes it.` : `${readme} says: ${paragraph}`,
    kind === undefined ? "Kind: no manifest that I know." : `Kind: ${kind} (${manifest})${factsIn(read?.text ?? "")}`,
    ...(folders.length > 0 ? [`Directories: ${firstOf(folders, 20)}`] : []),
    ...(files.length > 0 ? [`Files: ${firstOf(files, 20)}`] : []),
    `This was read from the files. A key gives real answers: ${howToGetAModel()}`,
  ].join("\n");
}

/** Returns the first block of prose in a Markdown page: no heading, image, badge, list or code. */
function firstParagraph(page: string): string | undefined {
  const visibleText = page.replace(/<!--[\s\S]*?-->|^---\n[\s\S]*?\n---\n/g, "");
  for (const block of visibleText.split(/\n\s*\n/)) {
    const prose = block
      .replace(/^#.*$|^.*\n[=-]{3,}$|<[^>]+>/gm, "")
      .replace(/\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\))?/g, "")
      .replace(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])/g, "$1")
      .replace(/\*\*|__/g, "")
      .replace(/\s+/g, " ")
      .trim();
    if (!/\p{L}{2}.*\s.*\p{L}{2}/u.test(prose) || /^(?:[-*+>|]|\d+\.|```|~~~)/.test(prose)) continue;
    return prose.length > 500 ? `${prose.slice(0, 500).replace(/\s\S*$/, "")} …` : prose;
  }
  return undefined;
}

/** Reads name, version and description from a JSON or TOML manifest, or the name of a Go module. */
function factsIn(text: string): string {
  const json = tryParse(text);
  const of = (key: string): string => {
    if (isObject(json)) return typeof json[key] === "string" ? (json[key] as string) : "";
    return new RegExp(`^${key}\\s*=\\s*["'](.+?)["']`, "m").exec(text)?.[1] ?? "";
  };
  const name = of("name") || (/^module (\S+)/m.exec(text)?.[1] ?? "");
  const title = [name, of("version")].filter(Boolean).join(" ");
  return `${title && `, ${title}`}${of("description") && `: ${of("description")}`}`;
}
