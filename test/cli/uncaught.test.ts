// Errors that nothing catches: the program says what happened before it ends.
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
afterEach(() => workspace.remove());

it("a service that ends because of an uncaught error says so on stderr", async () => {
  workspace = createWorkspace();
  const file = join(workspace.home, "late.cjs");
  workspace.file(
    file,
    'if (process.argv.includes("serve")) setTimeout(() => { throw new Error("lost in space"); }, 1500);',
  );
  const { exit, stderr } = await workspace.run(["serve"], { env: { NODE_OPTIONS: `--require=${file}` } });
  expect(exit).toBe(1);
  expect(stderr).toContain("Error: Unexpected failure, please report it: Error: lost in space");
  expect(stderr).toContain("[INTERNAL]");
});
