// Recipes that start workers: the files are read as their runners read them, and what they start is started.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { metricsText, WorkerStats } from "../../src/serve/worker/stats.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const place = createWorkspace();
const fleet = openSqliteFleet(join(place.config, "runs/runs.db"));
afterAll(() => {
  fleet.close();
  place.remove();
});
const bin = join(place.home, "bin");
mkdirSync(bin);
symlinkSync(cli, join(bin, "courser"));
const recipe = (name: string) => join(repository, "integrations/fleet", name);
const read = (name: string) => readFileSync(recipe(name), "utf8");

/** Starts what a recipe starts, with a run in the queue. */
async function start(
  command: string,
  env: Record<string, string> = {},
): Promise<{ exit: number | null; state: string; stderr: string }> {
  const script = place.file(join(place.home, "script.json"), JSON.stringify([{ text: "done" }]));
  const request = { workspace: place.path, model: `script:${script}`, force: true };
  const { id } = await fleet.enqueue(newRun({ cli: "courser", request, prompt: { text: "go" } }));
  const run = spawnSync("sh", ["-c", command], {
    cwd: place.path,
    env: { ...place.env, PATH: `${bin}:${place.env["PATH"]}`, COURSER_FLEET: "local", COURSER_POOL: "default", ...env },
    encoding: "utf8",
    timeout: 30_000,
  });
  return { exit: run.status, state: (await fleet.run(id))!.state, stderr: run.stderr };
}

/** What `serve` tells Prometheus, which has its token. */
async function servedMetrics(env: NodeJS.ProcessEnv): Promise<string> {
  const service = spawn(cli, ["serve"], { env, stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [line] = (await once(service.stdout, "data")) as [Buffer];
    const [, address, file] = /on (\S+), token in (.*)$/m.exec(line.toString())!;
    const { token } = JSON.parse(readFileSync(file!, "utf8")) as { token: string };
    expect((await fetch(`${address}/metrics`)).status).toBe(401);
    const answer = await fetch(`${address}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
    expect(answer.headers.get("content-type")).toContain("version=0.0.4");
    return await answer.text();
  } finally {
    service.kill();
  }
}

/** What the image of a worker starts with. */
const entryPoint = () => JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Containerfile"))![1]!) as string[];

const finished = { exit: 0, state: "finished" };

describe("recipes for fleet workers", () => {
  it("ssh.sh starts one worker per machine and does not print the fleet's address", { timeout: 40_000 }, async () => {
    const ssh = place.file(
      join(bin, "ssh"),
      `#!/bin/sh\necho "$@" >>"$HOME/ssh.log"\nfor last; do :; done\nexec sh -c "$last"\n`,
    );
    chmodSync(ssh, 0o755);
    expect(await start(`sh "${recipe("ssh.sh")}" build-1`)).toMatchObject(finished);
    const words = readFileSync(join(place.home, "ssh.log"), "utf8");
    expect(words).toContain("-o BatchMode=yes build-1");
    expect(words).not.toContain("COURSER_FLEET=");
    expect(spawnSync("sh", [recipe("ssh.sh")], { env: place.env }).status).not.toBe(0);
  });

  it("the systemd unit for fleet workers is valid", { timeout: 40_000 }, async () => {
    const lines = new Map(
      read("courser-worker@.service")
        .split("\n")
        .flatMap((line) => {
          const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
          return key === undefined ? [] : [[key, value!] as const];
        }),
    );
    expect(lines.get("Restart")).toBe("always");
    const command = lines.get("ExecStart")!.replaceAll("%H", "host").replaceAll("%i", "1");
    expect(await start(command)).toMatchObject(finished);
  });

  it("the Kubernetes Job for fleet workers is valid", { timeout: 40_000 }, async () => {
    const job = parse(read("kubernetes-job.yaml"));
    expect([job.apiVersion, job.kind]).toEqual(["batch/v1", "Job"]);
    const [container] = job.spec.template.spec.containers;
    expect(job.spec.template.spec.restartPolicy).toBe("Never");
    const words = (container.args as string[]).map((word) =>
      word.replace(":8080", ":0").replace(/^\/work$/, join(place.home, "work")),
    );
    const started = await start([...entryPoint(), ...words].map((word) => `'${word}'`).join(" "));
    expect(started).toMatchObject(finished);
    expect(started.stderr).toContain("http://0.0.0.0:");
  });

  it("the container image is built from the package's files only", () => {
    const steps = read("Containerfile");
    const { name, peerDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    expect(steps).toContain(`COPY ${name}-*.tgz`);
    for (const peer of Object.keys(peerDependencies).filter((each) => each.startsWith("@nats-io/")))
      expect(steps).toContain(`${peer}@3`);
    expect(entryPoint()).toEqual(["courser", "worker", "start"]);
  });

  it("the KEDA scaler starts workers for single runs", { timeout: 40_000 }, async () => {
    const job = parse(read("keda-scaled-job.yaml"));
    expect([job.apiVersion, job.kind]).toEqual(["keda.sh/v1alpha1", "ScaledJob"]);
    const { template, backoffLimit } = job.spec.jobTargetRef;
    expect([template.spec.restartPolicy, backoffLimit]).toEqual(["Never", 0]);
    const [container] = template.spec.containers;
    const words = (container.args as string[]).map((word) => word.replace(/^\/work$/, join(place.home, "work")));
    expect(words).toContain("--single-use");
    const command = [...entryPoint(), ...words].map((word) => `'${word}'`).join(" ");
    expect(await start(command)).toMatchObject(finished);
    for (const { type, metadata } of job.spec.triggers) {
      expect(type).toBe("prometheus");
      expect(Number(metadata.threshold)).toBeGreaterThan(0);
    }
  });

  it.skipIf(noNatsServer)(orSkipped("what is watched is what is told", noNatsServer), { timeout: 40_000 }, async () => {
    const server = await NatsServer.start();
    const own = await openFleet(server.url(), { configDir: "/nowhere", env: {} });
    await own.enqueue(newRun({ cli: "courser", request: { workspace: place.path }, prompt: { text: "go" } }));
    await own.present!({ name: "w", pool: "default", version: "1", concurrency: 2, running: 0 });
    own.close();
    const env = { ...place.env, COURSER_FLEET: server.url() };
    const status = spawnSync(cli, ["fleet", "status", "--metrics"], { env, encoding: "utf8" });
    const served = await servedMetrics(env);
    await server.remove();
    const values = /(?:seconds|bytes)(\{.*\})? .*$/gm;
    expect(served.replace(values, "$1")).toBe(status.stdout.replace(values, "$1"));
    expect(status.stdout).toMatch(
      /^courser_fleet_runs_waiting\{pool="default",priority="normal",labels="",sender=""\} 1$/m,
    );
    expect(status.stdout).toMatch(/^courser_fleet_worker_slots 2$/m);
    const worker = metricsText(new WorkerStats({ name: "w", pool: "p", version: "1", concurrency: 1 }));
    const told = new Map<string, Set<string>>();
    for (const [, name, labels = ""] of `${status.stdout}${worker}`.matchAll(/^(\w+)(?:\{(.*)\})? [\d.]+$/gm)) {
      const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label!);
      told.set(name!, new Set([...(told.get(name!) ?? []), ...names]));
    }
    const rules = parse(read("prometheus-rules.yaml")).groups.flatMap((group: { rules: { expr: string }[] }) =>
      group.rules.map(({ expr }) => expr),
    );
    const panels = JSON.parse(read("grafana-dashboard.json")).panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr),
    );
    const scaler = parse(read("keda-scaled-job.yaml")).spec.triggers.map(
      ({ metadata }: { metadata: { query: string } }) => metadata.query,
    );
    const queries: string[] = [...rules, ...panels, ...scaler];
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) {
      const metrics = [...query.matchAll(/\b(?:courser|process)_\w+/g)].map(([name]) => name);
      expect(metrics.length, query).toBeGreaterThan(0);
      for (const metric of metrics) expect(told.has(metric), `${metric} in ${query}`).toBe(true);
      for (const [, list = ""] of query.matchAll(/by \(([^)]*)\)/g))
        for (const label of list.split(", "))
          expect(told.get(metrics[0]!)!.has(label), `${label} in ${query}`).toBe(true);
    }
  });

  it.skipIf(noNatsServer)(
    orSkipped("the GitHub workflow starts one runner for each waiting run that it may take", noNatsServer),
    { timeout: 60_000 },
    async () => {
      const { jobs, on } = parse(read("github-autoscale.yml"));
      expect(Object.keys(on)).toEqual(["schedule", "workflow_dispatch"]);
      const count = jobs.demand.steps.find(({ id }: { id?: string }) => id === "count");
      const last = jobs.worker.steps.at(-1);
      expect(jobs.worker.strategy.matrix.worker).toBe("${{ fromJSON(needs.demand.outputs.workers) }}");
      expect([jobs.worker.needs, Object.keys(jobs.demand.outputs)]).toEqual(["demand", ["workers"]]);
      const server = await NatsServer.start();
      const own = await openFleet(server.url(), { configDir: "/nowhere", env: { USER: "ann" } });
      const output = join(place.home, "output");
      const demand = () => {
        const env = { ...place.env, PATH: `${bin}:${place.env["PATH"]}`, COURSER_FLEET: server.url() };
        const run = spawnSync("bash", ["-e", "-c", count.run], {
          cwd: place.home,
          env: { ...env, GITHUB_OUTPUT: output },
          encoding: "utf8",
        });
        expect(run.stderr).toBe("");
        return readFileSync(output, "utf8").trim().split("\n").at(-1);
      };
      expect(demand()).toBe("workers=[]");
      for (const pool of ["default", "default", "gpu"])
        await own.enqueue(
          newRun({ cli: "courser", request: { workspace: place.path }, prompt: { text: "go" }, placement: { pool } }),
        );
      expect(demand()).toBe("workers=[1,2]");
      await own.lease({ worker: "w", ttlMs: 60_000, wait: AbortSignal.timeout(5000) });
      expect(demand()).toBe("workers=[1]");
      await place.run(["fleet", "limits", "--runs-per-sender", "1"], { env: { COURSER_FLEET: server.url() } });
      expect(demand()).toBe("workers=[]");
      own.close();
      await server.remove();
      expect(await start(last.run, { WORKER: "github-1-1" })).toMatchObject(finished);
    },
  );

  const isLong = process.env["LONG_FLEET"] === "1";
  it.skipIf(!isLong)(
    orSkipped(
      "the fleet recipes fit the schemas of Kubernetes, KEDA and GitHub",
      !isLong && "LONG_FLEET=1 installs them",
    ),
    { timeout: 600_000 },
    async () => {
      const folder = join(place.home, "schemas");
      mkdirSync(folder);
      const packages = [
        "@actions/workflow-parser@0.3.61",
        "@kubernetes-models/keda@2.0.0",
        "kubernetes-models@5.1.0",
        "yaml@2.8.1",
      ];
      const npm = ["install", "--prefix", folder, "--no-audit", "--no-fund", ...packages];
      const installed = spawnSync("npm", npm, { cwd: folder, encoding: "utf8" });
      expect(installed.status, installed.stderr).toBe(0);
      copyFileSync(join(repository, "test/integrations/recipe-schemas.mjs"), join(folder, "check.mjs"));
      const outfile = join(folder, "check.cjs");
      await build({ entryPoints: [join(folder, "check.mjs")], bundle: true, platform: "node", outfile });
      const checked = spawnSync(process.execPath, [outfile, recipe("")], { encoding: "utf8" });
      expect(checked).toMatchObject({ status: 0, stdout: "", stderr: "" });
    },
  );

  it("the GitHub workflow for fleet workers is valid", { timeout: 40_000 }, async () => {
    const { jobs } = parse(read("github-matrix.yml"));
    const last = jobs.worker.steps.at(-1);
    expect(jobs.worker.strategy.matrix.worker).toHaveLength(10);
    expect(Object.keys(last.env)).toContain("COURSER_FLEET");
    expect(await start(last.run, { POOL: "default", WORKER: "github-1-1" })).toMatchObject(finished);
  });
});
