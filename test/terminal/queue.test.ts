// What was queued while a turn ran, when the turn is interrupted.
import { expect, it } from "vitest";
import { shown } from "./events.ts";
import { ready, send, shell, starter } from "./started.ts";

const start = starter();

it("Esc gives queued messages back to the editor, says so after the turn, and one Enter sends them", async () => {
  const { pty } = await start([shell("sleep 30"), { expect: ["first wish\n\nsecond wish"], text: "Both heard." }]);
  await ready(pty);
  send(pty, "begin");
  await pty.waitFor(/sleep 30/);
  send(pty, "first wish");
  await pty.waitFor("queued: 1");
  send(pty, "second wish");
  await pty.waitFor("queued: 2");
  pty.type("\x1b");
  await pty.waitFor(
    /Interrupted after.*\s+The 2 queued messages are back in the editor, and not sent\. Enter sends them\./,
  );
  await pty.waitFor(/^› first wish\n *\n {2}second wish$/m);
  pty.type("\r");
  await pty.waitFor("Both heard.");
  expect((await pty.scrollback()).filter((line) => line.includes("first wish"))).toHaveLength(1);
});

it("a notice in the terminal appears after the text that is being written", async () => {
  const lines = await shown([
    { event: { type: "text", text: "- one\n- two\n" } },
    { event: { type: "notice", kind: "info", message: "Something happened." } },
    { event: { type: "text", text: "- three\n" } },
    { event: { type: "text_end", text: "- one\n- two\n- three\n" } },
  ]);
  expect(lines).toEqual(["• one", "• two", "• three", "", "· Something happened."]);
});
