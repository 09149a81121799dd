import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { repository } from "../support/run-cli.ts";

it("abortAfter still fires after garbage collection if only AbortSignal.any refers to it", async () => {
  const contents = `
    import { abortAfter } from "./src/protocol/abort-after.ts";
    const both = AbortSignal.any([new AbortController().signal, abortAfter(300)]);
    const alive = setTimeout(() => console.log("lost"), 5000);
    both.addEventListener("abort", () => { console.log(both.reason.name); clearTimeout(alive); });
    for (let round = 0; round < 10; round++) { await new Promise((resolve) => setTimeout(resolve, 5)); gc(); }
  `;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: repository, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    absWorkingDir: repository,
  });
  const script = outputFiles[0]!.text;
  const run = (text: string) =>
    spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", text], { encoding: "utf8" }).stdout;
  expect(run(script)).toBe("TimeoutError\n");
});
