// Keeps starting hosts for this machine's runs, while the service or a batch watches over them.
import { onAbort } from "../protocol/on-abort.ts";
import type { LocalFleet } from "./fleet.ts";
import { type Launch, startHosts } from "./launcher.ts";

/** Woken by changes; a timer runs only while a host could be lost. `onRound` gets whether any run is not over. */
export async function keepHosts(
  fleet: LocalFleet,
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
    const forget = onAbort(signal, wake);
    const timer = nextMs === undefined ? undefined : setTimeout(wake, nextMs + 50);
    await fleet.changed(round.signal);
    clearTimeout(timer);
    forget();
  }
}
