// Every way to start a run, each as a function that starts one with a restriction and says what came of it.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { RunRequest } from "../../src/protocol/run.ts";
import { openLive } from "../../src/sdk/live/open-live.ts";
import { start } from "../../src/sdk/run.ts";
import { AttachedRun } from "../../src/serve/attached-run.ts";
import { fleet as openFleetClient } from "../../src/serve/client/index.ts";
import type { RunRecord } from "../../src/serve/fleet.ts";
import { startHosts } from "../../src/serve/launcher.ts";
import { newRun } from "../../src/serve/new-run.ts";
import { openFleet } from "../../src/serve/open-fleet.ts";
import { trust } from "../../src/store/trust.ts";
import { AcpClient } from "../acp/acp-client.ts";
import { TestService, until } from "../serve/service-support.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { NatsServer, noNatsServer } from "../support/nats-server.ts";
import { type CliRun, cli, runCli, type Workspace } from "../support/run-cli.ts";
import { converse, hasScript } from "../support/terminal.ts";
import { openCli } from "../terminal/pty.ts";
import { type Place, placeIn, prepare, type Seen } from "./restrictions.ts";

/** A restriction in both forms: doors for programs are told it as data, those for people by flags. */
export type Given = { request: Partial<RunRequest>; flags: string[]; isForced: boolean };
type Outcome = Pick<Seen, "failed" | "said"> & { folder?: string };

export type Door = {
  /** Source files behind which this door leads to a run: see `starters` in the test. */
  starts?: readonly string[];
  /** Why it cannot be tried on this machine. */
  skipped?: string | false;
  /** Its runs are stored for those who follow them: a run that is to keep nothing is refused. */
  isStored?: true;
  /** What is given to it is data: it can be told what no flag says. */
  takesData?: true;
  open(place: Place, given: Given, home: Home): Promise<Outcome>;
};

/** What several runs share: a home, a service, a fleet. */
export class Home {
  readonly service = new TestService();
  #nats: Promise<{ url: string; server: NatsServer }> | undefined;
  #repository: string | undefined;

  get workspace(): Workspace {
    return this.service.workspace;
  }

  async begin(): Promise<void> {
    await this.service.start();
  }

  place(): Place {
    return placeIn(this.workspace);
  }

  /** A fleet on many machines, with a worker. */
  nats(): Promise<{ url: string; server: NatsServer }> {
    this.#nats ??= NatsServer.start().then((server) => {
      const url = server.url("doors");
      this.worker(["--fleet", url]);
      return { url, server };
    });
    return this.#nats;
  }

  worker(args: readonly string[]): void {
    const { path, env } = this.workspace;
    spawnOwned(process.execPath, [cli, "worker", "start", ...args], { cwd: path, env, stdio: "ignore" });
  }

  /** A repository whose folder is trusted, with what a run tries to change. */
  repository(): string {
    if (this.#repository !== undefined) return this.#repository;
    const path = join(this.workspace.home, "repository");
    mkdirSync(path);
    prepare(path);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: path });
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "-m", "first");
    trust(this.workspace.config, path);
    this.#repository = path;
    return path;
  }

  async end(): Promise<void> {
    await (await this.#nats)?.server.remove();
    await this.service.remove();
  }
}

const forced = ({ isForced }: Given) => (isForced ? ["--force"] : []);

function run(place: Place, args: readonly string[], stdin?: string): Promise<CliRun> {
  return runCli(args, { cwd: place.path, env: place.env, ...(stdin !== undefined && { stdin }) });
}

const outcomeOf = ({ exit, stdout, stderr }: CliRun): Outcome => ({
  failed: exit !== 0,
  said: `${stdout.slice(-500)} ${stderr}`,
});

async function print(place: Place, given: Given, ...more: string[]): Promise<Outcome> {
  const args = ["-p", "--model", place.model, ...forced(given), ...given.flags, ...more, place.prompt];
  return outcomeOf(await run(place, args));
}

/** Of a run in the background. */
async function over(place: Place, home: Home, id: string): Promise<Outcome> {
  return outcomeOfRecord(await home.service.over(id), place);
}

function outcomeOfRecord({ end }: RunRecord, _place: Place): Outcome {
  return { failed: end?.outcome !== "finished", said: `${end?.code} ${end?.text}` };
}

async function background(place: Place, home: Home, args: readonly string[]): Promise<Outcome> {
  const started = await run(place, args);
  if (started.exit !== 0) return outcomeOf(started);
  return over(place, home, started.stdout.trim());
}

async function chatOf(place: Place): Promise<string> {
  const first = await run(place, ["-p", "--model", place.quiet, "--output-format", "json", "hello"]);
  return JSON.parse(first.stdout).session_id;
}

async function batch(place: Place, flags: readonly string[], line: object): Promise<Outcome> {
  const file = join(place.home, `${place.prompt.slice(-8)}-${Math.random()}.jsonl`);
  writeFileSync(file, `${JSON.stringify({ prompt: place.prompt, model: place.model, ...line })}\n`);
  return outcomeOf(await run(place, ["batch", file, ...flags]));
}

async function posted(place: Place, home: Home, path: string, body: object): Promise<Outcome> {
  const reply = await home.service.call("POST", path, body);
  if (reply.status !== 201) return { failed: true, said: reply.text };
  const id = reply.body.run?.id ?? reply.body.id;
  // What a run asks that has a service behind it waits for a person, who is not here.
  await until(async () => {
    const record = await home.service.fleet.run(id);
    if (record!.open > 0) await home.service.fleet.cancel(id, "It asks.");
    return record!.end !== undefined;
  }, `${id} to be over`);
  return over(place, home, id);
}

const asAgent = (place: Place, { request, isForced }: Given) => ({
  prompt: { text: place.prompt },
  workspace: place.path,
  model: { id: place.model },
  ...(isForced && { force: true }),
  ...request,
});

/** What `start` and `openLive` have words for; the rest by flags. */
function sdkOptions(place: Place, { request, flags, isForced }: Given) {
  const { permissions, disallowedTools, allowedTools, sandbox, mode, ...rest } = request;
  const known = new Set(["--deny", "--disallowed-tools", "--allowed-tools", "--sandbox", "--mode"]);
  const extraArgs = flags.filter((_word, at) => !known.has(flags[at]!) && !known.has(flags[at - 1] ?? ""));
  return {
    cwd: place.path,
    env: place.env,
    executable: [process.execPath, cli],
    model: place.model,
    permissionMode: isForced ? ("force" as const) : ("default" as const),
    ...(permissions && { permissions }),
    ...(disallowedTools && { disallowedTools }),
    ...(allowedTools && { allowedTools }),
    ...(sandbox && { sandbox: sandbox === "enabled" }),
    ...(mode && { mode }),
    ...(Object.keys(rest).length > 0 && { extraArgs }),
  };
}

async function inFleet(url: string | undefined, place: Place, { request, isForced }: Given): Promise<Outcome> {
  const client = openFleetClient(url, { env: place.env, program: [process.execPath, cli] });
  const mode = isForced && request.mode === undefined ? { mode: "force" as const } : {};
  try {
    const started = client.run({
      prompt: place.prompt,
      workspace: place.path,
      model: place.model,
      source: "none",
      onQuestion: () => ({ type: "no" }),
      ...mode,
      ...request,
    });
    const result = await started.result;
    return { failed: result.outcome !== "success", said: `${result.outcome} ${result.text}` };
  } finally {
    await client.close();
  }
}

export const doors: Readonly<Record<string, Door>> = {
  "-p": {
    starts: ["cli/open-run.ts"],
    open: (place, given) => print(place, given),
  },
  "-p, json": { open: (place, given) => print(place, given, "--output-format", "json") },
  "-p, stream-json": { open: (place, given) => print(place, given, "--output-format", "stream-json") },
  "a host on stdin": {
    async open(place, given) {
      const line = JSON.stringify({ type: "user", message: { role: "user", content: place.prompt } });
      const words = ["--output-format", "stream-json", "--input-format", "stream-json"];
      return outcomeOf(
        await run(place, ["-p", "--model", place.model, ...forced(given), ...given.flags, ...words], `${line}\n`),
      );
    },
  },
  "--resume": { open: async (place, given) => print(place, given, "--resume", await chatOf(place)) },
  "--fork": { open: async (place, given) => print(place, given, "--resume", await chatOf(place), "--fork") },
  "--worktree": {
    async open(place, given, home) {
      const name = `w${place.prompt.replace(/\W/g, "").slice(-14)}`.toLowerCase();
      const args = ["-p", "--model", place.model, ...forced(given), ...given.flags, "--worktree", name];
      const made = await runCli([...args, "--output-format", "stream-json", place.prompt], {
        cwd: home.repository(),
        env: place.env,
      });
      const [init] = made.stdout.split("\n");
      const folder = /^\{/.test(init ?? "") ? (JSON.parse(init!) as { cwd?: string }).cwd : undefined;
      return { ...outcomeOf(made), ...(folder !== undefined && { folder }) };
    },
  },
  subagent: {
    async open(place, given) {
      const agent = join(place.path, ".cursor/agents/worker.md");
      mkdirSync(join(place.path, ".cursor/agents"), { recursive: true });
      const own = join(place.home, `agent-${Math.random()}.json`);
      writeFileSync(own, readFileSync(place.model.slice("script:".length)));
      writeFileSync(agent, `---\nname: worker\ndescription: Works\nmodel: script:${own}\n---\nYou work.\n`);
      const main = join(place.home, `main-${Math.random()}.json`);
      const task = { description: "Work", prompt: place.prompt, subagent_type: "worker" };
      writeFileSync(main, JSON.stringify([{ calls: [{ name: "Task", args: task }] }, { text: "The end." }]));
      return print({ ...place, model: `script:${main}` }, given);
    },
  },
  replay: {
    starts: ["testing/replay.ts", "testing/recorded-run.ts", "testing/from-step.ts"],
    async open(place, given) {
      const file = join(place.home, `recording-${Math.random()}.jsonl`);
      await run(place, ["-p", "--model", place.model, "--force", "--no-persist", "--record", file, place.prompt]);
      for (const name of ["allowed", "denied", "hooked", "plugged", "shelled", "late"])
        rmSync(join(place.path, `${name}.txt`), { force: true });
      rmSync(place.outside, { force: true });
      prepare(place.path);
      const live = ["--replay-tools", "live", "--replay-on-mismatch", "continue"];
      return print({ ...place, model: `replay:${file}` }, given, ...live);
    },
  },
  "-b": {
    isStored: true,
    starts: ["cli/background.ts", "serve/host-run.ts"],
    open: (place, given, home) =>
      background(place, home, ["-b", "--model", place.model, ...forced(given), ...given.flags, place.prompt]),
  },
  persist: {
    isStored: true,
    open: (place, given, home) =>
      background(place, home, ["persist", "--model", place.model, ...forced(given), ...given.flags, place.prompt]),
  },
  "a prompt to a run that is over": {
    isStored: true,
    starts: ["serve/attached-run.ts"],
    async open(place, given, home) {
      // Its own prompt says nothing that is looked for: the next one does.
      const args = ["-b", "--model", place.model, ...forced(given), ...given.flags, "hello"];
      const started = await run(place, args);
      if (started.exit !== 0) return outcomeOf(started);
      const record = await home.service.over(started.stdout.trim());
      for (const name of ["allowed", "late", "shelled"]) rmSync(join(place.path, `${name}.txt`), { force: true });
      const { fleet, workspace } = home.service;
      const launch = { configDir: workspace.config, env: place.env, program: [process.execPath, cli], most: 8 };
      const attached = new AttachedRun(fleet, record, { start: ({ id }) => startHosts(fleet, launch, id) });
      try {
        const ending = await attached.send({ text: place.prompt }).ending;
        return { failed: ending.type === "fail", said: JSON.stringify(ending) };
      } finally {
        await attached.close();
      }
    },
  },
  "batch flags": {
    isStored: true,
    starts: ["cli/commands/batch/index.ts"],
    open: (place, given) => batch(place, [...forced(given), ...given.flags], { workspace: place.path }),
  },
  "a batch line": {
    isStored: true,
    takesData: true,
    open: (place, { request, isForced }) =>
      batch(place, [], { workspace: place.path, ...(isForced && { force: true }), ...request }),
  },
  "batch flags under a line of its own": {
    isStored: true,
    open: (place, given) =>
      batch(place, given.flags, {
        workspace: place.path,
        ...(given.isForced && { force: true }),
        permissions: { deny: ["Write(other.txt)"] },
        hooks: ['{"version": 1, "hooks": {}}'],
        limits: { maxTurns: 50 },
        disallowedTools: ["WebFetch"],
        allowedTools: ["Read", "Write", "Delete", "Edit", "Shell"],
      }),
  },
  "POST /v1/agents": {
    isStored: true,
    starts: ["serve/routes/rest.ts"],
    takesData: true,
    open: (place, given, home) => posted(place, home, "/v1/agents", asAgent(place, given)),
  },
  "a follow-up": {
    isStored: true,
    takesData: true,
    async open(place, given, home) {
      const begun = { ...asAgent(place, given), prompt: { text: "hello" } };
      const reply = await home.service.call("POST", "/v1/agents", begun);
      if (reply.status !== 201) return { failed: true, said: reply.text };
      const { agent, run: first } = reply.body;
      await until(async () => {
        const record = await home.service.fleet.run(first.id);
        if (record!.open > 0) await home.service.fleet.cancel(first.id, "It asks.");
        return record!.end !== undefined;
      }, "the first run");
      for (const name of ["allowed", "late", "shelled"]) rmSync(join(place.path, `${name}.txt`), { force: true });
      return posted(place, home, `/v1/agents/${agent.id}/runs`, { prompt: { text: place.prompt } });
    },
  },
  "a restriction with the follow-up": {
    isStored: true,
    takesData: true,
    async open(place, given, home) {
      const quiet = { prompt: { text: "hello" }, workspace: place.path, model: { id: place.quiet } };
      const reply = await home.service.call("POST", "/v1/agents", { ...quiet, ...(given.isForced && { force: true }) });
      const { agent, run: first } = reply.body;
      await home.service.over(first.id);
      const body = { prompt: { text: place.prompt }, model: { id: place.model }, ...given.request };
      return posted(place, home, `/v1/agents/${agent.id}/runs`, body);
    },
  },
  "POST /api/runs": {
    isStored: true,
    starts: ["serve/routes/studio-runs.ts"],
    takesData: true,
    open: (place, { request, isForced }, home) =>
      posted(place, home, "/api/runs", {
        prompt: { text: place.prompt },
        workspace: place.path,
        model: place.model,
        ...(isForced && { force: true }),
        ...request,
      }),
  },
  "mcp serve": {
    starts: ["cli/commands/mcp/served-run.ts"],
    async open(place, given) {
      // What its owner restricts, and what a call restricts, add up.
      const mode = given.request.mode;
      const flags = given.flags.filter((word, at) => word !== "--mode" && given.flags[at - 1] !== "--mode");
      const args = [cli, "mcp", "serve", "--model", place.model, ...forced(given), ...flags];
      const client = new Client({ name: "other", version: "1" });
      const { path: cwd, env } = place;
      await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env, stderr: "ignore" }));
      try {
        const call = { name: "run", arguments: { prompt: place.prompt, ...(mode && { mode }) } };
        const { isError, content } = (await client.callTool(call)) as { isError?: boolean; content: unknown };
        return { failed: isError === true, said: JSON.stringify(content) };
      } finally {
        await client.close();
      }
    },
  },
  acp: {
    starts: ["acp/session.ts"],
    async open(place, given) {
      const args = ["--model", place.model, ...forced(given), ...given.flags];
      const workspace = { ...createPlaceholder(place), path: place.path };
      const client = await AcpClient.start(workspace, { args });
      try {
        const id = await client.newSession({ cwd: place.path });
        const reply = await client.prompt(id, place.prompt);
        const said = `${JSON.stringify(reply)} ${client.said(id)}`;
        return { failed: reply.error !== undefined || !/end_turn/.test(said) || /Error: /.test(said), said };
      } catch (error) {
        return { failed: true, said: (error as Error).message };
      } finally {
        await client.leave();
      }
    },
  },
  terminal: {
    starts: ["terminal/conversation.ts"],
    async open(place, given) {
      const args = ["--model", place.model, ...forced(given), ...given.flags, place.prompt];
      const pty = openCli(createPlaceholder(place), args, { rows: 60, columns: 150 });
      try {
        await Promise.race([
          pty.waitFor(/The end\.|MAX_TURNS|limit of \d|--fail-on|nowhere: /, { in: "output" }),
          pty.ended,
        ]);
        await pty.quiet(300);
        const said = (await pty.scrollback()).join("\n");
        return { failed: /Error|✗/.test(said), said: said.slice(-800) };
      } finally {
        pty.kill("SIGKILL");
        await pty.ended;
      }
    },
  },
  "terminal, & prompt": {
    isStored: true,
    async open(place, given, home) {
      const args = ["--model", place.model, ...forced(given), ...given.flags];
      const pty = openCli(createPlaceholder(place), args, { rows: 60, columns: 150 });
      try {
        await Promise.race([pty.waitFor("›"), pty.ended]);
        await pty.quiet(200);
        pty.type(`& ${place.prompt}`);
        await pty.quiet(200);
        pty.type("\r");
        await pty.waitFor(/Started run-|\(--no-persist\)/, { in: "output" });
        await pty.quiet(200);
        const said = (await pty.scrollback()).join("\n");
        const id = /Started (run-[\w-]{36})/.exec(said)?.[1];
        return id === undefined ? { failed: true, said: said.slice(-800) } : over(place, home, id);
      } finally {
        pty.kill("SIGKILL");
        await pty.ended;
      }
    },
  },
  "line mode": {
    skipped: !hasScript && "there is no `script` here",
    async open(place, given) {
      const words = ["--model", place.model, ...forced(given), ...given.flags, place.prompt];
      const args = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
      const { screen } = await converse(args, [[/\n> $/, "/quit\n"]], createPlaceholder(place));
      return { failed: /Error|✗/.test(screen), said: screen.slice(-800) };
    },
  },
  "start()": {
    starts: ["sdk/run.ts", "sdk/execute.ts", "eval/agents.ts", "testing/kit/agent.ts"],
    async open(place, given) {
      const result = await start({ ...sdkOptions(place, given), prompt: place.prompt }).result;
      return { failed: result.outcome !== "success", said: `${result.text} ${result.outcome} ${result.stderr}` };
    },
  },
  "openLive()": {
    starts: ["sdk/live/turnwise-session.ts"],
    async open(place, given) {
      try {
        const session = await openLive(sdkOptions(place, given));
        const ending = await session.send({ text: place.prompt }).ending;
        await session.close();
        return { failed: ending.type === "fail", said: JSON.stringify(ending) };
      } catch (error) {
        return { failed: true, said: (error as Error).message };
      }
    },
  },
  "fleet().run()": {
    isStored: true,
    starts: ["serve/client/index.ts"],
    takesData: true,
    open: (place, given) => inFleet(undefined, place, given),
  },
  "a worker of a fleet": {
    isStored: true,
    skipped: noNatsServer,
    takesData: true,
    open: async (place, given, home) => inFleet((await home.nats()).url, place, given),
  },
  "a record that a worker finds": {
    isStored: true,
    starts: ["serve/worker/loop.ts", "cli/commands/worker/start.ts"],
    skipped: noNatsServer,
    takesData: true,
    async open(place, { request, isForced }, home) {
      const { url } = await home.nats();
      const fleet = await openFleet(url, { configDir: place.config, env: place.env });
      const base = { workspace: place.path, model: place.model, ...(isForced && { force: true }) };
      const spec = { cli: "courser" as const, prompt: { text: place.prompt }, request: { ...base, ...request } };
      try {
        // As an older sender wrote it: without a version.
        const { id } = await fleet.enqueue(newRun(spec));
        await until(async () => {
          const record = await fleet.run(id);
          if (record!.open > 0) await fleet.cancel(id, "It asks.");
          return record!.end !== undefined;
        }, `${id} to be over`);
        return outcomeOfRecord((await fleet.run(id))!, place);
      } catch (error) {
        return { failed: true, said: (error as Error).message };
      } finally {
        fleet.close();
      }
    },
  },
};

/** For helpers that want a workspace. */
function createPlaceholder({ path, home, config, env }: Place): Workspace {
  const none = () => {
    throw new Error("not for this");
  };
  return { path, home, config, env, file: none, run: none, play: none, remove: none, [Symbol.dispose]: none };
}
