// What stands beside the timeline, in a real browser: undoing a file, comparing two runs, settings, outputs of any length.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestService } from "../serve/service-support.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";

const service = new TestService();
let browser: Browser;
let page: Page;
let errors: string[];

describe.skipIf(noChromium)(orSkipped("views beside the timeline", noChromium), () => {
  beforeAll(async () => {
    service.workspace.file("a.txt", "one\n");
    [browser] = await Promise.all([openBrowser(), service.start()]);
    ({ page, errors } = await openStudio(browser, service));
    page.setDefaultTimeout(30_000);
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  it("the studio undoes and restores the changes of one file", async () => {
    const id = await run("Write both", [
      {
        calls: [
          { name: "Write", args: { path: "a.txt", contents: "two\n" } },
          { name: "Write", args: { path: "b.txt", contents: "new\n" } },
        ],
      },
      { text: "Both are written." },
    ]);
    await visit(`/sessions/cursor/${id}/changes`);
    const changed = (name: string) => page.locator(".changed", { hasText: name });
    await changed("a.txt").getByRole("button", { name: "Undo" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
    await page.getByText("a.txt is as it was before turn 1").waitFor();
    expect(text("a.txt")).toBe("one\n");
    expect(text("b.txt")).toBe("new\n");
    await changed("a.txt").getByRole("button", { name: "bring it back" }).click();
    await page.getByText("a.txt is changed again").waitFor();
    expect(text("a.txt")).toBe("two\n");
    // A file that was not there before goes.
    await changed("b.txt").getByRole("button", { name: "Undo" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
    await page.getByText("b.txt is as it was before turn 1").waitFor();
    expect(existsSync(join(service.workspace.path, "b.txt"))).toBe(false);
    // The conversation stays.
    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    await page.getByText("Both are written.", { exact: true }).waitFor();
  });

  it("the studio compares two runs of the same task", async () => {
    const task = "Name the number";
    const say = (contents: string, answer: string) => [
      { calls: [{ name: "Write", args: { path: `${contents}.txt`, contents: `${contents}\n` } }] },
      { text: answer },
    ];
    const first = await run(task, say("seven", "It is **seven**."));
    const second = await run(task, say("eight", "It is eight."));
    await visit(`/sessions/cursor/${first}`);
    await page.getByLabel("More").click();
    await page.getByRole("button", { name: "Compare with another session" }).click();
    // The other run of the same task is offered first.
    await page.locator(".choose .row").first().click();
    await page.waitForURL(new RegExp(`/compare/cursor/${first}/cursor/${second}$`));
    const columns = (index: number) => page.locator(".pair").nth(index).locator(":scope > div");
    await page.getByText("It is eight.").waitFor();
    expect(await columns(2).allTextContents()).toEqual(["It is seven.", "It is eight."]);
    const figures = await columns(1).allTextContents();
    for (const each of figures) expect(each).toMatch(/Outcome.*done.*Time.*Cost.*Changes1 file \+1/s);
    const eight = page.locator(".changed", { hasText: "eight.txt" });
    expect(await eight.locator(".pair > div").allTextContents()).toEqual([
      "Not changed.",
      expect.stringContaining("eight"),
    ]);
    // Below each other, each part says whose it is.
    await page.setViewportSize({ width: 390, height: 780 });
    const labels = (await columns(2).elementHandles()).map((each) =>
      each.evaluate((element) => getComputedStyle(element as Element, "::before").content),
    );
    expect(await Promise.all(labels)).toEqual([`"1. ${task}"`, `"2. ${task}"`]);
  });

  it("the studio shows and saves settings like config set does", async () => {
    await visit("/");
    await page.keyboard.press(",");
    await page.waitForURL(/\/settings$/);
    const row = (name: string) => page.locator(".setting", { has: page.locator(`code:text-is("${name}")`) });
    await row("retries").getByText("How often a failed request is sent again").waitFor();
    expect(await row("retries").textContent()).toContain("default");
    await page.getByLabel("retries", { exact: true }).fill("7");
    await page.keyboard.press("Enter");
    await page.getByText(/^✓ retries = 7/).waitFor();
    const file = join(service.workspace.config, "courser.json");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ retries: 7 });
    // What is wrong is said, and nothing is saved.
    await page.getByLabel("retries", { exact: true }).fill("many");
    await page.keyboard.press("Enter");
    await page.getByText(/'retries' must be an integer/).waitFor();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ retries: 7 });
    await page.getByRole("button", { name: "Reset retries" }).click();
    await page.getByText(/retries was removed/).waitFor();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({});
    await page.getByLabel("approvalMode").selectOption("auto-review");
    await page.getByText(/^✓ approvalMode = auto-review/).waitFor();
    // What has commands of its own is only shown.
    expect(await row("permissions.deny").getByRole("textbox").count()).toBe(0);
    await row("permissions.deny").getByText("courser permissions deny").waitFor();
  });

  it("the service refuses settings without the token and from other origins", async () => {
    const address = `http://127.0.0.1:${service.info.port}/api/settings`;
    const body = JSON.stringify({ name: "retries", value: "9" });
    const headers = { "Content-Type": "application/json" };
    expect((await fetch(address, { method: "PATCH", headers, body })).status).toBe(401);
    const known = { ...headers, Authorization: `Bearer ${service.info.token}` };
    const foreign = { ...known, Origin: "http://evil.test" };
    expect((await fetch(address, { method: "PATCH", headers: foreign, body })).status).toBe(403);
    const unknown = JSON.stringify({ name: "retires", value: "9" });
    const refused = await fetch(address, { method: "PATCH", headers: known, body: unknown });
    expect(refused.status).toBe(409);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toContain("Did you mean retries?");
  });

  it("the studio opens a long output in a pane that renders only a few lines at a time", async () => {
    service.workspace.file("long.txt", Array.from({ length: 9000 }, (_, at) => `row ${at + 1}\n`).join(""));
    const id = await run("Print", [
      { calls: [{ name: "Shell", args: { command: "cat long.txt" } }] },
      { text: "It is printed." },
    ]);
    await visit(`/sessions/cursor/${id}`);
    await page.getByRole("group", { name: /^Bash/ }).locator("summary").first().click();
    await page.locator(".cr-more > summary").first().click();
    const pane = page.getByRole("region", { name: /more lines/ });
    await pane.waitFor();
    const lines = () => pane.locator(".cr-line").count();
    expect(await lines()).toBeLessThan(200);
    await pane.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect
      .poll(async () => (await pane.locator(".cr-line").last().textContent())?.trim())
      .toBe(await lastLine(id));
    expect(await lines()).toBeLessThan(200);
    expect(errors).toEqual([]);
  });
});

function text(name: string): string {
  return readFileSync(join(service.workspace.path, name), "utf8");
}

async function visit(path: string): Promise<void> {
  await page.goto(`http://127.0.0.1:${service.info.port}${path}`);
  await page.locator("#main").waitFor();
}

/** The id of its session, once it is over. */
async function run(prompt: string, replies: unknown): Promise<string> {
  const body = {
    workspace: service.workspace.path,
    prompt: { text: prompt },
    model: service.script(replies),
    force: true,
  };
  const { id } = (await service.call("POST", "/api/runs", body)).body as { id: string };
  await service.over(id);
  return (await service.fleet.run(id))!.sessionId!;
}

/** Of what the command printed, as it was kept. */
async function lastLine(id: string): Promise<string> {
  const { items } = (await service.call("GET", `/api/sessions/cursor/${id}/events?last=1`)).body;
  const end = items.find(({ event }: any) => event.type === "tool_end").event;
  const { interleavedOutput, stdout } = end.outcome.value;
  return (interleavedOutput || stdout).trim().split("\n").at(-1);
}
