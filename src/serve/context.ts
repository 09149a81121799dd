// The context that every part of the service gets.
import type { Fleet, NewRun, RunRecord } from "./fleet.ts";
import { type Launch, startHosts } from "./launcher.ts";

export type ServeContext = Launch & {
  fleet: Fleet;
  version: string;
  /** The folder that contains the studio's built page. */
  pageDir: string;
  /** The directory that the service was started in, which the user may trust from the page. */
  startedIn: string;
};

/** Queues the run, and starts a process for it if the limit of parallel runs allows. */
export async function beginRun(context: ServeContext, run: NewRun): Promise<RunRecord> {
  const record = await context.fleet.enqueue(run);
  await startHosts(context.fleet, context, record.id);
  return (await context.fleet.run(record.id)) ?? record;
}
