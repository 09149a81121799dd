// The page about hooks says what the table of events says, and its script does what the page says.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type HookEventName, hookEvents } from "../../src/protocol/hook-events.ts";
import { readBlocks } from "../support/doc-examples.ts";
import { repository } from "../support/run-cli.ts";
import { commonFields, hookPayloads } from "./hook-payloads.ts";

const page = readFileSync(join(repository, "docs/hooks.md"), "utf8");

it("the hooks page documents every event with its input and answers", () => {
  const fields = (kinds: Readonly<Record<string, string>>) =>
    Object.entries(kinds)
      .map(([key, kind]) => `\`${key}${kind.endsWith("?") ? "?" : ""}\``)
      .join(", ");
  const expected = Object.entries(hookEvents)
    .filter(([, { editorOnly }]) => !editorOnly)
    .map(([name, { subject, answer }]) => {
      const matched = !subject ? "" : "word" in subject ? `\`${subject.word}\`` : `its \`${subject.field}\``;
      return [`\`${name}\``, matched, fields(hookPayloads[name as HookEventName]), fields(answer)];
    });
  const table = page.slice(page.indexOf("| event | matcher |")).split("\n\n")[0]!;
  const rows = table.split("\n").slice(2);
  expect(
    rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(expected);
  for (const name of Object.keys(commonFields)) expect(page).toContain(`\`${name}\``);
  const editors = Object.entries(hookEvents).filter(([, { editorOnly }]) => editorOnly);
  for (const [name] of editors) expect(page).toContain(`\`${name}\``);
});

it("the hook script in docs refuses the calls that the page says it refuses", () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-hooks-page-"));
  try {
    const script = readBlocks("docs/hooks.md", page).find(({ language }) => language === "js")!;
    writeFileSync(join(folder, script.name), script.text);
    const answer = (command: string) =>
      spawnSync(process.execPath, [script.name], { cwd: folder, input: JSON.stringify({ command }), encoding: "utf8" })
        .stdout;
    expect(JSON.parse(answer("git push -f"))).toMatchObject({ permission: "deny" });
    expect(answer("git push")).toBe("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
