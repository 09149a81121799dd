// What a person is shown of an edit before it is permitted: the difference, of a file that stays as it is.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Agent } from "../../src/agent/agent.ts";
import { previewOf } from "../../src/agent/preview.ts";
import { write } from "../../src/agent/tools/write.ts";
import { createWorkspace } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

test.each([
  ["UTF-8", Buffer.from("one\n")],
  ["UTF-16", Buffer.from("\ufeffone\n", "utf16le")],
  ["nothing readable", Buffer.from([0xff, 0x00, 0xfe, 0x01])],
])("the preview of an edit shows the difference in a file of %s", async (_name, before) => {
  workspace.file("a.txt", before);
  const args = { path: "a.txt", content: "two\n" };
  const agent = { toolContext: { sessionId: "s", workspace: workspace.path, roots: [] } } as unknown as Agent;
  const prepared = { tool: write, args, wireArgs: {}, needs: [] };
  const call = { callId: "c", signal: new AbortController().signal };
  const diff = await previewOf(agent, prepared, { verdict: "ask", reasons: [] }, call);
  expect(diff).toContain("+two");
  expect(readFileSync(join(workspace.path, "a.txt"))).toEqual(before);
});
