// What one turn with a vendor loads, measured on a bundle in a process of its own.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { kinds, modelOf } from "./reply.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "model-load-"));
const program = join(folder, "turn.mjs");
let server: ModelServer;

const source = `
import { createProvider, resolveModel } from "./src/model/resolve.ts";
const [kind, model, url] = process.argv.slice(2);
const resolved = resolveModel({ flag: "t/" + model, env: {}, endpoints: { t: { type: kind, baseUrl: url + "/v1" } } });
const provider = await createProvider(resolved, {});
const messages = [{ role: "user", parts: [{ type: "text", text: "hi" }] }];
let text = "";
for await (const chunk of provider.stream({ model, system: "", messages, tools: [], signal: new AbortController().signal })) {
  if (chunk.type === "text") text += chunk.text;
}
const undici = process.moduleLoadList.filter((name) => name.includes("undici"));
console.log(JSON.stringify({ text, undici, peakMb: Math.round(process.resourceUsage().maxRSS / 1024) }));
`;

beforeAll(async () => {
  server = await startModelServer(() => ({ text: "4" }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outdir: folder,
    entryNames: "turn",
    outExtension: { ".js": ".mjs" },
    // The packages' own uses of Headers get ours, as in the product's build.
    inject: [join(root, "src/net/headers.ts")],
    logLevel: "error",
  });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(kinds)("%s: no fetch of Node's own, and little memory", async (kind) => {
  const { text, undici, peakMb } = await turn(kind, modelOf[kind]);
  expect(text).toBe("4");
  expect(undici).toEqual([]);
  expect(peakMb).toBeLessThan(90);
});

it("costs less than five starts of Node", async () => {
  const starts = [1, 2, 3, 4, 5].map(() =>
    timed(() => void spawnSync(process.execPath, ["-e", "0"], { env: environment })),
  );
  const turns: number[] = [];
  for (let run = 0; run < 5; run++) {
    const started = performance.now();
    await turn("openai-compatible", "m");
    turns.push(performance.now() - started);
  }
  expect(Math.min(...turns)).toBeLessThan(5 * Math.min(...starts));
});

const environment = { PATH: process.env["PATH"] ?? "" };

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

/** Not spawnSync: the server lives in this process. */
function turn(kind: string, model: string): Promise<{ text: string; undici: string[]; peakMb: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, kind, model, server.url], {
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 20_000,
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => (out += chunk));
    child.stderr.on("data", (chunk) => (err += chunk));
    child.on("close", (exit) => (exit === 0 ? resolve(JSON.parse(out)) : reject(new Error(err))));
  });
}
