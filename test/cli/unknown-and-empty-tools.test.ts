// Calls that find no server and calls that find no tool: how the stream spells them.
import { afterAll, expect, it } from "vitest";
import { createWorkspace } from "../support/run-cli.ts";

const place = createWorkspace();
afterAll(() => place.remove());

it("without MCP servers the list of resources is empty, and the stream spells an unknown tool like known ones", async () => {
  const calls = [
    { name: "ListMcpResources", args: {} },
    { name: "Search_docs", args: { q: "x" } },
  ];
  place.file("script.json", JSON.stringify([{ calls }, { text: "Done." }]));
  const { stdout } = await place.run([
    "-p",
    "--trust",
    "--model",
    "script:script.json",
    "--output-format",
    "stream-json",
    "go",
  ]);
  const ended = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ type, subtype }) => type === "tool_call" && subtype === "completed")
    .map(
      ({ tool_call: { listMcpResourcesToolCall, searchDocsToolCall } }) =>
        listMcpResourcesToolCall ?? searchDocsToolCall,
    );
  expect(ended).toHaveLength(2);
  expect(ended).toContainEqual({ args: {}, result: { success: { resources: [] } } });
  expect(ended).toContainEqual({ args: { q: "x" }, result: { error: expect.objectContaining({}) } });
});
