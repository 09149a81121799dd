// What several entry points of the built package export under one name is one and the same thing.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../support/run-cli.ts";

type Entry = { default: string };

it("UserError, RunError and FrameError are one class in every entry point", async () => {
  const { exports } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    exports: Record<string, Entry | string>;
  };
  const files = Object.entries(exports).flatMap(([name, entry]) =>
    typeof entry === "object" && /dist\/lib\/\w+\.js$/.test(entry.default) && name !== "./hooks" ? [entry.default] : [],
  );
  expect(files.length).toBeGreaterThan(4);
  const seen = new Map<string, { value: unknown; file: string }>();
  const shared = new Set<string>();
  for (const file of files) {
    const loaded = (await import(join(repository, file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(loaded)) {
      const before = seen.get(name);
      if (before) {
        shared.add(name);
        expect(value === before.value, `${name} of ${file} is not that of ${before.file}`).toBe(true);
      } else seen.set(name, { value, file });
    }
  }
  expect([...shared]).toEqual(expect.arrayContaining(["UserError", "RunError", "FrameError"]));
});

it("the package exports no function as a type only", () => {
  const entries = ["sdk", "sdk/cursor", "protocol", "policy", "bridge", "adapter", "testing/kit", "serve/client"];
  for (const entry of entries) {
    const folder = join(repository, "src", entry);
    const text = readFileSync(join(folder, "index.ts"), "utf8");
    for (const [, path] of text.matchAll(/^export type \* from "(.+)";$/gm)) {
      const leaked = readFileSync(join(folder, path!), "utf8").match(
        /^export (?:async )?(?:function|const|class) \w+/gm,
      );
      expect(leaked ?? [], `${entry}/index.ts, ${path}`).toEqual([]);
    }
  }
});
