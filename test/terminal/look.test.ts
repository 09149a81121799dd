// What the transcript looks like: shades, frames, colours, the order of calls, and what is said of time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createPalette } from "../../src/terminal/painted.ts";
import { call, painted, said, shown, success } from "./events.ts";
import { read, ready, send, shell, starter } from "./started.ts";

const start = starter();
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("how the terminal looks", () => {
  it("the terminal shades all lines of the user's messages", async () => {
    const lines = await painted([{ event: { type: "user", text: `one\n${"two ".repeat(40)}` } }]);
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toContain("48;2;44;47;53");
  });

  it("the terminal frames code, and colours diffs in code fences", async () => {
    expect(await shown(said("```sh\nls\n```\n\nAfter."))).toEqual(["┌── sh", "  ls", "└──", "", "After."]);
    const [, , removed, added] = await painted(said("```diff\n@@ -1 +1 @@\n-old\n+new\n```"));
    expect(removed).toContain("48;2;58;29;28");
    expect(added).toContain("48;2;22;48;31");
  });

  it("the terminal keeps backticks around inline code where there are no colours", async () => {
    const text = "Run `npm test` and ``a`b``.";
    const withColours = (depth: 0 | 4 | 24) => shown(said(text), 82, { palette: createPalette({ depth, dark: true }) });
    expect(await withColours(0)).toEqual([text]);
    for (const depth of [4, 24] as const) expect(await withColours(depth)).toEqual(["Run npm test and a`b."]);
  });

  it("the terminal colours changed code on its shade", async () => {
    const diffString = "@@ -1 +1 @@\n-const a = 1;\n+const a = 2;\n";
    const lines = await painted(call("edit", { path: "/repo/a.ts" }, success({ path: "/repo/a.ts", diffString })));
    expect(lines.find((line) => line.includes("const"))).toMatch(/48;2;[\d;]+38;2;200;162;240mconst/);
  });

  it("the terminal shows no changed lines for a file written as it was", async () => {
    const written = { path: "/repo/a.ts", linesAdded: 0, linesRemoved: 0, diffString: "" };
    const lines = await shown(call("edit", { path: "/repo/a.ts", streamContent: "const a = 1;\n" }, success(written)));
    expect(lines.join("\n")).toContain("a.ts");
    expect(lines.join("\n")).not.toContain("const a");
  });

  it("the transcript shows calls in the order they were made", async () => {
    const [slowStart, slowEnd] = call("shell", { command: "slow" }, success({ exitCode: 0 }), { id: "1" });
    const [quickStart, quickEnd] = call("shell", { command: "quick" }, success({ exitCode: 0 }), { id: "2" });
    const lines = await shown([slowStart!, quickStart!, quickEnd!, slowEnd!]);
    expect(lines.map((line) => /slow|quick/.exec(line)?.[0])).toEqual(["slow", "quick"]);
    // Cut off, nothing is lost.
    const ended = {
      event: { type: "fail", message: "", code: "INTERRUPTED", durationMs: 1, apiDurationMs: 0 },
    } as const;
    const cut = (await shown([slowStart!, quickStart!, quickEnd!, ended])).join("\n");
    expect(cut).toContain("slow");
    expect(cut).toContain("quick");
  });
});

it("the terminal wraps an explanation below its own text", async () => {
  const command = "npm test -- upload --repeat 50 && npm run clean";
  const { pty } = await start([shell(command), { text: "Over." }], { args: ["--trust"], columns: 60, rows: 24 });
  await ready(pty);
  send(pty, "go");
  await pty.waitFor("wants permission");
  await read();
  pty.type("e");
  await pty.waitFor(/^│ {8}No allow rule covers npm test -- upload --repeat\n│ {8}50\.$/m);
});

it("the footer separates working time from waiting time, and says what its percentage is of", async () => {
  const { pty } = await start([shell("touch x"), { text: "Over." }], { args: ["--trust", "--sandbox", "disabled"] });
  await ready(pty);
  send(pty, "go");
  await pty.waitFor("wants permission");
  await read();
  await read();
  pty.type("y");
  await pty.waitFor(/Done in (\d+ ms|0\.\d s) · 1\.\d s waiting for you/);
  await pty.waitFor(/ % of context/);
  // Read again, the call took no longer, nor did the turn.
  pty.type("\x0f");
  await pty.waitFor(
    /The whole conversation[\s\S]*touch x .* (\d+ ms|0\.\d s)\n[\s\S]*Done in (\d+ ms|0\.\d s) · 1\.\d s waiting for you/,
  );
});

it("a pasted image path becomes the image, however it is written", async () => {
  const { pty, workspace } = await start([{ expect: ["see [Image 1] [Image 2]"], text: "Seen." }]);
  writeFileSync(join(workspace.path, "a b.png"), png);
  await ready(pty);
  pty.type("see ");
  pty.type(`\x1b[200~${join(workspace.path, "a\\ b.png")}\x1b[201~`);
  await pty.waitFor("see [Image 1]");
  pty.type(" ");
  pty.type(`\x1b[200~file://${join(workspace.path, "a%20b.png")}\x1b[201~`);
  await pty.waitFor("[Image 2]");
  pty.type(`\x1b[200~${join(workspace.path, "a b.png")}\x1b[201~`);
  await pty.waitFor("[Image 3]");
  pty.type(" \x1b[200~no/such.png\x1b[201~");
  await pty.waitFor("no/such.png");
  pty.type("\x17\r");
  await pty.waitFor("Seen.");
});

it("typing / in the terminal counts the slash commands and offers the most used first", async () => {
  const { pty } = await start([]);
  await ready(pty);
  pty.type("/");
  await pty.waitFor(/1 of \d\d commands/);
  pty.type("\x15/usage\r");
  await pty.waitFor("tokens out");
  pty.type("/");
  await pty.waitFor(/^› \/usage /m);
  pty.type("us");
  await pty.waitFor(/^› \/usage /m);
});
