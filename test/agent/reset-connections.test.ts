// Connections that are reset under a run: no call of an MCP server and no request to a model is made twice unseen.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type Cut, cuttingServer } from "../support/cutting-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
beforeEach(() => {
  place = createWorkspace();
});
afterEach(() => place.remove());

describe("MCP calls on a reset connection", () => {
  const cuts: Cut[] = ["before the head", "after the head", "in the body"];
  it.each(cuts)("the agent makes an MCP call only once even if its connection is reset %s", async (cut) => {
    const server = await cuttingServer({ speaks: "mcp", cutOnce: { word: '"pay"', cut } });
    try {
      const servers = place.file("servers.json", JSON.stringify({ mcpServers: { shop: { url: server.url } } }));
      const script = [
        { calls: [{ name: "shop-add", args: {} }] },
        { calls: [{ name: "shop-pay", args: {} }] },
        { calls: [{ name: "shop-add", args: {} }] },
        { text: "Done." },
      ];
      const run = await place.play(script, ["--mcp-config", servers]);
      expect(run.exit).toBe(0);
      const ended = run.lines().filter(({ type, subtype }) => type === "tool_call" && subtype === "completed");
      const results = ended.map(({ tool_call }) => JSON.stringify(tool_call.mcpToolCall.result));
      expect(results[0]).toContain("add is done");
      expect(results[1]).toContain("The connection broke");
      if (cut === "before the head") expect(results[1]).toContain("may have been carried out");
      expect(results[2]).toContain("add is done");
      const made = (await server.requests()).filter(({ body }) => body.includes('"tools/call"'));
      expect(made.map(({ body }) => JSON.parse(body).params.name)).toEqual(["add", "pay", "add"]);
      expect(made[1]!.isReused).toBe(true);
    } finally {
      await server.stop();
    }
  });
});

describe("model requests on a reset connection", () => {
  it("the agent repeats a model request on a reset connection only as a counted, visible retry", async () => {
    const calls = { toolCalls: [{ name: "LS", args: {} }] };
    await using server = await modelServer([calls, { hangUp: true }, calls, { hangUp: true }, { text: "Done." }]);
    const run = await place.run(
      ["-p", "--force", "--output-format", "stream-json", "--endpoint", `${server.url}/v1`, "--model", "m", "go"],
      { env: { OPENAI_API_KEY: "none-at-all" } },
    );
    expect(run.exit).toBe(0);
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(5);
    expect(run.lines().filter(({ type, subtype }) => type === "retry" && subtype === "starting")).toHaveLength(2);
  });
});
