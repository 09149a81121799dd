// What commands show to a person, in a real terminal: the table of models, and why nothing comes.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { openCli } from "../terminal/pty.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

describe("models on a terminal", () => {
  it("on a terminal, models is a table with vendor, aliases, context, price and keys", async () => {
    const env = { ANTHROPIC_API_KEY: "k" };
    const pty = openCli(workspace, ["models"], { columns: 140, rows: 60, env });
    expect(await pty.ended).toBe(0);
    const rows = await pty.scrollback();
    const row = (id: string) => rows.find((each) => each.includes(`${id} `)) ?? "";
    expect(row("claude-5.5-sonnet")).toMatch(/^› claude-5\.5-sonnet +sonnet-5\.5.* anthropic +1M +\$2 \/ \$10 +✓$/);
    expect(row("gpt-5.5")).toMatch(/^ {2}gpt-5\.5 .* openai .*\$30$/);
    expect(rows.join("\n")).not.toContain("Available models");
  });

  it("models -e lists the models of that server", async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "qwen-box" }, { id: "glm-box" }] }));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    try {
      const pty = openCli(workspace, ["models", "-e", url], { columns: 120 });
      expect(await pty.ended).toBe(0);
      const shown = (await pty.scrollback()).join("\n");
      expect(shown).toContain("qwen-box");
      expect(shown).toContain("glm-box");
      expect(shown).not.toContain("claude");
      const list = await workspace.run(["models", "-e", url, "--format", "json"]);
      expect(JSON.parse(list.stdout)).toEqual([
        { id: "qwen-box", endpoint: url },
        { id: "glm-box", endpoint: url },
      ]);
      expect(asked).toEqual(["/v1/models", "/v1/models"]);
    } finally {
      server.close();
    }
  });
});

it("print mode says on a terminal that it waits for input, and prints no such hint into a pipe", async () => {
  const server = await modelServer([
    { status: 503, headers: { "retry-after": "2" }, body: { error: { message: "busy" } } },
    { text: "at last" },
    { status: 503, headers: { "retry-after": "2" }, body: { error: { message: "busy" } } },
    { text: "at last" },
  ]);
  try {
    const args = ["-p", "--trust", "-e", `${server.url}/v1`, "--model", "m", "hi"];
    const pty = openCli(workspace, args, { columns: 160 });
    await pty.waitFor(/Retrying in \d+ s \(attempt 2\): .*503.*busy/, { in: "scrollback" });
    await pty.waitFor("at last", { in: "scrollback" });
    expect(await pty.ended).toBe(0);
    const piped = await workspace.run(args);
    expect(piped).toMatchObject({ exit: 0, stdout: "at last\n", stderr: "" });
  } finally {
    await server.stop();
  }
});
