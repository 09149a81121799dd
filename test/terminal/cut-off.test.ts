// What is left of a run that was killed or told to end while the model spoke: on the screen, and in the resumed chat.
import { expect, it } from "vitest";
import { pause, ready, send, starter } from "./started.ts";

const start = starter();

it("after a resume, the terminal shows text streamed before kill -9, with the time worked", async () => {
  const steps = [{ text: "Once upon a time " }, { delayMs: 1300 }, { text: "there was a fox" }, { delayMs: 60_000 }];
  const { pty: before, again } = await start([{ steps }]);
  await ready(before);
  send(before, "an older chat");
  await before.waitFor("Once upon");
  before.type("\x1b");
  await before.waitFor("Interrupted after");
  before.type("\x04\x04");
  await before.ended;
  const pty = again();
  await ready(pty);
  send(pty, "tell me");
  await pty.waitFor("there was a fox");
  await pause(1300); // it is kept every second
  pty.kill("SIGKILL");
  await pty.ended;
  const second = again(["--force", "--trust", "--continue"]);
  await second.waitFor("› tell me");
  await second.waitFor("Once upon a time there was a fox");
  await second.waitFor(/Interrupted after [1-9][\d.]* s/);
  expect((await second.scrollback()).filter((line) => line.includes("Once upon"))).toHaveLength(1);
});

it("SIGTERM during a turn ends the terminal as quitting does: no editor is left, the resume command is shown", async () => {
  const { pty } = await start([{ steps: [{ text: "Once upon a time " }, { delayMs: 60_000 }] }]);
  await ready(pty);
  send(pty, "tell me");
  await pty.waitFor("Once upon");
  pty.kill("SIGTERM");
  expect(await pty.ended).toBe(143);
  const lines = (await pty.scrollback()).filter((line) => line.trim() !== "");
  expect(lines.at(-1)).toMatch(/^Resume with: \S+ --resume [\w-]+$/);
  expect(lines.join("\n")).not.toContain("Ask, or type /");
  expect(lines.filter((line) => line.startsWith("Once upon"))).toHaveLength(1);
});
