// Several runs, other agents, failures, another window: what the studio is for, in a real browser.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/sqlite.ts";
import { distrust, isTrusted, trust } from "../../src/store/trust.ts";
import { TestService, until } from "../serve/service-support.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";

const service = new TestService();
let browser: Browser;
let page: Page;
let errors: string[];

const shell = (command: string) => ({ name: "Shell", args: { command } });

describe.skipIf(noChromium)(orSkipped("many runs in the studio", noChromium), () => {
  beforeAll(async () => {
    service.workspace.file("src/a.ts", "export const a = 1;\n");
    standIn();
    [browser] = await Promise.all([openBrowser(), service.start([], { PATH: `${bin()}:${process.env["PATH"]}` })]);
    ({ page, errors } = await openStudio(browser, service));
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  it("keeps the questions of several runs apart, over a restart of the service and in every tab", async () => {
    const other = await openStudio(browser, service);
    const names = Array.from({ length: 10 }, (_, index) => `Ask ${index}`);
    const started = await Promise.all(
      names
        .slice(0, 2)
        .map((name) => start(name, [{ calls: [shell(`rm -rf ${name.at(-1)}`)] }, { text: `${name} is over.` }])),
    );
    const working = names.slice(2).map((name) => begin(name, [{ text: "At work.", delayMs: 60_000 }]));
    await until(async () => (await service.fleet.questions()).length === 2, "both questions");
    for (const tab of [page, other.page]) {
      await tab.getByRole("article", { name: "Ask 0" }).getByText("rm -rf 0").first().waitFor();
      await tab.getByRole("article", { name: "Ask 1" }).getByText("rm -rf 1").first().waitFor();
    }
    const more = await Promise.all(working);
    await expect.poll(async () => (await service.fleet.runs({ states: ["queued", "running"] })).length).toBe(10);
    await expect.poll(() => page.locator(".left .item").count()).toBeGreaterThanOrEqual(10);
    await service.kill();
    await service.start([], { PATH: `${bin()}:${process.env["PATH"]}` });
    await page.getByRole("article", { name: "Ask 0" }).getByRole("button", { name: "Allow once" }).click();
    await page.getByRole("article", { name: "Ask 0" }).waitFor({ state: "detached" });
    expect((await service.over(started[0]!)).state).toBe("finished");
    // The other one still waits, here and in the other tab, and is not lost.
    await page.getByRole("article", { name: "Ask 1" }).waitFor();
    await other.page.getByRole("article", { name: "Ask 0" }).waitFor({ state: "detached" });
    await other.page.getByRole("article", { name: "Ask 1" }).getByRole("button", { name: "Deny…" }).click();
    await other.page.getByLabel("Why not, for the agent").fill("keep it");
    await other.page.keyboard.press("Enter");
    await page.getByRole("article", { name: "Ask 1" }).waitFor({ state: "detached" });
    expect((await service.over(started[1]!)).end?.denials?.[0]?.reason).toContain("keep it");
    for (const id of more) await service.call("POST", `/api/runs/${id}/stop`, {});
    await Promise.all(more.map((id) => service.over(id)));
    expect(other.errors).toEqual([]);
    await other.context.close();
  }, 60_000);

  it("asks before it deletes, as a terminal does", async () => {
    await start("Tidy up", [{ calls: [shell("rm -rf src")] }, { text: "Kept." }]);
    const asked = page.getByRole("article", { name: "Tidy up" });
    await asked.getByText("rm -rf src").first().waitFor();
    expect(existsSync(join(service.workspace.path, "src/a.ts"))).toBe(true);
    await asked.getByRole("button", { name: "Deny…" }).click();
    await page.keyboard.press("Enter");
    await asked.waitFor({ state: "detached" });
  });

  it("goes on with the agent whose session it is, wherever the list ends", async () => {
    const id = "7c1f0a52-5d0e-4b6e-9a54-0e4c56a2b1aa";
    claudeSession(id, "Explain the parser", "It reads tokens.");
    await go(`/sessions/claude/${id}`);
    await page.getByText("It reads tokens.").waitFor();
    await page.locator(".left input[type=search]").fill("nothing has these words");
    await page.getByText("No matches.").waitFor();
    await page.getByLabel("Next prompt").fill("And the lexer?");
    await page.keyboard.press("Enter");
    await until(
      async () => (await service.fleet.runs({})).some(({ spec }) => spec.cli === "claude"),
      "the run of claude",
    );
    await page.locator(".left input[type=search]").fill("");
    const run = (await service.fleet.runs({})).find(({ spec }) => spec.cli === "claude")!;
    expect(run.spec.request.chat).toMatchObject({ type: "resume", id });
    await service.over(run.id);
  });

  it("shows what an agent in a terminal writes, within two seconds, as it comes", async () => {
    const id = "1b1f0a52-5d0e-4b6e-9a54-0e4c56a2b1bb";
    await go("/");
    claudeSession(id, "Written elsewhere", "The first answer.");
    await page.locator(".left .item", { hasText: "Written elsewhere" }).waitFor({ timeout: 2500 });
    await page.locator(".left .item", { hasText: "Written elsewhere" }).click();
    await page.getByText("The first answer.").waitFor();
    claudeSession(id, "And now?", "The second answer.");
    await page.getByText("The second answer.").waitFor({ timeout: 2500 });
    expect(await page.getByText("The first answer.").count()).toBe(1);
  });

  it("keeps a run that did not even begin: its prompt, why, and the text to try again", async () => {
    const gone = join(dirname(service.workspace.path), "gone");
    mkdirSync(gone);
    trust(service.workspace.config, gone);
    const body = { workspace: gone, prompt: { text: "Work where nothing is" }, model: "no-such-vendor/model" };
    const { body: run } = await service.call("POST", "/api/runs", body);
    expect((await service.over(run.id)).state).toBe("error");
    await go("/");
    await page.locator(".left .item", { hasText: "Work where nothing is" }).click();
    await page.locator(".cr-user", { hasText: "Work where nothing is" }).waitFor();
    await page.locator(".cr-failure").waitFor();
    expect(await page.getByLabel("Next prompt").inputValue()).toBe("Work where nothing is");
    rmSync(gone, { recursive: true });
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });

  it("shows the mode that is in force, and leaves plan mode when told to", async () => {
    const run = await start("Plan it", [{ text: "Here is the plan." }], { mode: "plan" });
    const { sessionId } = await service.over(run);
    await go(`/sessions/cursor/${sessionId}`);
    await page.getByText("Here is the plan.").waitFor();
    await expect.poll(() => page.getByLabel("Mode", { exact: true }).inputValue()).toBe("plan");
    await page.getByLabel("Mode", { exact: true }).selectOption("agent");
    await page.getByLabel("Next prompt").fill("Go on");
    await page.keyboard.press("Enter");
    await until(async () => (await service.fleet.runs({}))[0]?.spec.prompt.text === "Go on", "the next run");
    const next = await service.over((await service.fleet.runs({}))[0]!.id);
    expect(next.spec.request.mode).toBe("agent");
    await expect.poll(() => page.getByLabel("Mode", { exact: true }).inputValue()).toBe("agent");
  });

  it("blames a session for what it did, and not for what others did later", async () => {
    const run = await start(
      "Write both",
      [
        {
          calls: [
            shell("echo mine > by-command.txt"),
            { name: "Write", args: { path: "by-edit.txt", contents: "mine\n" } },
          ],
        },
        { text: "Written." },
      ],
      { force: true },
    );
    const { sessionId } = await service.over(run);
    service.workspace.file("by-command.txt", "theirs\n");
    service.workspace.file("by-edit.txt", "theirs\n");
    service.workspace.file("not-ours.txt", "theirs\n");
    await go(`/sessions/cursor/${sessionId}/changes`);
    await page.locator(".changed", { hasText: "by-edit.txt" }).getByText("mine").waitFor();
    expect(await page.getByText("theirs").count()).toBe(0);
    expect(await page.locator(".changed", { hasText: "not-ours.txt" }).count()).toBe(0);
    await page.getByLabel(/^Compare with the disk now/).check();
    await page.locator(".changed", { hasText: "not-ours.txt" }).getByText("theirs").waitFor();
  });

  it("says what happens at the moment, keeps what was shown, and shows what waits in every tab", async () => {
    const run = await start("Take long", [{ text: "Begun.", calls: [shell("sleep 30")] }], { force: true });
    const other = await openStudio(browser, service, { path: `/runs/${run}` });
    await go(`/runs/${run}`);
    await page.locator(".now", { hasText: "Bash sleep 30" }).waitFor();
    expect(await page.getByText(/^Starting/).count()).toBe(0);
    await page.getByLabel("Message to the agent").fill("and then rest");
    await page.getByRole("button", { name: "Queue" }).click();
    await other.page.locator(".pending", { hasText: "and then rest" }).waitFor();
    // Everything that carries out the run is killed.
    const pids = hostsOf(run);
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    leaseIsOver(run);
    await page
      .locator(".cr-result.cr-failed, .cr-result", { hasText: /Failed after|Interrupted after/ })
      .waitFor({ timeout: 40_000 });
    await page.getByText("Begun.", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("Begun.", { exact: true }).waitFor();
    await other.context.close();
  }, 60_000);

  it("is told apart from a failure when it is stopped, and waiting for a person is nobody's work", async () => {
    const run = await start("Wait for me", [{ calls: [shell("rm -rf never")] }, { text: "Done waiting." }]);
    await go(`/runs/${run}`);
    await page.locator(".now", { hasText: "Waiting for you" }).waitFor();
    await page.waitForTimeout(1500);
    await expect.poll(() => page.locator(".details .cr-times").textContent()).toMatch(/Waiting for you[1-9]\.\d s/);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText(/^Interrupted after/).waitFor();
    await expect
      .poll(() => page.locator(".cr-timeline [role=status].cr-unseen").first().textContent())
      .not.toContain("failed");
  });

  it("replays from nothing: at its beginning nothing of the end is shown", async () => {
    const run = await start("Change it", [
      { calls: [{ name: "Write", args: { path: "late.txt", contents: "x\n" } }] },
      { text: "Changed." },
    ]);
    const { sessionId } = await service.over(run);
    await go(`/sessions/cursor/${sessionId}/replay`);
    await page.getByRole("slider").fill("0");
    expect(await page.getByText("late.txt").filter({ visible: true }).count()).toBe(0);
  });

  it("offers the directory in which it was started, and trusts it there", async () => {
    distrust(service.workspace.config, service.workspace.path);
    await go("/new");
    const question = page.getByRole("group", { name: "Trust" });
    await question.getByText(service.workspace.path).waitFor();
    await page.getByLabel("What should be done?").fill("Look at this");
    expect(await page.getByRole("button", { name: "Start" }).isDisabled()).toBe(true);
    const refused = await service.call("POST", "/api/workspaces/trust", { workspace: service.workspace.home });
    expect(refused.status).toBe(403);
    await question.getByRole("button").click();
    await question.waitFor({ state: "detached" });
    expect(isTrusted(service.workspace.config, service.workspace.path)).toBe(true);
  });

  it("starts a run with a picture and a file that is named, in the background", async () => {
    await go("/new");
    const field = page.getByLabel("What should be done?");
    await field.fill("What is in ");
    await field.press("End");
    await page.keyboard.type("@src/a");
    await page.getByRole("option", { name: "@src/a.ts" }).waitFor();
    await page.keyboard.press("Enter");
    expect(await field.inputValue()).toBe("What is in @src/a.ts ");
    const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: Buffer.from(dot, "base64") });
    await page.getByRole("img", { name: "dot.png" }).waitFor();
    await page.locator(".chip-model").click();
    await page.getByLabel("Model", { exact: true }).fill(service.script([{ text: "A dot." }]));
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Background" }).click();
    await page.keyboard.press("Escape");
    await field.press("Control+Enter");
    await until(async () => (await service.fleet.runs({}))[0]?.spec.prompt.text === "What is in @src/a.ts", "the run");
    expect(new URL(page.url()).pathname).toBe("/new");
    const run = await service.over((await service.fleet.runs({}))[0]!.id);
    expect(run.spec.prompt.images).toEqual([{ mime: "image/png", base64: dot }]);
    await go(`/runs/${run.id}`);
    await page.locator(".cr-user img").waitFor();
    await page.getByText("A dot.").waitFor();
  });

  it("shows files of the directory, and none that suggests secrets", async () => {
    service.workspace.file(".env.local", "KEY=1\n");
    const { sessionId } = await service.over(await start("Look", [{ text: "Looked." }]));
    await go(`/sessions/cursor/${sessionId}/files`);
    await page.getByRole("button", { name: "src/" }).click();
    await page.getByRole("button", { name: "a.ts" }).click();
    await page.locator(".file-shown", { hasText: "export const a = 1;" }).waitFor();
    await page.getByRole("button", { name: "‹ src/" }).click();
    await page.getByRole("button", { name: ".env.local" }).click();
    await page.getByText(/is not shown: its name suggests secrets/).waitFor();
  });

  it("moves through the list by j and k, and says when there is nothing at an address", async () => {
    await go("/");
    await page.locator(".left .item").nth(2).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await expect
      .poll(() => page.evaluate(() => [...document.querySelectorAll(".left .item")].indexOf(document.activeElement!)))
      .toBe(1);
    await page.keyboard.press("k");
    expect(
      await page.evaluate(() => [...document.querySelectorAll(".left .item")].indexOf(document.activeElement!)),
    ).toBe(0);
    await go("/nowhere/at/all");
    await page.getByRole("heading", { name: "There is nothing at this address" }).waitFor();
    expect(errors).toEqual([]);
  });

  it("sends what never changes once, answers pressed, errors with codes, and no secrets", async () => {
    const { port, token } = service.info;
    const base = `http://127.0.0.1:${port}`;
    const html = await (await fetch(base)).text();
    const script = /src="(\/studio-[^"]+)"/.exec(html)![1]!;
    expect((await fetch(base + script)).headers.get("cache-control")).toContain("immutable");
    const headers = { Authorization: `Bearer ${token}`, "Accept-Encoding": "gzip" };
    expect((await fetch(`${base}/api/sessions`, { headers })).headers.get("content-encoding")).toBe("gzip");
    expect(await (await fetch(`${base}/api/proof?nonce=x`)).json()).toMatchObject({
      error: { code: "invalid_request" },
    });
    const before = Date.now();
    await service.call("GET", "/api/agents");
    await service.call("GET", "/api/agents");
    expect((await service.call("GET", "/api/agents")).status).toBe(200);
    expect(Date.now() - before).toBeLessThan(20_000);
    service.workspace.file(".env", "KEY=1\n");
    const read = await service.call("POST", "/api/files/read", { workspace: service.workspace.path, path: ".env" });
    expect([read.status, read.text.includes("KEY=1")]).toEqual([400, false]);
  });
});

async function go(path: string): Promise<void> {
  await page.goto(`http://127.0.0.1:${service.info.port}${path}`);
}

async function begin(text: string, replies: unknown, more: object = {}): Promise<string> {
  const body = { workspace: service.workspace.path, prompt: { text }, model: service.script(replies), ...more };
  return (await service.call("POST", "/api/runs", body)).body.id as string;
}

async function start(text: string, replies: unknown, more: object = {}): Promise<string> {
  const run = await begin(text, replies, more);
  await until(async () => (await service.fleet.run(run))?.sessionId !== undefined, "the session");
  return run;
}

function bin(): string {
  return join(service.workspace.home, "bin");
}

/** A claude that is found, and can do nothing. */
function standIn(): void {
  mkdirSync(bin(), { recursive: true });
  const file = join(bin(), "claude");
  writeFileSync(file, '#!/bin/sh\necho "2.1.325 (Claude Code)"\n');
  chmodSync(file, 0o755);
}

/** What claude would have written of one turn. */
function claudeSession(id: string, prompt: string, answer: string): void {
  const folder = join(
    service.workspace.home,
    ".claude/projects",
    service.workspace.path.replaceAll(/[^A-Za-z0-9]/g, "-"),
  );
  mkdirSync(folder, { recursive: true });
  const common = {
    sessionId: id,
    cwd: service.workspace.path,
    version: "2.1.325",
    isSidechain: false,
    userType: "external",
  };
  const file = join(folder, `${id}.jsonl`);
  const last = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1)!).uuid as string)
    : null;
  const uuids = [crypto.randomUUID(), crypto.randomUUID()];
  const lines = [
    { ...common, parentUuid: last, uuid: uuids[0], type: "user", message: { role: "user", content: prompt } },
    {
      ...{ ...common, parentUuid: uuids[0], uuid: uuids[1], type: "assistant" },
      message: {
        id: `msg_${uuids[1]}`,
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [{ type: "text", text: answer }],
        stop_reason: "end_turn",
      },
    },
  ];
  appendFileSync(
    file,
    lines.map((line) => `${JSON.stringify({ ...line, timestamp: new Date().toISOString() })}\n`).join(""),
  );
}

/** The processes that carry out a run, children first. */
/** As if the time had passed in which a host must say that it is there. */
function leaseIsOver(run: string): void {
  const database = openDatabase(join(service.workspace.config, "runs/runs.db"));
  const { changes } = database.prepare("UPDATE runs SET deadline = 0 WHERE id = ?").run(run);
  database.close();
  expect(changes).toBe(1);
}

function hostsOf(run: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return command.includes(run) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}
