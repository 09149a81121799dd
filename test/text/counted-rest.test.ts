// Long lists are cut and the rest is counted, whoever shows them: nothing beyond what is shown is said where all are.
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/agent/agent.ts";
import { errorLines } from "../../src/agent/diagnostics/new-errors.ts";
import { prepareCall } from "../../src/agent/prepare-call.ts";
import { unreadNote } from "../../src/agent/ripgrep.ts";
import { readItems } from "../../src/cli/commands/batch/lines.ts";
import { describeUpload, type Upload } from "../../src/serve/upload/index.ts";
import { BlockView, View } from "../../src/studio/components/index.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}!`);

const upload = (secrets: string[], others: string[] = []) =>
  describeUpload("/w", { count: 2, bytes: 2048, packedBytes: 1024, secrets, others, source: {} } as unknown as Upload);

function batchFault(count: number): string {
  try {
    readItems(Buffer.from(names(count).join("\n")), { folder: "/", workspace: "/", cli: "courser" }, () => {});
    return "";
  } catch (error) {
    return (error as Error).message.replace(/^ {2}line (\d+):/gm, "  n$1!");
  }
}

async function missingTool(count: number): Promise<string> {
  const agent = { tools: names(count).map((name) => ({ name, wire: name })) } as unknown as Agent;
  const { failure } = await prepareCall(agent, { type: "tool_call", id: "c", name: "Fly", args: {} } as never);
  return failure!.message;
}

const errors = (count: number) =>
  errorLines(
    [{ path: "a.ts", errors: names(count).map((message, line) => ({ line, column: 2, message, code: "" })) }],
    "ts",
  );

/** How many are shown at most, and what is said of a number of them. */
const ways: [string, number, (count: number) => string | Promise<string>][] = [
  ["files that may hold secrets", 5, (count) => upload(names(count))],
  ["repositories that are not sent", 5, (count) => upload([], names(count))],
  ["folders that may not be read", 5, (count) => unreadNote(names(count))],
  ["new errors", 10, errors],
  ["tools that there are", 100, missingTool],
  ["wrong lines of a batch", 10, batchFault],
];

describe.each(ways)("%s", (_what, most, say) => {
  it.each([
    ["one", 1],
    ["as many as are shown", most],
  ])("%s: all are named, and no more are counted", async (_how, count) => {
    const said = await say(count);
    expect(said.match(/n\d+!/g)).toHaveLength(count);
    expect(said).not.toContain(" more");
  });

  it.each([1, 4])("%d beyond are counted, and not named", async (beyond) => {
    const said = await say(most + beyond);
    expect(said.match(/n\d+!/g)).toHaveLength(most);
    expect(said).toContain(`and ${beyond} more`);
  });
});

describe("numbers in sentences", () => {
  it("of files that were sent", () => {
    expect(upload([])).toBe("Sent 2 files of /w: 2 kB, packed 1 kB.");
    const one = { count: 1, bytes: 1, packedBytes: 1, secrets: ["a"], others: ["b"] } as unknown as Upload;
    expect(describeUpload("/w", one)).toMatch(
      /^Sent 1 file of \/w: .*\. Left out: may hold secrets: a; repositories of their own, and links that lead out: b\.$/,
    );
    expect(unreadNote([])).toBe("");
  });

  it("of errors, in the order of the file and from one", () => {
    expect(errors(1)).toBe("1 new error (ts):\na.ts:1:3 n0!");
    const unsorted = [
      { line: 4, column: 0, message: "third", code: "" },
      { line: 1, column: 5, message: "second", code: "TS1" },
      { line: 1, column: 2, message: "first\n line", code: "" },
    ];
    expect(errorLines([{ path: "b.ts", errors: unsorted }], "ts")).toBe(
      "3 new errors (ts):\nb.ts:2:3 first line\nb.ts:2:6 second [TS1]\nb.ts:5:1 third",
    );
  });

  it("of lines that are wrong", () => {
    expect(batchFault(1)).toMatch(/^A line is wrong, and no run was begun:\n/);
    expect(batchFault(2)).toMatch(/^2 lines are wrong, and no run was begun:\n/);
    expect(() => readItems(Buffer.from("\n \n"), { folder: "/", workspace: "/", cli: "courser" }, () => {})).toThrow(
      "no runs in it",
    );
  });
});

describe("results that were cut", () => {
  const card = (value: object) => {
    const args = { targetDirectory: "/w", globPattern: "**" };
    const call = { callId: "c", tool: "glob", name: "Glob", args, outcome: { type: "success", value } };
    const block = { id: "b", turn: 1, type: "call", call } as never;
    return renderToString(h(View, { isStatic: true, children: h(BlockView, { block }) }));
  };

  it.each([
    [{ files: ["a"], clientTruncated: true }, true],
    [{ files: ["a"], ripgrepTruncated: true }, true],
    [{ files: ["a"], clientTruncated: false, ripgrepTruncated: false }, false],
    [{ files: ["a"] }, false],
    [{ files: [] }, false],
  ])("a page says of %j that there are more: %s", (value, isTold) => {
    expect(card(value).includes("There are more results.")).toBe(isTold);
  });
});
