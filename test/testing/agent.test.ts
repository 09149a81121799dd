// Any agent CLI in a test: our own here, the real ones of others by `npm run long -- try-agents`.
import { expect, it } from "vitest";
import { agent, expectRun, scriptedModel, workspace } from "../../src/testing/kit/index.ts";
import { repository } from "../support/run-cli.ts";

const courser = agent("cursor", { executable: [process.execPath, `${repository}/dist/courser.cjs`] });

it("runs the program on a scripted model, and tells what it did and what it asked", async () => {
  using files = workspace({ "a.txt": "one\n" });
  using model = scriptedModel([
    {
      calls: [
        { name: "Read", args: { path: "a.txt" } },
        { name: "Shell", args: { command: "rm -rf /" } },
      ],
    },
    { expect: "one", text: "Done." },
  ]);
  const run = await courser.run("read it", { workspace: files, model });
  expectRun(run).toHaveSucceeded();
  expectRun(run).toHaveCalledTool("Read", { path: "a.txt" }, { times: 1 });
  expectRun(run).toHaveCalledInOrder(["Read", "Bash"]);
  expectRun(run).not.toHaveCalledInOrder(["Bash", "Read"]);
  expectRun(run).toHaveBeenDenied("Bash", /system folder/);
  expectRun(run.requests[0]!).toHaveTool("Read");
  expectRun(run).not.toHaveTool("mcp__mine__search");
  expect(run.text).toBe("Done.");
  expect(run.requests).toHaveLength(2);
  const [first, second] = run.requests;
  expect(first!.system).toContain("Workspace");
  expect(first!.messages.at(-1)).toMatchObject({ role: "user", text: expect.stringContaining("read it") });
  expect(second!.messages.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(["Read", "Shell"]);
  expect(second!.messages.filter(({ role }) => role === "tool").map(({ text }) => text)).toContain("one\n");
});

it("says at once what does not fit: replies that are missing, left over, or not what was expected", async () => {
  using files = workspace();
  const run = (replies: Parameters<typeof scriptedModel>[0]) =>
    courser.run("go", { workspace: files, model: scriptedModel(replies) });
  const read = { calls: [{ name: "LS", args: { path: "." } }] };
  await expect(run([read])).rejects.toThrow("The script has 1 replies, and the agent asked for one more.");
  await expect(run(["Done.", "More."])).rejects.toThrow("The run ended with 1 of 2 replies left over. It ended well.");
  await expect(run([{ expect: "stop", text: "Done." }])).rejects.toThrow('Reply 1 expects "stop"');
});

it("names the agents that it knows", () => {
  expect(() => agent("nobody" as "claude")).toThrow(
    'agent("nobody") is not known to the test kit. It knows cursor, claude',
  );
});
