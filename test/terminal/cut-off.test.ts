// A run that was killed while the model spoke: the resumed chat shows what had been streamed.
import { expect, it } from "vitest";
import { pause, ready, send, starter } from "./started.ts";

const start = starter();

it("shows what had been streamed before kill -9, and how long it had worked", async () => {
  const steps = [{ text: "Once upon a time " }, { delayMs: 1300 }, { text: "there was a fox" }, { delayMs: 60_000 }];
  const { pty, again } = await start([{ steps }]);
  await ready(pty);
  send(pty, "tell me");
  await pty.waitFor("there was a fox");
  await pause(1300); // it is kept every second
  pty.kill("SIGKILL");
  await pty.ended;
  const second = again(["--force", "--trust", "--continue"]);
  await second.waitFor("Once upon a time there was a fox");
  await second.waitFor(/Interrupted after [1-9][\d.]* s/);
  expect((await second.scrollback()).filter((line) => line.includes("Once upon"))).toHaveLength(1);
});
