// Servers that are configured and broken: a run says so once, and names them among what is missing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openMcp } from "../../src/run/mcp.ts";
import type { McpPlan } from "../../src/run/mcp-plan.ts";
import type { Setup } from "../../src/run/setup.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-mcp-missing-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("a server that cannot start is reported by name, file and reason; a disabled one is not", async () => {
  const warnings: string[] = [];
  const setup = {
    request: {},
    host: { env: {}, version: "1", program: "courser" },
    settings: { courser: {} },
    workspace: folder,
    configDir: folder,
    home: folder,
    roots: [],
    trusted: true,
  } as unknown as Setup;
  const server = (name: string, problem?: string) => ({ name, file: `/c/${name}.json`, ...(problem && { problem }) });
  const plan = {
    warnings: ["mcp.json: something is odd"],
    servers: [
      { server: server("broken", "it has no command"), standing: "failed" },
      { server: server("off"), standing: "disabled" },
      { server: server("hidden"), standing: "shadowed" },
    ],
  } as unknown as McpPlan;
  const parts = {
    state: new Promise(() => {}),
    mode: () => "default",
    processes: {},
    warn: (text: string) => warnings.push(text),
  };
  const servers = await openMcp(setup, plan, parts as never);
  expect(warnings).toEqual([
    "mcp.json: something is odd",
    "The MCP server broken (/c/broken.json) was not started: it has no command.",
  ]);
  expect(servers.missing()).toEqual([{ name: "broken", status: "failed", problem: "it has no command" }]);
  expect(servers.names()).toEqual([]);
  expect(await servers.ready(new AbortController().signal)).toEqual([]);
  await servers.end();
});
