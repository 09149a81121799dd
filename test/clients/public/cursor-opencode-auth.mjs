// Infiland/cursor-opencode-auth: chat completions over print mode; the words are taken out of the lines of the stream.
import { join } from "node:path";
import { bun, repository, workspace } from "./check.mjs";
import { driveBridge } from "./openai-bridge.mjs";

await driveBridge({
  command: (port) => [
    "env",
    `CURSOR_BRIDGE_PORT=${port}`,
    bun,
    join(repository, "packages/cursor-openai-bridge/src/cli.ts"),
  ],
  env: { CURSOR_BRIDGE_WORKSPACE: workspace, CURSOR_BRIDGE_MODE: "agent", CURSOR_BRIDGE_FORCE: "true" },
  model: "auto",
  separator: "\n\n",
  failure: /no such thing/,
});
process.exit(0);
