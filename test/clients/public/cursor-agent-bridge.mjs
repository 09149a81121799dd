// xwartz/cursor-agent-bridge: chat completions and Responses over print mode; the prompt goes through stdin.
import { join } from "node:path";
import { bun, check, prompts, repository, whole } from "./check.mjs";
import { driveBridge } from "./openai-bridge.mjs";

await driveBridge({
  command: (port) => [bun, join(repository, "src/cli.ts"), "serve", "--port", String(port)],
  model: "auto",
  repeats: whole,
  failure: /no such thing/,
  async more(url) {
    const response = await fetch(`${url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "auto", input: prompts.work }),
    });
    const answer = await response.text();
    check("its Responses API says the same", answer.includes(JSON.stringify(whole).slice(1, -1)), answer);
  },
});
process.exit(0);
