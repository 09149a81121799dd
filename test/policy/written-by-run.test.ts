// What a run has written, and what it is kept from, with the built program.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { runCli } from "../support/run-cli.ts";
import { type Fixture, makeRepository, removeFixture } from "./fixture.ts";

let fixture: Fixture | undefined;
afterEach(() => {
  if (fixture) removeFixture(fixture);
});

/** How each call ended, in order: `rejected`, `success`, `failure`, … with its text. */
async function ends(deny: string[], calls: [name: string, args: object][]): Promise<string[]> {
  fixture = makeRepository();
  const { workspace, home, base } = fixture;
  const config = join(home, ".cursor");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "cli-config.json"), JSON.stringify({ version: 1, permissions: { allow: [], deny } }));
  writeFileSync(
    join(config, "auth.json"),
    JSON.stringify({ version: 1, keys: { openai: { key: "sk-saved-key-0001" } } }),
  );
  const script = join(base, "script.json");
  const replies = calls.map(([name, args], at) => ({ calls: [{ id: `call_${at}`, name, args }] }));
  writeFileSync(script, JSON.stringify([...replies, { text: "done" }]));
  const run = await runCli(
    ["-p", "--force", "--sandbox", "disabled", "--output-format", "stream-json", "--model", `script:${script}`, "go"],
    {
      cwd: workspace,
      env: { PATH: process.env["PATH"] ?? "", HOME: home, MYSQL_PWD: "hunter22hunter", DBPASS: "hunter33hunter" },
      timeoutMs: 60_000,
    },
  );
  const completed = run.lines().filter((line) => line["subtype"] === "completed" && line["tool_call"]);
  return completed.map((line) => {
    const [, shape] = Object.entries(line["tool_call"] as Record<string, any>).find(([key]) =>
      key.endsWith("ToolCall"),
    )!;
    return JSON.stringify(shape["result"]);
  });
}

describe("files written by a run under --force", () => {
  it("files that the run wrote cannot start denied programs", { timeout: 90_000 }, async () => {
    const results = await ends(
      ["Shell(rm)"],
      [
        ["Write", { path: "x.sh", content: "rm -f victim.txt\n" }],
        ["Shell", { command: "bash x.sh" }],
        ["Shell", { command: "printf 'import os\\nos.system(\"rm -f victim.txt\")\\n' > m.py; ln -s /bin/rm zap" }],
        ["Shell", { command: "python3 -c 'import m'" }],
        ["Shell", { command: "./zap -f victim.txt" }],
        ["Write", { path: "ok.sh", content: "echo fine\n" }],
        ["Shell", { command: "bash ok.sh" }],
      ],
    );
    const kinds = results.map((text) => Object.keys(JSON.parse(text))[0]);
    expect(kinds).toEqual(["success", "rejected", "success", "rejected", "rejected", "success", "success"]);
    expect(readFileSync(join(fixture!.workspace, "victim.txt"), "utf8")).not.toBe("");
  });

  it("commands of a run see no API keys, saved or in variables", { timeout: 90_000 }, async () => {
    const results = await ends(
      [],
      [
        ["Shell", { command: "grep -r sk ~/.cursor" }],
        ["Shell", { command: "cat /proc/$PPID/environ" }],
        ["Shell", { command: "env" }],
        ["Read", { path: "~root/no-such-file" }],
      ],
    );
    expect(results.slice(0, 2).every((text) => text.startsWith('{"rejected"'))).toBe(true);
    expect(results.join("")).not.toMatch(/hunter|sk-saved/);
    expect(results[3]).toContain("/root/no-such-file");
    expect(results[3]).not.toContain(fixture!.workspace);
  });
});
