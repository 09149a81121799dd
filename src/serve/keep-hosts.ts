// Sees to it that runs of this machine have hosts, as long as somebody watches over them: the service, or a batch.
import type { Fleet } from "./fleet.ts";
import { type Launch, startHosts } from "./launcher.ts";

/** Woken by changes alone; a clock runs only while a run has a host that could be lost. `onRound`: is there a run that is not over? */
export async function keepHosts(
  fleet: Fleet,
  launch: Launch,
  signal: AbortSignal,
  onRound: (round: { isBusy: boolean }) => void = () => {},
): Promise<void> {
  while (!signal.aborted) {
    await startHosts(fleet, launch);
    const { count, hosted, nextMs } = await fleet.waiting();
    onRound({ isBusy: count + hosted > 0 });
    const round = new AbortController();
    const wake = () => round.abort();
    signal.addEventListener("abort", wake, { once: true });
    const timer = nextMs === undefined ? undefined : setTimeout(wake, nextMs + 50);
    await fleet.changed(round.signal);
    clearTimeout(timer);
    signal.removeEventListener("abort", wake);
  }
}
