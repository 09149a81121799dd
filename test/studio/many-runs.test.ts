// Several runs, other agents, failures, another window: what the studio is for, in a real browser.
import { once } from "node:events";
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
import { isTrusted, revokeTrust, trust } from "../../src/store/trust.ts";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { TestService, until } from "../serve/service-support.ts";
import { spawnOwned } from "../support/at-exit.ts";
import { cli } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";

const service = new TestService();
let browser: Browser;
let page: Page;
let errors: string[];
let models: ModelServer;

const shell = (command: string) => ({ name: "Shell", args: { command } });

describe.skipIf(noChromium)(orSkipped("many runs in the studio", noChromium), () => {
  beforeAll(async () => {
    service.workspace.file("src/a.ts", "export const a = 1;\n");
    standIn();
    const calls = { toolCalls: [{ name: "Shell", args: { command: "sleep 60" } }] };
    models = await modelServer([{ ...calls, usage: { input: 100_000, output: 1000 } }]);
    [browser] = await Promise.all([openBrowser(), service.start([], environment())]);
    ({ page, errors } = await openStudio(browser, service));
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
    await models?.stop();
  });

  it("questions of several runs stay separate in the studio, across a restart and in every tab", async () => {
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
    await service.start([], environment());
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

  it("the studio asks before it deletes, like a terminal", async () => {
    await start("Tidy up", [{ calls: [shell("rm -rf src")] }, { text: "Kept." }]);
    const asked = page.getByRole("article", { name: "Tidy up" });
    await asked.getByText("rm -rf src").first().waitFor();
    expect(existsSync(join(service.workspace.path, "src/a.ts"))).toBe(true);
    await asked.getByRole("button", { name: "Deny…" }).click();
    await page.keyboard.press("Enter");
    await asked.waitFor({ state: "detached" });
  });

  it("the studio continues a session with its own agent CLI, even if a search hides it from the list", async () => {
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

  it("the studio shows a session of the terminal, and its growth, within two seconds", async () => {
    const id = "1b1f0a52-5d0e-4b6e-9a54-0e4c56a2b1bb";
    await go("/");
    await isSoonShown("Written elsewhere", (title, at) =>
      claudeSession(`${id.slice(0, -1)}${at}`, title, `The first answer of ${at}.`),
    );
    await page.locator(".left .item", { hasText: "Written elsewhere 1" }).click();
    await page.getByText("The first answer of 1.").waitFor();
    await isSoonShown("The next answer", (text) => claudeSession(`${id.slice(0, -1)}1`, "And now?", text));
    expect(await page.getByText("The first answer of 1.").count()).toBe(1);
    // One that keeps all of its sessions in one database.
    const database = opencodeSession("ses_e10dbd626ffe", "Kept in a database", "The third answer.");
    await page.locator(".left .item", { hasText: "Kept in a database" }).click();
    await page.getByText("The third answer.").waitFor();
    await isSoonShown("Another answer", (text, at) => database.exec(opencodeAnswer("ses_e10dbd626ffe", at + 1, text)));
    database.close();
    // And this program's own, in another window.
    const signal = join(service.workspace.home, "go-on");
    const model = service.script([
      { text: "One.", calls: [shell(`until [ -e ${signal} ]; do sleep 0.05; done`)] },
      { text: "Two." },
    ]);
    const args = [cli, "-p", "--force", "--model", model, "Typed in a terminal"];
    const { path: cwd, env } = service.workspace;
    const terminal = spawnOwned(process.execPath, args, { cwd, env, stdio: "ignore" });
    await page.locator(".left .item", { hasText: "Typed in a terminal" }).click();
    await page.getByText("One.", { exact: true }).waitFor();
    writeFileSync(signal, "");
    await page.getByText("Two.", { exact: true }).waitFor();
    if (terminal.exitCode === null) await once(terminal, "exit");
  });

  it("the studio keeps the prompt of a run that could not start, with the reason and a way to try again", async () => {
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

  it("the studio shows a run's failure once, however it is opened, and can send its prompt again", async () => {
    const error = { code: "MODEL_AUTH_ERROR", message: "The key is not valid." };
    const script = join(service.workspace.home, "failing.json");
    service.workspace.file(script, JSON.stringify([{ error }]));
    const { body } = await service.call("POST", "/api/runs", {
      ...{ workspace: service.workspace.path, prompt: { text: "Try this" }, model: `script:${script}` },
    });
    const { sessionId } = await service.over(body.id);
    for (const address of [`/runs/${body.id}`, `/sessions/cursor/${sessionId}`]) {
      await go(address);
      await page.locator(".cr-failure", { hasText: "The key is not valid." }).waitFor();
      await page.getByRole("button", { name: "Try again" }).waitFor();
      expect(await page.locator(".cr-user").count(), address).toBe(1);
    }
    service.workspace.file(script, JSON.stringify([{ text: "It works now." }]));
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("It works now.", { exact: true }).waitFor();
    expect(await page.locator(".cr-user", { hasText: "Try this" }).count()).toBe(2);
  });

  it("the studio shows a question once, complete, in the card of its call", async () => {
    const options = ["SQLite", "Postgres"].map((label) => ({ id: label, label }));
    const questions = [{ id: "q", prompt: "Where should the queue be?", options }];
    const choices = { name: "AskQuestion", args: { title: "Which database", questions } };
    await go(`/runs/${await start("Choose one", [{ calls: [choices] }, { text: "Chosen." }])}`);
    await page.getByLabel("Postgres").check();
    expect(await page.getByText("Where should the queue be?").count()).toBe(1);
    expect(await page.locator(".cr-waiting").count()).toBe(1);
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("Chosen.", { exact: true }).waitFor();
    const plan = { name: "CreatePlan", args: { name: "One file", plan: "Merge the three files." } };
    await go(`/runs/${await start("Plan one", [{ calls: [plan] }, { text: "Approved." }], { mode: "plan" })}`);
    await page.getByRole("button", { name: "Approve the plan" }).waitFor();
    expect(await page.getByText("Merge the three files.").count()).toBe(1);
    expect(await page.getByText("wants approval").count()).toBe(1);
    await page.getByRole("button", { name: "Approve the plan" }).dblclick();
    await page.getByText("Approved.", { exact: true }).waitFor();
    expect(await page.locator(".toast.bad").count()).toBe(0);
    // A command that does not fit into the line is below it, before it is allowed.
    const run = await start("Remove many", [{ calls: [shell("rm -rf one two three\nrm -rf four five six")] }]);
    await go(`/runs/${run}`);
    await page.locator(".cr-waiting .cr-body", { hasText: "rm -rf four five six" }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await service.over(run);
  });

  it("the studio's search filters only the session list, and hides rows that do not match while it searches", async () => {
    await go("/");
    await page.locator(".left .item", { hasText: "Choose one" }).waitFor();
    const rows = await page.locator(".board .row").count();
    expect(rows).toBeGreaterThan(2);
    let release = () => {};
    const isHeld = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/api/sessions?*search=*", async (route) => {
      await isHeld;
      await route.continue();
    });
    await page.locator(".left input[type=search]").fill("tokens");
    await page.getByText("Searching …").waitFor();
    expect(await page.locator(".left .item").count()).toBe(0);
    release();
    await page.locator(".left .item", { hasText: "Explain the parser" }).waitFor();
    expect(await page.locator(".board .row").count()).toBe(rows);
    await page.unroute("**/api/sessions?*search=*");
    await page.locator(".left input[type=search]").fill("");
    await page.locator(".left .item", { hasText: "Choose one" }).waitFor();
  });

  it("the studio shows the mode in force, and plan mode can be left", async () => {
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
    // The list marks the session at the address of its run as well.
    await go(`/runs/${next.id}`);
    await page.locator(".left .item.chosen", { hasText: "Plan it" }).waitFor();
    await go(`/sessions/cursor/${sessionId}`);
    await expect.poll(() => page.getByLabel("Mode", { exact: true }).inputValue()).toBe("agent");
  });

  it("the studio shows and sends the permission mode, and gives back queued prompts when the run is stopped", async () => {
    const replies = [{ text: "At work.", calls: [shell("sleep 30")] }];
    const run = await start("Take your time", replies, { force: true });
    const other = await openStudio(browser, service, { path: `/runs/${run}` });
    await go(`/runs/${run}`);
    await page.getByText("At work.", { exact: true }).waitFor();
    for (const text of ["taken back", "kept"]) {
      await page.getByLabel("Message to the agent").fill(text);
      await page.keyboard.press("Alt+Enter");
      await other.page.locator(".pending", { hasText: text }).waitFor();
    }
    await other.page.locator(".pending", { hasText: "taken back" }).getByRole("button").click();
    await expect.poll(() => page.locator(".pending").count()).toBe(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText(/^Interrupted after/).waitFor();
    await expect.poll(() => page.getByLabel("Next prompt").inputValue()).toBe("kept");
    const { sessionId } = await service.over(run);
    const permission = page.getByLabel("Permission", { exact: true });
    const sent = async () => {
      await page.getByLabel("Next prompt").press("Enter");
      await until(async () => (await service.fleet.runs({})).some(({ id }) => !known.has(id)), "the next run");
      const [next] = (await service.fleet.runs({})).filter(({ id }) => !known.has(id));
      known.add(next!.id);
      await service.call("POST", `/api/runs/${next!.id}/stop`, {});
      await service.over(next!.id);
      return next!.spec;
    };
    const known = new Set((await service.fleet.runs({})).map(({ id }) => id));
    await expect.poll(() => permission.inputValue()).toBe("force");
    expect(await sent()).toMatchObject({ prompt: { text: "kept" }, request: { force: true } });
    // As well at the address of the session, where no run is open.
    await go(`/sessions/cursor/${sessionId}`);
    await expect.poll(() => permission.inputValue()).toBe("force");
    await permission.selectOption("ask");
    await page.getByLabel("Next prompt").fill("and now ask");
    expect(await sent()).toMatchObject({ prompt: { text: "and now ask" }, request: { force: false } });
    await other.context.close();
  }, 60_000);

  it("the studio shows a session's own changes, not later ones by others", async () => {
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

  it("the studio's live status is accurate, content stays, and waiting prompts show in every tab", async () => {
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

  it("the studio's board says what a run does, for how long and at what cost", async () => {
    const body = { workspace: service.workspace.path, prompt: { text: "Spend some" }, force: true };
    const { body: run } = await service.call("POST", "/api/runs", { ...body, model: "anthropic/claude-sonnet-4-5" });
    await until(() => models.requests.length > 0, "the request");
    await go("/");
    const row = page.locator(".board .row", { hasText: "Spend some" });
    await row.getByText("Bash sleep 60").waitFor();
    await expect
      .poll(() => row.locator(".row-figure").textContent(), { timeout: 12_000 })
      .toMatch(/^\d+:\d\d · \$0\.\d\d$/);
    await service.call("POST", `/api/runs/${run.id}/stop`, {});
    await service.over(run.id);
  });

  it("the studio shows a stopped run as stopped, not failed, and does not count waiting for a person as work", async () => {
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

  it("a replay in the studio starts with an empty timeline", async () => {
    const run = await start("Change it", [
      { calls: [{ name: "Write", args: { path: "late.txt", contents: "x\n" } }] },
      { text: "Changed." },
    ]);
    const { sessionId } = await service.over(run);
    await go(`/sessions/cursor/${sessionId}/replay`);
    await page.getByRole("slider").fill("0");
    expect(await page.getByText("late.txt").filter({ visible: true }).count()).toBe(0);
  });

  it("the studio offers the directory it was started in, which can be trusted", async () => {
    revokeTrust(service.workspace.config, service.workspace.path);
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

  it("the studio's form starts a run with an attached image and an @mentioned file", async () => {
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
    // Also when it is read again, as are pictures that calls returned.
    await go(`/sessions/cursor/${run.sessionId}`);
    await page.locator(".cr-user img").waitFor();
    service.workspace.file("dot.png", Buffer.from(dot, "base64"));
    const calls = ["src/a.ts", "dot.png"].map((path) => ({ name: "Read", args: { path } }));
    const { sessionId } = await service.over(await start("Look at it", [{ calls }, { text: "Seen." }]));
    await go(`/sessions/cursor/${sessionId}`);
    await page
      .getByRole("group", { name: /dot\.png/ })
      .locator("img")
      .waitFor();
  });

  it("the studio lists the directory's files, except those whose names suggest secrets", async () => {
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

  it("in the studio j and k move through the list, and an unknown address gives a page", async () => {
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

  it("the service caches static files, compresses answers, sends error codes, and hides secrets", async () => {
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
    // Agents are asked once, not for each page.
    await service.call("GET", "/api/agents");
    const asked = readFileSync(join(bin(), "asked"), "utf8");
    expect((await service.call("GET", "/api/agents")).status).toBe(200);
    expect(readFileSync(join(bin(), "asked"), "utf8")).toBe(asked);
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

function environment(): Record<string, string> {
  return { ...models.env, PATH: `${bin()}:${process.env["PATH"]}` };
}

function bin(): string {
  return join(service.workspace.home, "bin");
}

/** A claude that is found, and can do nothing. */
function standIn(): void {
  mkdirSync(bin(), { recursive: true });
  const file = join(bin(), "claude");
  writeFileSync(file, `#!/bin/sh\necho asked >> "$(dirname "$0")/asked"\necho "2.1.325 (Claude Code)"\n`);
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

/**
 * What another program writes is shown within two seconds. The best of a few counts, since whatever else the machine does only
 * ever takes longer; but each is shown.
 */
async function isSoonShown(name: string, write: (text: string, at: number) => void): Promise<void> {
  const times: number[] = [];
  while (times.length < 5 && !times.some((ms) => ms <= 2000)) {
    const at = times.length + 1;
    const begun = performance.now();
    write(`${name} ${at}`, at);
    await page.getByText(`${name} ${at}`).first().waitFor();
    times.push(performance.now() - begun);
  }
  expect(Math.min(...times), `${name}: ${times}`).toBeLessThanOrEqual(2000);
}

/** What opencode would have written of one turn. */
function opencodeSession(id: string, prompt: string, answer: string) {
  const folder = join(service.workspace.home, ".local/share/opencode");
  mkdirSync(folder, { recursive: true });
  const database = openDatabase(join(folder, "opencode.db"));
  const times = "time_created integer, time_updated integer";
  database.exec(`CREATE TABLE session (id text, parent_id text, directory text, title text, revert text, ${times});
    CREATE TABLE message (id text, session_id text, data text, ${times});
    CREATE TABLE part (id text, message_id text, session_id text, data text, ${times});
    INSERT INTO message VALUES ('msg_0', '${id}', '{"role":"user"}', 1, 1);
    INSERT INTO part VALUES ('part_0', 'msg_0', '${id}', '{"type":"text","text":"${prompt}"}', 1, 1);
    INSERT INTO session VALUES ('${id}', NULL, '${service.workspace.path}', '${prompt}', NULL, 1, ${Date.now()});
    ${opencodeAnswer(id, 1, answer)}`);
  return database;
}

function opencodeAnswer(id: string, at: number, text: string): string {
  const data = JSON.stringify({ role: "assistant", providerID: "p", modelID: "m" });
  return `INSERT INTO message VALUES ('msg_${at}', '${id}', '${data}', ${at + 1}, ${at + 1});
    INSERT INTO part VALUES ('part_${at}', 'msg_${at}', '${id}', '{"type":"text","text":"${text}"}', ${at + 1}, ${at + 1});
    UPDATE session SET time_updated = ${Date.now() + at};`;
}

/** As if the time had passed in which a host must say that it is there. */
function leaseIsOver(run: string): void {
  const database = openDatabase(join(service.workspace.config, "runs/runs.db"));
  const { changes } = database.prepare("UPDATE runs SET deadline = 0 WHERE id = ?").run(run);
  database.close();
  expect(changes).toBe(1);
}

/** The processes that carry out a run. */
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
