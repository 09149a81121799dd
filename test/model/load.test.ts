// What one turn with a vendor loads, seen on a bundle in a process of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { kinds, modelOf } from "./reply.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "model-load-"));
const program = join(folder, "turn.cjs");
let server: ModelServer;

const source = `
import { createProvider, resolveModel } from "./src/model/resolve.ts";
void (async () => {
  const [kind, model, url] = process.argv.slice(2);
  const resolved = resolveModel({ flag: "t/" + model, env: {}, endpoints: { t: { type: kind, baseUrl: url + "/v1" } } });
  const provider = await createProvider(resolved, {});
  const messages = [{ role: "user", parts: [{ type: "text", text: "hi" }] }];
  let text = "";
  for await (const chunk of provider.stream({ model, system: "", messages, tools: [], signal: new AbortController().signal })) {
    if (chunk.type === "text") text += chunk.text;
  }
  const undici = process.moduleLoadList.filter((name) => name.includes("undici"));
  console.log(JSON.stringify({ text, undici }));
})();
`;

beforeAll(async () => {
  server = await modelServer(() => ({ text: "4" }));
  await build({
    stdin: { contents: source, resolveDir: root, loader: "ts" },
    bundle: true,
    minify: true,
    // As the product is: importing `node:http` as an ES module reads all that it exports.
    format: "cjs",
    supported: { "dynamic-import": false },
    platform: "node",
    target: "node20",
    outdir: folder,
    entryNames: "turn",
    outExtension: { ".js": ".cjs" },
    // The packages' own uses of Headers get ours, as in the product's build.
    inject: [join(root, "src/net/headers.ts")],
    logLevel: "error",
  });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

it.each(kinds)("%s does not load Node's own fetch", async (kind) => {
  const { text, undici } = await turn(kind, modelOf[kind]);
  expect(text).toBe("4");
  expect(undici).toEqual([]);
});

const environment = { PATH: process.env["PATH"] ?? "" };

/** Not spawnSync: the server lives in this process. */
function turn(kind: string, model: string): Promise<{ text: string; undici: string[] }> {
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

it("the built program contains no unused parts of the schema library", () => {
  const { outputs } = JSON.parse(readFileSync(join(root, "dist/meta.json"), "utf8")) as {
    outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
  };
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const translations = inputs.filter(([path, { bytesInOutput }]) => /zod\/v4\/locales/.test(path) && bytesInOutput > 0);
  expect(translations.map(([path]) => path).filter((path) => !path.endsWith("/en.js"))).toEqual([]);
});
