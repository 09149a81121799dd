// Scenarios of store cases, by name: each is played with real processes, files and faults, and tells what was seen.
import { corrupt, deletedRow, flippedRow, foreignId, replaced, roundTrip } from "./store-damage.ts";
import { diskFull, injected, readOnly } from "./store-faults.ts";
import { clockJump, kill, killDuringCall, locked, modes, tornLog, twoWriters } from "./store-killing.ts";
import type { Input, Options, StoreSeen } from "./store-seen.ts";

/** The first that fits. */
const scenarios: [RegExp, (input: Input, options: Options) => Promise<StoreSeen | string> | StoreSeen][] = [
  [/^kill\w*_then_resume/, killDuringCall],
  [/^kill/, kill],
  [/^enospc|full|quota/, diskFull],
  [/^inject/, injected],
  [/^chmod|read_?only/, readOnly],
  [/^corrupt_wal|torn/, tornLog],
  [/^corrupt|^overwrite/, corrupt],
  [/^replace|^truncate|^empty/, replaced],
  [/^delete_row/, deletedRow],
  [/^update_row|^flip/, flippedRow],
  [/two_|second_/, twoWriters],
  [/umask/, modes],
  [/resume|session/, foreignId],
  [/clock/, clockJump],
  [/lock/, locked],
  [/round_?trip/, roundTrip],
];

/** What was seen, or why it could not be looked at. */
export async function playScenario(input: Input, options: Options): Promise<StoreSeen | string> {
  const name = String(input["scenario"]);
  const found = scenarios.find(([pattern]) => pattern.test(name));
  return found ? found[1](input, options) : `nobody knows how to play '${name}'`;
}
