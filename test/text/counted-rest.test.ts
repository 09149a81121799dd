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
import { firstLines, firstOf } from "../../src/text/first-of.ts";

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
  ["items of a line", 3, (count) => firstOf(names(count), 3)],
  ["lines", 3, (count) => firstLines(names(count), 3).join("\n")],
  ["files that may hold secrets", 5, (count) => upload(names(count))],
  ["repositories that are not sent", 5, (count) => upload([], names(count))],
  ["folders that may not be read", 5, (count) => unreadNote(names(count))],
  ["new errors", 10, errors],
  ["tools that there are", 100, missingTool],
  ["wrong lines of a batch", 10, batchFault],
];

describe.each(ways)("%s in lists that are cut", (_what, most, say) => {
  it.each([
    ["one", 1],
    ["as many as are shown", most],
  ])("all items are listed if they fit the limit: %s", async (_how, count) => {
    const said = await say(count);
    expect(said.match(/n\d+!/g)).toHaveLength(count);
    expect(said).not.toContain(" more");
  });

  it.each([1, 4])("messages with %d items beyond the limit count them instead of naming them", async (beyond) => {
    const said = await say(most + beyond);
    expect(said.match(/n\d+!/g)).toHaveLength(most);
    expect(said).toContain(`and ${beyond} more`);
  });
});

describe("numbers in messages", () => {
  it("a list in a message joins its first items, or puts them below each other, indented", () => {
    expect([firstOf([], 2), firstOf(["a", "b"], 2), firstOf(["a", "b", "c"], 2)]).toEqual([
      "",
      "a, b",
      "a, b and 1 more",
    ]);
    expect(firstLines(["a", "b"], 1)).toEqual(["  a", "  … and 1 more"]);
    expect(firstLines(["a"], 1, "")).toEqual(["a"]);
  });

  it("the message about an upload has the right number of files", () => {
    expect(upload([])).toBe("Sent 2 files of /w: 2 kB, packed 1 kB.");
    const one = { count: 1, bytes: 1, packedBytes: 1, secrets: ["a"], others: ["b"] } as unknown as Upload;
    expect(describeUpload("/w", one)).toMatch(
      /^Sent 1 file of \/w: .*\. Left out: may hold secrets: a; repositories of their own, and links that lead out: b\.$/,
    );
    expect(unreadNote([])).toBe("");
  });

  it("a message numbers errors in file order, from one", () => {
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

  it("the message about faulty lines has the right number", () => {
    expect(batchFault(1)).toMatch(/^A line is wrong, and no run was begun:\n/);
    expect(batchFault(2)).toMatch(/^2 lines are wrong, and no run was begun:\n/);
    expect(() => readItems(Buffer.from("\n \n"), { folder: "/", workspace: "/", cli: "courser" }, () => {})).toThrow(
      "no runs in it",
    );
  });
});

describe("shortened results", () => {
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
  ])("a list page with %j says that there are more: %s", (value, isTold) => {
    expect(card(value).includes("There are more results.")).toBe(isTold);
  });
});
