// `courser mcp serve`, asked by a client of the protocol as other agents would.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, describe, expect, it } from "vitest";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

let place: Workspace;
let client: Client;
afterEach(async () => {
  await client?.close();
  place?.remove();
});

async function serve(replies: unknown, ...flags: string[]): Promise<StdioClientTransport> {
  place = createWorkspace({ "inner/a.txt": "hello\n" });
  const script = join(place.home, "script.json");
  writeFileSync(script, JSON.stringify(replies));
  const args = [cli, "mcp", "serve", "--model", `script:${script}`, ...flags];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    cwd: place.path,
    env: place.env,
    stderr: "pipe",
  });
  client = new Client({ name: "other", version: "1" });
  await client.connect(transport);
  return transport;
}

const call = (name: string, args: object = {}, options = {}) =>
  client.callTool({ name, arguments: args as Record<string, unknown> }, options) as Promise<{
    content: { text: string }[];
    structuredContent: Record<string, any>;
    isError?: boolean;
  }>;

describe("mcp serve", () => {
  it("mcp serve lets an MCP client run, continue and list agents, and reports their steps", async () => {
    await serve(
      [{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { text: "It says hello." }, { text: "Again." }],
      "--trust",
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["run", "continue", "sessions"]);
    const steps: string[] = [];
    const onprogress = ({ message }: { message?: string }) => steps.push(message ?? "");
    const first = await call("run", { prompt: "what does a.txt say?", workspace: "inner" }, { onprogress });
    expect(first.isError).toBe(true); // the folder inside is not trusted
    expect(first.content[0]!.text).toContain("Workspace Trust Required");

    const run = await call("run", { prompt: "what does inner/a.txt say?" }, { onprogress });
    expect(run.content[0]!.text).toBe("It says hello.");
    expect(steps).toEqual(["· Read a.txt"]);
    const { session_id: id, is_error: isError } = run.structuredContent;
    expect(isError).toBe(false);
    const listed = await call("sessions");
    expect(listed.structuredContent["sessions"]).toMatchObject([{ id, hasConversation: true }]);
    const more = await call("continue", { session_id: id, prompt: "sure?" });
    expect(more.structuredContent["session_id"]).toBe(id);
    const lost = await call("continue", { session_id: "00000000-0000-4000-8000-000000000000", prompt: "x" });
    expect(lost.structuredContent).toMatchObject({ is_error: true, error_code: "SESSION_NOT_FOUND" });
  });

  it("mcp serve grants agents only what its flags grant, and the MCP client can cancel calls", async () => {
    await serve(
      [
        {
          calls: [
            { name: "Shell", args: { command: "sleep 20" } },
            { name: "Read", args: { path: "/etc/hostname" } },
          ],
        },
        { text: "end" },
      ],
      "--trust",
      "--sandbox",
      "disabled",
    );
    const refused = await call("run", { prompt: "go" });
    expect(refused.content[1]!.text).toContain("Rejected: Shell");
    expect(refused.structuredContent["permission_denials"]).toHaveLength(2);
    const outside = await call("run", { prompt: "go", workspace: "/" });
    expect(outside.content[0]!.text).toContain("outside what is served");
    expect((await call("run", {})).content[0]!.text).toContain(`needs "prompt"`);
    expect((await call("fly")).isError).toBe(true);
    await client.close();

    await serve([{ calls: [{ name: "Shell", args: { command: "sleep 20" } }] }, { text: "end" }], "--force");
    const abort = new AbortController();
    const began = performance.now();
    const running = call("run", { prompt: "go" }, { signal: abort.signal, onprogress: () => abort.abort() });
    await expect(running).rejects.toThrow();
    expect((await call("sessions")).structuredContent["sessions"]).toHaveLength(1);
    await client.close();
    expect(performance.now() - began).toBeLessThan(8000);
  });

  it("mcp serve does not start in an untrusted directory", async () => {
    place = createWorkspace();
    const run = await place.run(["mcp", "serve"]);
    expect([run.exit, run.stderr]).toEqual([1, expect.stringContaining("Workspace Trust Required")]);
  });
});
