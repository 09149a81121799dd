// Compaction counts what the server counted: one that has a token for every character never gets more than fits it.
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type ModelServer, modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let server: ModelServer;
let place: Workspace;
afterEach(async () => {
  await server.stop();
  place.remove();
});

const window = 30_000;
const read = (request: number) => ({ name: "Read", args: { path: "long.txt", offset: request * 40, limit: 40 } });

async function run(count: (request: RecordedRequest) => number) {
  server = await modelServer((request) => {
    if (request.json.tools === undefined) return { text: "A summary." };
    const usage = { input: count(request) };
    return server.requests.length > 20 ? { text: "done", usage } : { toolCalls: [read(server.requests.length)], usage };
  });
  place = createWorkspace({ "long.txt": "a line of words that is not very long\n".repeat(2000) });
  const settings = { ...server.settings, contextTokens: window };
  place.file(join(place.config, "courser.json"), JSON.stringify(settings));
  const ended = await place.run(["-p", "--force", "--output-format", "stream-json", "--model", "chat/m", "go"]);
  expect(ended.lines().at(-1)).toMatchObject({ is_error: false, result: "done" });
  return ended;
}

it("the agent compacts the conversation when the server's token count says that the window is full", {
  timeout: 30_000,
}, async () => {
  const { notices } = await run(({ body }) => body.length);
  expect(notices()).toContain("no longer fit the model");
  expect(Math.max(...server.requests.map(({ body }) => body.length))).toBeLessThan(window);
});

it("the agent warns once when the server seems to truncate the conversation silently", {
  timeout: 30_000,
}, async () => {
  const { notices } = await run(({ body }) => Math.min(Math.ceil(body.length / 4), 2048));
  expect(notices().split("seems to have cut the conversation")).toHaveLength(2);
});
