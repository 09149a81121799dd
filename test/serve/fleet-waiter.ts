// Waits for a fleet in every way there is, one after the other, in a process of its own: it must not end before what it waits for
// comes, and must end when it has closed the fleet.  URL|- CONFIG-DIR
import { isLocal } from "../../src/serve/fleet.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";

export async function main([url, configDir]: readonly string[]): Promise<number> {
  const fleet = await openFleet(url === "-" ? undefined : url, { configDir: configDir!, env: {} });
  const say = (what: string) => process.stdout.write(`${what}\n`);
  const never = () => new AbortController().signal;
  process.once("beforeExit", () => {
    say("let go");
    process.exit(1);
  });

  if (isLocal(fleet)) {
    say("changed");
    await fleet.changed(never());
  }
  const all = new AbortController();
  say("followAll");
  for await (const { entry } of fleet.followAll(await fleet.position(), all.signal))
    if (entry.type === "leased") all.abort();
  say("lease");
  const lease = (await fleet.lease({ worker: "waiter", ttlMs: 60_000, wait: never() }))!;
  const heard = new AbortController();
  say("hear");
  for await (const { message } of fleet.receive(lease, 0, heard.signal)) if (message.type === "cancel") heard.abort();

  fleet.close();
  process.removeAllListeners("beforeExit");
  say("closed");
  return 0;
}
