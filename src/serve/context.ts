// What every part of the service knows.
import type { Fleet, NewRun, RunRecord } from "./fleet.ts";
import { type Launch, startHosts } from "./launcher.ts";

export type ServeContext = Launch & {
  fleet: Fleet;
  version: string;
  /** Where the page lies as it was built. */
  pageDir: string;
  /** The directory in which it was started, which whoever did so may trust from the page. */
  startedIn: string;
};

/** Queued, and begun where there is room. */
export async function beginRun(context: ServeContext, run: NewRun): Promise<RunRecord> {
  const record = await context.fleet.enqueue(run);
  await startHosts(context.fleet, context, record.id);
  return (await context.fleet.run(record.id)) ?? record;
}
