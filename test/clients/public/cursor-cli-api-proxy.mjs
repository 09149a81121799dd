// higedamc/cursor-cli-api-proxy: chat completions over print mode, as `agent`; it reads whole segments.
import { join } from "node:path";
import { bun, repository } from "./check.mjs";
import { driveBridge } from "./openai-bridge.mjs";

await driveBridge({
  command: (port) => [bun, join(repository, "src/server/standalone.ts"), String(port)],
  model: "cursor-default",
});
process.exit(0);
