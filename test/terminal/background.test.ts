// Commands in the background: counted in the footer, read on demand, and told of when they end.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ready, send, starter } from "./started.ts";

const start = starter();
const inBackground = (command: string) => ({ calls: [{ name: "Shell", args: { command, isBackground: true } }] });

it("the terminal counts background commands, lists them on demand and reports their end", async () => {
  const waits = "echo newest line; until [ -e go ]; do sleep 0.1; done; exit 3";
  const { pty, workspace } = await start([inBackground(waits), inBackground("sleep 61"), { text: "Both run." }]);
  await ready(pty);
  send(pty, "begin");
  await pty.waitFor("Both run.");
  await pty.waitFor("2 in background");
  send(pty, "/tasks");
  await pty.waitFor(/› echo newest line.* newest line +running/);
  pty.type("\x1b");
  await ready(pty);
  writeFileSync(join(workspace.path, "go"), "");
  await pty.waitFor(/In the background, echo newest line[\s\S]*\(shell_1\)\s+ended:\s+exit 3/);
  await pty.waitFor("1 in background");
  pty.type("\x04\x04");
  await pty.ended;
  expect((await pty.scrollback()).join("\n")).toContain("Stopped with this session: sleep 61");
});
