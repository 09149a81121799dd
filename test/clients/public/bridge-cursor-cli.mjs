// Kinolian1107/bridge-cursor-cli: chat completions for any client, over print mode with deltas.
import { join } from "node:path";
import { bun, preamble, repository, whole, workspace } from "./check.mjs";
import { driveBridge } from "./openai-bridge.mjs";

await driveBridge({
  command: (port) => ["env", `BRIDGE_PORT=${port}`, bun, join(repository, "cursor-bridge.mjs")],
  env: { CURSOR_BIN: "cursor-agent", CURSOR_WORKSPACE: workspace, BRIDGE_VERBOSE: "false" },
  model: "sonnet-4.5",
  repeats: preamble + whole,
  failure: /no such thing/,
});
process.exit(0);
