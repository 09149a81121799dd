// A run in this process, with a scripted model, in a folder and a home of its own.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { LiveRun, RunRequest } from "../../src/protocol/run.ts";
import type { RunHost } from "../../src/run/host.ts";
import { openRun } from "../../src/run/live-run.ts";

export type RunPlace = {
  path: string;
  configDir: string;
  open(script: unknown, request?: Partial<RunRequest>, host?: Partial<RunHost>): Promise<LiveRun>;
  remove(): void;
};

export function createRunPlace(): RunPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-run-")));
  const path = join(base, "work");
  const configDir = join(base, "config");
  mkdirSync(path);
  let count = 0;
  return {
    path,
    configDir,
    open(script, request, host) {
      const file = join(base, `script-${++count}.json`);
      writeFileSync(file, JSON.stringify(script));
      return openRun(
        { workspace: path, force: true, model: `script:${file}`, ...request },
        {
          program: "courser",
          version: "1",
          env: { PATH: process.env["PATH"], HOME: base, CURSOR_CONFIG_DIR: configDir },
          ...host,
        },
      );
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

/** Reads along until the run is closed. `until` resolves with the first event that fits, also one that came already. */
export function follow(run: LiveRun) {
  const events: AgentEvent[] = [];
  const waiting: { test(event: AgentEvent): boolean; resolve(event: AgentEvent): void }[] = [];
  const followed = (async () => {
    for await (const { event, agent } of run.events()) {
      if (agent !== undefined) continue;
      events.push(event);
      for (const each of waiting.splice(0)) each.test(event) ? each.resolve(event) : waiting.push(each);
    }
  })();
  return {
    events,
    followed,
    until(test: (event: AgentEvent) => boolean): Promise<AgentEvent> {
      const known = events.find(test);
      if (known) return Promise.resolve(known);
      return new Promise((resolve) => waiting.push({ test, resolve }));
    },
    notices: () => events.flatMap((event) => (event.type === "notice" ? [event.kind] : [])),
  };
}
