// A run with three MCP servers over stdio beside one without: the first line, and the whole of it.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { interleave, median, type Program } from "./measure.ts";

type Place = { workspace: string; config: string; env: Record<string, string> };

const server = resolve(import.meta.dirname, "../test/support/mcp-server.mjs");
const cli = resolve(import.meta.dirname, "../dist/courser.cjs");

/** `plain` and `served` are two places like each other; the servers of one are the user's, those of the other approved. */
export async function mcpTimes(
  plain: Place,
  served: Place,
  rounds: number,
): Promise<{ first: number; firstMs: number; wholeMs: number }> {
  const demo = { command: process.execPath, args: [server] };
  writeFileSync(join(served.config, "mcp.json"), JSON.stringify({ mcpServers: { one: demo, two: demo, three: demo } }));
  const run = ({ workspace: cwd, env }: Place): Program => ({
    command: process.execPath,
    args: [cli, "-p", "--force", "--output-format", "stream-json", "--model", "offline", "what is 2+2?"],
    cwd,
    env,
  });
  const samples = await interleave({ plain: run(plain), served: run(served) }, rounds);
  const first = (name: string) => median(samples[name]!.map((sample) => sample.firstLineMs));
  const whole = (name: string) => median(samples[name]!.map((sample) => sample.wallMs));
  return {
    first: first("served") / first("plain"),
    firstMs: first("plain"),
    wholeMs: whole("served") - whole("plain"),
  };
}
