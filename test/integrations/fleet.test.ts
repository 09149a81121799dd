// Recipes that start workers: the files are read as their runners read them, and what they start is started.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { openSqliteFleet } from "../../src/serve/engines/sqlite.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";

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

const finished = { exit: 0, state: "finished" };

describe("recipes for workers", () => {
  it("ssh.sh starts one on each machine, and keeps the address out of its words", { timeout: 40_000 }, async () => {
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

  it("the unit of systemd", { timeout: 40_000 }, async () => {
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

  it("the Job of Kubernetes", { timeout: 40_000 }, async () => {
    const job = parse(read("kubernetes-job.yaml"));
    expect([job.apiVersion, job.kind]).toEqual(["batch/v1", "Job"]);
    const [container] = job.spec.template.spec.containers;
    expect(job.spec.template.spec.restartPolicy).toBe("Never");
    const words = (container.command as string[]).map((word) =>
      word.replace(":8080", ":0").replace(/^\/work$/, join(place.home, "work")),
    );
    const started = await start(words.map((word) => `'${word}'`).join(" "));
    expect(started).toMatchObject(finished);
    expect(started.stderr).toContain("http://0.0.0.0:");
  });

  it("the matrix of GitHub", { timeout: 40_000 }, async () => {
    const { jobs } = parse(read("github-matrix.yml"));
    const last = jobs.worker.steps.at(-1);
    expect(jobs.worker.strategy.matrix.worker).toHaveLength(10);
    expect(Object.keys(last.env)).toContain("COURSER_FLEET");
    expect(await start(last.run, { POOL: "default", WORKER: "github-1-1" })).toMatchObject(finished);
  });
});
