// Versions mixed in one fleet, as while it is upgraded: a worker that cannot read a newer record says so and leaves it; what both know is
// taken by either. The long form (LONG_FLEET=1) builds a package whose records are a version newer from a copy of this tree, and installs it
// with the steps of the Containerfile, in a folder instead of an image.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { specVersion } from "../../src/serve/fleet.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { until } from "./service-support.ts";

const place = createWorkspace();
const server = noNatsServer ? undefined : await NatsServer.start();
const env = { ...place.env, COURSER_FLEET: server?.url() ?? "" };
afterAll(async () => {
  await server?.remove();
  place.remove();
});

function startWorker(
  words: readonly string[],
  name: string,
): { said(): string; ended: Promise<unknown>; stop(): void } {
  const [command, ...args] = [...words, "worker", "start", "--name", name];
  const child = spawnOwned(command!, args, {
    cwd: place.path,
    env: { ...env, HOME: join(place.home, name) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return { said: () => text, ended, stop: () => child.kill("SIGTERM") };
}

const script = place.file(join(place.home, "script.json"), JSON.stringify([{ text: "done" }]));
const own = [process.execPath, cli];

describe.skipIf(noNatsServer)(orSkipped("versions mixed in a fleet", noNatsServer), () => {
  it("a worker skips run records of a newer version, says so once, and takes the others", {
    timeout: 40_000,
  }, async () => {
    const fleet = await openFleet(env.COURSER_FLEET, { configDir: "/nowhere", env: {} });
    const request = { workspace: place.path, model: `script:${script}`, force: true };
    const newer = newRun({ cli: "courser", request, prompt: { text: "go" } });
    await fleet.enqueue({ ...newer, spec: { ...newer.spec, version: specVersion + 1 } });
    const known = newRun({ cli: "courser", request, prompt: { text: "go" } });
    const { version: _version, ...unversioned } = known.spec;
    await fleet.enqueue({ ...known, spec: unversioned });
    const worker = startWorker(own, "old");
    await until(async () => (await fleet.run(known.id))!.state === "finished", "the run without a version");
    expect((await fleet.run(newer.id))!.state).toBe("queued");
    await until(() => worker.said().includes(`${newer.id} left to others`), "its words");
    expect(worker.said()).toContain(`record ${specVersion + 1}, this worker reads up to ${specVersion}`);
    worker.stop();
    await worker.ended;
    expect(worker.said().match(/left to others/g)).toHaveLength(1);
    await fleet.cancel(newer.id, "not needed");
    fleet.close();
  });

  const isLong = process.env["LONG_FLEET"] === "1";
  it.skipIf(!isLong)(
    orSkipped(
      "an older worker leaves runs of a newer package alone, and a newer worker takes both",
      !isLong && "LONG_FLEET=1 builds it",
    ),
    { timeout: 400_000 },
    async () => {
      const bin = join(installed(raised()), "bin");
      const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(containerfile())![1]!) as string[];
      const newer = [join(bin, entry[0]!)];
      const run = (words: readonly string[], ...args: string[]) =>
        execFileSync(words[0]!, [...words.slice(1), ...args], { cwd: place.path, env, encoding: "utf8" }).trim();
      const send = (words: readonly string[]) =>
        run(words, "-b", "--force", "--source", "none", "--model", `script:${script}`, "go");
      const stateOf = (id: string) => JSON.parse(run(own, "runs", "show", id, "--format", "json")).state;
      const old = startWorker(own, "old-worker");
      const [ofNewer, ofOlder] = [send(newer), send(own)];
      await until(() => stateOf(ofOlder) === "finished", "the older run", 60_000);
      await until(() => old.said().includes(`${ofNewer} left to others`), "its words");
      expect(stateOf(ofNewer)).toBe("queued");
      const upgraded = startWorker(newer, "new-worker");
      await until(() => stateOf(ofNewer) === "finished", "the newer run", 60_000);
      old.stop();
      await old.ended;
      // What an older version sends, an upgraded fleet carries out.
      const later = send(own);
      await until(() => stateOf(later) === "finished", "the later run", 60_000);
      upgraded.stop();
      await upgraded.ended;
    },
  );
});

const containerfile = () => readFileSync(join(repository, "integrations/fleet/Containerfile"), "utf8");

/** The package of a copy of this tree whose records have the next version. */
function raised(): string {
  const tree = join(place.home, "tree");
  mkdirSync(tree);
  for (const name of ["src", "scripts", "docs", "integrations", "package.json", "package-lock.json", "tsconfig.json"])
    cpSync(join(repository, name), join(tree, name), { recursive: true });
  for (const name of ["tsconfig.types.json", "CHANGELOG.md", "README.md", "LICENSE"])
    cpSync(join(repository, name), join(tree, name));
  symlinkSync(join(repository, "node_modules"), join(tree, "node_modules"));
  const file = join(tree, "src/serve/fleet.ts");
  const line = `export const specVersion = ${specVersion};`;
  const text = readFileSync(file, "utf8");
  expect(text).toContain(line);
  writeFileSync(file, text.replace(line, `export const specVersion = ${specVersion + 1};`));
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-code-cache"], { cwd: tree, stdio: "ignore" });
  execFileSync("npm", ["pack", "--ignore-scripts"], { cwd: tree, stdio: "ignore" });
  return tree;
}

/** Done by the last step of the Containerfile that installs; `prefix` stands for the image. */
function installed(tree: string): string {
  const prefix = join(place.home, "image");
  mkdirSync(prefix);
  const copied = /^COPY (\S+) (\S+)$/m.exec(containerfile())!;
  const [, install] = /^RUN (npm install .*)$/m.exec(containerfile())!;
  const steps = `cp ${copied[1]} "${prefix}/" && ${install!.replaceAll(copied[2]!, `${prefix}/`)}`;
  const done = spawnSync("sh", ["-c", steps], {
    cwd: tree,
    env: { ...process.env, NPM_CONFIG_PREFIX: prefix, NPM_CONFIG_IGNORE_SCRIPTS: "true" },
    encoding: "utf8",
  });
  expect(done.status, done.stderr).toBe(0);
  chmodSync(prefix, 0o755);
  return prefix;
}
