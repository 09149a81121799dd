// No message has the program's name written into it: whoever starts it as cursor-agent is told to type that.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commands } from "../../src/cli/commands/index.ts";
import { repository } from "../support/run-cli.ts";

const names = commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** Behind `courser`, what could be typed. */
const written = new RegExp(`(?<![\\w/.$-])courser (?:-|"|${names.join("|")})`);

/** `: sessions export …`: two words of ours that nobody could type as they stand. */
const inner = commands.flatMap((outer) => (outer.commands ?? []).map(({ name }) => `${outer.name} ${name}`));
const nameless = new RegExp(`(?:: |\\(|see '|with ['"])(?:${inner.join("|")})\\b`);

it("help and error messages use the name that the program was called by", () => {
  const found: string[] = [];
  for (const file of readdirSync(join(repository, "src"), { recursive: true }) as string[]) {
    if (!file.endsWith(".ts") || file.startsWith("studio/")) continue;
    const lines = readFileSync(join(repository, "src", file), "utf8").split("\n");
    for (const [index, line] of lines.entries()) {
      // Examples are shown by the name that was typed; start-up files name the program that was installed.
      const isShown =
        /^\s*(?:\/\/|\/?\*)|examples: \[|^\s+examples\b/.test(line) || file.startsWith("cli/commands/shell/");
      // What other programs are told, and hook scripts, run under the name that the package installs.
      if (isShown || file === "cli/hook-script/main.ts") continue;
      const text = line.replace(/\/\/ .*$/, "");
      if (written.test(text) || nameless.test(text)) found.push(`src/${file}:${index + 1}: ${line.trim()}`);
    }
  }
  expect(found).toEqual([]);
});
