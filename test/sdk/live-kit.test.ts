// The same kit for a run in this process and for one in another.
import { afterAll } from "vitest";
import { openLive } from "../../src/sdk/live/open-live.ts";
import { liveRunKit } from "../run/live-run-kit.ts";
import { createRunPlace, type RunPlace } from "../run/run-support.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const places: (RunPlace | Workspace)[] = [];
afterAll(() => {
  for (const place of places) place.remove();
});

liveRunKit("openRun", async (script, { mode = "force", human } = {}) => {
  const place = createRunPlace();
  places.push(place);
  const request = mode === "force" ? {} : { force: false, trust: true, unlistedCommands: "ask" as const };
  return { run: await place.open(script, request, human && { human }), path: place.path };
});

liveRunKit("openLive", async (script, { mode = "force", human } = {}) => {
  const place = createWorkspace();
  places.push(place);
  const { path, home, config } = place;
  const run = await openLive({
    cwd: path,
    executable: cli,
    permissionMode: mode,
    trust: true,
    model: `script:${place.file(`${home}/script.json`, JSON.stringify(script))}`,
    env: { HOME: home, CURSOR_CONFIG_DIR: config },
    extraArgs: ["--sandbox", "disabled"],
    human,
  });
  return { run, path };
});
