// `-b`: starts a run that outlives this command and prints only its id. Without a prompt, lets the user pick one of the runs.
import { usageError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import { untrustedError } from "../run/setup.ts";
import { type CliName, cliNames, type Fleet, type RunRecord } from "../serve/fleet.ts";
import { heldBack } from "../serve/fleet-status.ts";
import { type Launch, startHosts, startService } from "../serve/launcher.ts";
import { newRun } from "../serve/new-run.ts";
import { fileSender, type SourceChoice } from "../serve/send-files.ts";
import { requestForFleet } from "../serve/sent-request.ts";
import { homeDir } from "../store/config-dir.ts";
import { readService, serviceFile } from "../store/service-file.ts";
import { isTrusted } from "../store/trust.ts";
import { answer } from "./commands/answer.ts";
import { refuseAgents } from "./commands/refuse-agents.ts";
import { launchOf, withFleet } from "./commands/runs/context.ts";
import { flagList } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { fleetRequest, placementFlags, sourceChoice, withImages } from "./placement.ts";
import { pipedBeside, readPrompt } from "./stdin.ts";
import { writeStderr } from "./stdout.ts";

export async function runInBackground(invocation: Invocation): Promise<number> {
  const { isatty } = invocation.line.words.length > 0 ? { isatty: () => false } : await import("node:tty");
  const isChoice = isatty(0) && isatty(1);
  return withFleet(invocation, async (fleet) => {
    if (isChoice) return choose(invocation, fleet);
    const run = await startInBackground(invocation, fleet);
    const reason = await heldBack(fleet, run).catch(() => undefined);
    if (reason !== undefined) writeStderr(`The run waits: ${reason}.\n`);
    return answer(`${run.id}\n`);
  });
}

/** Flags that only make sense when waiting for the answer, and values that must not be stored. */
const unusable = (program: string): Readonly<Record<string, string>> => ({
  "output-format": `It does not apply to a background run: see '${program} runs logs'.`,
  "stream-partial-output": `It does not apply to a background run: see '${program} runs logs --follow'.`,
  "input-format": `Further prompts are typed into '${program} runs attach'.`,
  "output-last-message": `The answer is in '${program} runs list --format json'.`,
  log: `Set the variable instead, which the run's own process reads: COURSER_LOG=FILE ${program} -b …`,
  record: `A chat becomes a recording afterwards: ${program} sessions export <id> --format recording`,
  heartbeat: `See '${program} runs list' for what a run is doing.`,
  "max-silence": "Use --max-time.",
  "api-key": `Keys are not kept with a run. Set the vendor's variable, such as ANTHROPIC_API_KEY, or save it: ${program} login`,
  header: "Headers may contain keys, and are not stored with a run: put them in courser.json.",
});

export function cliFlag(name: unknown): CliName {
  const found = name === undefined ? "courser" : cliNames.find((each) => each === name);
  if (found !== undefined) return found;
  throw usageError(`--cli cannot be ${JSON.stringify(name)}. It must be one of ${cliNames.join(", ")}.`);
}

/** Starts a run in the background. `attended`: the user attaches at once, so its questions can be answered. */
export async function startInBackground(
  invocation: Invocation,
  fleet: Fleet,
  { attended }: { attended?: boolean } = {},
): Promise<RunRecord> {
  refuseAgents(invocation, "what goes on after their run");
  const { flags } = invocation.line;
  for (const [name, why] of Object.entries(unusable(invocation.name)))
    if (flags.has(name)) throw usageError(`--${name} cannot be used with a background run. ${why}`);
  const launch = launchOf(invocation);
  const choice = sourceChoice(invocation);
  const cli = cliFlag(flags.get("cli"));
  const request = trustedRequest(await fleetRequest(invocation, choice), choice, launch, cli);
  const { signal } = new AbortController();
  const { text, usedStdin, ...read } = await readPrompt(invocation, signal);
  const ready = async () => {}; // a fleet's run needs no preparation here
  const data = usedStdin ? read.data : await pipedBeside(invocation, { ready, signal, isQuiet: false });
  const { resolve } = await import("node:path");
  const images = flagList(flags, "image").map((path) => resolve(path));
  const prompt = { text, ...(data !== undefined && { data }), ...(images.length > 0 && { images }) };
  const queued = newRun({
    cli,
    request,
    prompt: launch.fleetUrl === undefined ? prompt : withImages(prompt),
    ...(attended && { attended }),
    ...placementFlags(invocation),
  });
  const addSource = fileSender(fleet, { env: invocation.env, onSent: (line) => writeStderr(`${line}\n`) });
  const run = await fleet.enqueue(await addSource(queued, choice));
  // Start it from here so that it has this shell's environment. If there is no free slot it waits, and gets the environment of
  // the process that starts it.
  await startHosts(fleet, launch, run.id);
  if (launch.fleetUrl === undefined && !readService(serviceFile(launch.configDir))) startService(launch);
  return run;
}

/** Passes the user's trust in a folder on to the worker. For files from other sources, the worker decides. */
export function trustedRequest(
  given: RunRequest,
  choice: SourceChoice,
  launch: Launch,
  cli: CliName = "courser",
): RunRequest {
  const request = launch.fleetUrl === undefined ? given : requestForFleet(given, choice, launch, cli);
  if (!isOnThisMachine(choice, launch) || request.trust) return request;
  if (isTrusted(launch.configDir, request.workspace))
    return choice.type === "none" ? request : { ...request, trust: true };
  if (request.force) return request;
  throw untrustedError(request.workspace);
}

export function isOnThisMachine({ type }: SourceChoice, { fleetUrl }: Launch): boolean {
  return type === "upload" || type === "repository" || (type === "none" && fleetUrl === undefined);
}

async function choose(invocation: Invocation, fleet: Fleet): Promise<number> {
  const [{ pick }, { runLines }, { attachTo }] = await Promise.all([
    import("./picker.ts"),
    import("./commands/runs/run-lines.ts"),
    import("./commands/runs/attach.ts"),
  ]);
  const runs = await fleet.runs({ limit: 200 });
  if (runs.length === 0) return answer(`There are no background runs. To start one: ${invocation.name} -b "…"\n`);
  const [, ...lines] = runLines(runs, { home: homeDir(invocation.env), now: Date.now() });
  const choices = lines.map((line) => ({ text: line, words: line }));
  const index = await pick(choices, "Which run?", invocation.env);
  return index === undefined ? 0 : attachTo(invocation, fleet, runs[index]!);
}
