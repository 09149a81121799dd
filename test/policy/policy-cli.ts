// The black box: the built CLI in the fixture, with a scripted model that makes one tool call, or several.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Verdict } from "../../src/policy/need.ts";
import { codeNamedIn } from "../../src/protocol/error-codes.ts";
import { trust } from "../../src/store/trust.ts";
import { type CliRun, runCli } from "../support/run-cli.ts";
import type { Fixture } from "./fixture.ts";
import { happened, type PolicyConfig, type PolicyInput, type Seen, toolCall } from "./policy-driver.ts";

/** Programs that would reach for the network, or are missing here: they do nothing. */
const standIns = ["npm", "npx", "curl", "wget", "ssh", "tsc", "docker", "sudo", "doas", "su", "jq", "rg", "man"];

/** `expected`: what the library said; a denial is then also tried with --force. */
export async function runInCli(
  fixture: Fixture,
  config: PolicyConfig,
  inputs: readonly PolicyInput[],
  expected: readonly Verdict[],
): Promise<Seen[]> {
  const place = prepare(fixture, config);
  const trusted = config.trusted !== false;
  const seen = await call(fixture, place, inputs, { force: config.mode === "force", trusted });
  const again = inputs.filter((_, index) => expected[index] === "deny" && seen[index]!.ended === "refused");
  const forced = again.length > 0 && config.mode !== "force";
  const forcedSeen = forced ? await call(fixture, place, again, { force: true, trusted }) : [];
  return inputs.map((input, index): Seen => {
    const { ended, reasons, output, ms } = seen[index]!;
    if (ended === "completed") {
      const missing = input.runnable && input.effect && input.effect !== "none" && !happened(input.effect, fixture);
      const faults = missing ? [`it ran, but ${input.effect} did not happen`] : [];
      return { verdict: missing ? "ask" : "allow", reasons: faults, output, ms };
    }
    const isDenied = expected[index] === "deny" && forcedSeen[again.indexOf(input)]?.ended !== "completed";
    return { verdict: isDenied ? "deny" : "ask", reasons, output, ms };
  });
}

type Place = { config: string; script: string; path: string };

function prepare({ base, workspace }: Fixture, config: PolicyConfig): Place {
  const place = {
    config: join(base, "config"),
    script: join(base, "config-script.json"),
    path: join(base, "config-bin"),
  };
  mkdirSync(place.config);
  mkdirSync(place.path);
  for (const name of standIns) {
    writeFileSync(join(place.path, name), "#!/bin/sh\nexit 0\n");
    chmodSync(join(place.path, name), 0o755);
  }
  const permissions = { allow: config.allow ?? [], deny: config.deny ?? [] };
  const isProject = config.source === "project";
  const own = { permissions: isProject ? { allow: [], deny: [] } : permissions };
  writeFileSync(join(place.config, "cli-config.json"), JSON.stringify({ version: 1, ...own }));
  if (isProject) writeFileSync(join(workspace, ".cursor/cli.json"), JSON.stringify({ permissions }));
  return place;
}

type Ended = { ended: "completed" | "refused"; reasons: string[]; output: string; ms: number };

async function call(
  { workspace, home }: Fixture,
  { config, script, path }: Place,
  inputs: readonly PolicyInput[],
  { force, trusted }: { force: boolean; trusted: boolean },
): Promise<Ended[]> {
  if (trusted) trust(config, workspace);
  const calls = inputs.map((input, index) => {
    const { tool, args } = toolCall(input);
    return { id: `call_${index}`, name: tool, args };
  });
  // One after the other: what a call that should have been refused does is seen by the next ones.
  writeFileSync(script, JSON.stringify([...calls.map((each) => ({ calls: [each] })), { text: "done" }]));
  const run = await runCli(
    [
      "-p",
      "--output-format",
      "stream-json",
      "--sandbox",
      "disabled",
      "--model",
      `script:${script}`,
      ...(force ? ["--force"] : []),
      "go",
    ],
    {
      cwd: workspace,
      env: { PATH: `${path}:${process.env["PATH"] ?? ""}`, HOME: home, CURSOR_CONFIG_DIR: config, LANG: "C.UTF-8" },
      timeoutMs: 20_000,
    },
  );
  return inputs.map((_, index) => readRun(run, `call_${index}`));
}

/** A call that was not permitted, or that the tool itself would not take, changed nothing; an untrusted workspace starts nothing. */
function readRun(run: CliRun, id: string): Ended {
  const lines = run.lines();
  const end = lines.find((line) => line["call_id"] === id && line["subtype"] === "completed");
  if (!end) {
    if (codeNamedIn(run.stderr) !== "UNTRUSTED") throw new Error(`no tool call was made: ${run.stdout}${run.stderr}`);
    return { ended: "refused", reasons: [run.stderr], output: "", ms: run.ms };
  }
  const shape = Object.entries(end["tool_call"] as Record<string, any>).find(([key]) => key.endsWith("ToolCall"))![1];
  const [kind, value] = Object.entries(shape["result"] as Record<string, any>)[0]!;
  const output = JSON.stringify(value);
  if (kind === "rejected") return { ended: "refused", reasons: [value.reason], output: "", ms: run.ms };
  // What the tool's own check of its arguments refuses was never started: `Read: "path" must be …`.
  const isUnused = kind === "error" && /^\w+: "[\w.]+" (must|is) /.test(value.errorMessage ?? "");
  return { ended: isUnused ? "refused" : "completed", reasons: [], output, ms: run.ms };
}
