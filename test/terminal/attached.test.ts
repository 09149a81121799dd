// A background run on the whole screen: looked at, asked by, talked to, left alone, come back to, ended.
import { afterAll, expect, it } from "vitest";
import { TestService } from "../serve/service-support.ts";
import { openCli, type Pty } from "./pty.ts";

const service = new TestService();
const { workspace } = service;
afterAll(() => service.remove());

const enter = "\r";

async function allow(pty: Pty): Promise<void> {
  await pty.waitFor("wants permission");
  await pty.quiet(700); // what is typed at once was not typed for the question
  pty.type("y");
}

it("a detached run continues and is the same conversation when attached again", { timeout: 60_000 }, async () => {
  workspace.file("a.txt", "x");
  const script = service.script([
    { text: "I ask first.", calls: [{ name: "Delete", args: { path: "a.txt" } }] },
    { calls: [{ name: "Shell", args: { command: "sleep 1.5" } }] },
    { text: "It is gone." },
  ]);
  const first = openCli(workspace, ["persist", "--allow", "Shell(sleep)", "--model", script, "remove a.txt"], {
    limitMs: 60_000,
  });
  await first.waitFor(/Delete[\s\S]*a\.txt/);
  await allow(first);
  await first.waitFor("sleep 1.5");
  first.type(`and hurry${enter}`);
  await first.waitFor("and hurry");
  first.type(`/detach${enter}`);
  expect(await first.ended).toBe(0);
  const words = (await first.scrollback()).join("\n");
  const [, id] = /(run-[0-9a-f-]{36}) keeps running in the background\. To reattach: \S+ runs attach (run-\w{8})/.exec(
    words,
  )!;
  expect((await service.over(id!)).end).toMatchObject({ outcome: "finished", text: "I ask first.It is gone." });

  const again = openCli(workspace, ["runs", "attach", id!], { limitMs: 60_000 });
  await again.waitFor("It is gone.");
  const shown = (await again.scrollback()).join("\n");
  for (const part of ["› remove a.txt", "I ask first.", "› and hurry"]) expect(shown).toContain(part);
  again.type(`/stop${enter}`);
  await again.waitFor("The run has already ended. Your next prompt starts a new one.");
  again.type(`once more${enter}`); // the script begins anew
  await allow(again);
  await again.waitFor(/once more[\s\S]*It is gone[\s\S]*Done in/, { in: "scrollback" });
  again.type(`& in a copy${enter}`);
  await again.waitFor(/Started run-[0-9a-f-]{36}/, { in: "scrollback" });
  again.type(`/detach${enter}`);
  expect(await again.ended).toBe(0);
  expect((await again.scrollback()).join("\n")).toContain("The run has ended: finished.");
  const [copy, next] = await service.fleet.runs();
  expect(copy).toMatchObject({
    spec: { prompt: { text: "in a copy" }, request: { chat: { type: "resume", fork: true } } },
  });
  expect(next!.spec.prompt.text).toBe("once more");
  await service.fleet.cancel(copy!.id, "The test is over.");
  await service.over(copy!.id);
});
