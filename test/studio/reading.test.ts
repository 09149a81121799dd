// Reading in the studio: links into long sessions, going elsewhere and coming back, what cannot be shown, narrow screens.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestService } from "../serve/service-support.ts";
import { orSkipped } from "../support/skipping.ts";
import { noChromium, openBrowser, openStudio } from "./browser.ts";
import { writeLongSession } from "./long-session.ts";

const service = new TestService();
let browser: Browser;
let page: Page;
let errors: string[];
let long = "";

describe.skipIf(noChromium)(orSkipped("reading in the studio", noChromium), () => {
  beforeAll(async () => {
    const { config, path } = service.workspace;
    long = `/sessions/cursor/${writeLongSession({ configDir: config, workspace: path }, 2000)}`;
    [browser] = await Promise.all([openBrowser(), service.start()]);
    ({ page, errors } = await openStudio(browser, service));
  });

  afterAll(async () => {
    await browser?.close();
    await service.remove();
  });

  const topOf = (id: string) =>
    page.evaluate((id) => document.getElementById(id)?.getBoundingClientRect().top ?? -1, id);
  const firstRead = () =>
    page.evaluate(() => {
      const edge = document.querySelector(".cr-scroll")!.getBoundingClientRect().top;
      return [...document.querySelectorAll("[data-row]")].find((row) => row.getBoundingClientRect().top >= edge)?.id;
    });

  it("the studio opens a link to a turn far from the end of a long session", async () => {
    await page.evaluate((address) => location.assign(address), `${long}#turn-3`);
    await page.waitForFunction(() => document.activeElement?.id === "turn-3");
    expect(await topOf("turn-3")).toBeLessThan(200);
    await expect.poll(() => page.title()).toMatch(/^Step 1: .* · Courser$/);
  });

  it("the studio restores reading position and draft", async () => {
    await page.locator(".cr-scroll").evaluate((scroller) => {
      scroller.scrollTop += 4000;
    });
    await page.waitForTimeout(100);
    const read = await firstRead();
    await page.getByLabel("Next prompt").fill("half a thought");
    await page
      .getByRole("link", { name: /^Review/ })
      .first()
      .click();
    await page.getByText("No file was changed").first().waitFor();
    await page.goBack();
    await expect.poll(firstRead).toBe(read);
    expect(await page.getByLabel("Next prompt").inputValue()).toBe("half a thought");
    await page.getByRole("link", { name: "Inbox" }).first().click();
    await page.getByText("No open questions").waitFor();
    expect(await page.locator(".item[aria-current]").count()).toBe(0);
    await page.locator(".item").first().click();
    await page.locator(".item[aria-current=page]").waitFor();
    await expect.poll(firstRead).toBe(read);
    expect(await page.getByLabel("Next prompt").inputValue()).toBe("half a thought");
    await page.getByLabel("Next prompt").fill("");
  });

  it("the studio says why a session is unreadable, and can retry", async () => {
    await page.evaluate((address) => location.assign(address), "/sessions/cursor/00000000-0000-4000-8000-000000000000");
    await page.getByRole("heading", { name: "This cannot be shown" }).waitFor();
    expect(await page.getByRole("link", { name: "Replay" }).count()).toBe(0);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(/^Session not found/).waitFor();
  });

  it("the studio loads content once the service is back, and keeps unsent text", async () => {
    await page.evaluate((address) => location.assign(address), long);
    await page.locator(".cr-row").first().waitFor();
    await page.context().setOffline(true);
    await page.getByLabel("Next prompt").fill("not sent");
    await page.keyboard.press("Enter");
    await page.getByText("The service does not respond.").first().waitFor();
    expect(await page.getByLabel("Next prompt").inputValue()).toBe("not sent");
    await page.getByLabel("Next prompt").fill("");
    await page.getByRole("link", { name: "Courser" }).first().click();
    await page.locator(".item").first().click();
    await page.getByRole("heading", { name: "This cannot be shown" }).waitFor();
    await page.context().setOffline(false);
    await page.locator(".cr-row").first().waitFor();
  });

  it("the studio prints a session completely and restores the view afterwards", async () => {
    await page.evaluate((address) => location.assign(address), long);
    await page.locator(".cr-row").first().waitFor();
    const rows = () => page.locator("[data-row]").count();
    await expect.poll(rows).toBeLessThan(100);
    await page.waitForFunction(() => Number(document.querySelector("[data-row]")?.getAttribute("aria-setsize")) > 1000);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await rows()).toBeGreaterThan(1000);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await expect.poll(rows).toBeLessThan(100);
  });

  it("the studio copies code and answers as they were written", async () => {
    const answer = 'Use this:\n\n```ts\nconst a = "<b>";\n```';
    const started = await service.call("POST", "/api/runs", {
      ...{ workspace: service.workspace.path, prompt: { text: "Show me" }, model: service.script([{ text: answer }]) },
    });
    const { sessionId } = await service.over(started.body.id);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate((address) => location.assign(address), `/sessions/cursor/${sessionId}`);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByLabel("Copy the code").click();
    await page.getByLabel("Copied").waitFor();
    expect(await copied()).toBe('const a = "<b>";');
    await page.locator(".cr-assistant").hover();
    await page.getByLabel("Copy this answer").click();
    await expect.poll(copied).toBe(answer);
  });

  it("a replay in the studio shows what commands did to files", async () => {
    const command = "echo from-a-command > noted.txt";
    const started = await service.call("POST", "/api/runs", {
      ...{ workspace: service.workspace.path, prompt: { text: "Note it" }, force: true },
      model: service.script([{ calls: [{ name: "Shell", args: { command } }] }, { text: "Noted." }]),
    });
    const { sessionId, end } = await service.over(started.body.id);
    expect(end).toMatchObject({ outcome: "finished", text: "Noted." });
    expect(readFileSync(join(service.workspace.path, "noted.txt"), "utf8")).toBe("from-a-command\n");
    await page.evaluate((address) => location.assign(address), `/sessions/cursor/${sessionId}/replay`);
    const moment = page.getByRole("slider");
    await page.getByText("Note it").first().waitFor(); // it begins where something is seen
    expect(await page.getByRole("button", { name: "noted.txt" }).count()).toBe(0);
    // What commands changed is loaded after the events, so the end may still move.
    await expect
      .poll(
        async () => {
          await moment.fill(String(await moment.getAttribute("max")));
          return page.getByRole("button", { name: "noted.txt" }).count();
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThan(0);
    await page.getByRole("button", { name: "noted.txt" }).click();
    expect(await page.locator(".file-then").textContent()).toContain("from-a-command");
    await page.getByText("By a command in turn 1").waitFor();
    await page
      .getByRole("link", { name: /^Review/ })
      .first()
      .click();
    await page.locator(".changed", { hasText: "noted.txt" }).getByText("By a command in turn 1.").waitFor();
  });

  it("no part of any studio view is wider than a phone", async () => {
    await page.setViewportSize({ width: 390, height: 780 });
    const run = await service.call("POST", "/api/runs", {
      ...{ workspace: service.workspace.path, prompt: { text: "Wait" } },
      model: service.script([{ text: "Soon.", calls: [{ name: "LS", args: {} }] }, { delayMs: 60_000 }]),
    });
    const session = `/runs/${run.body.id}`;
    for (const address of [session, `${session}/changes`, `${session}/replay`, `${session}/events`, "/new", "/inbox"]) {
      await page.evaluate((address) => location.assign(address), address);
      await page.locator("#main").waitFor();
      if (address === session)
        await page
          .getByRole("img", { name: /^Context:/ })
          .first()
          .waitFor();
      const beyond = await page.evaluate(() =>
        [...document.querySelectorAll("#main *")]
          .filter((each) => each.checkVisibility() && !each.closest(".cr-wide, .files-list, .cr-unseen"))
          .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
          .map((each) => each.outerHTML.slice(0, 120)),
      );
      expect(beyond, address).toEqual([]);
    }
    await service.call("POST", `/api/runs/${run.body.id}/stop`, {});
    expect(errors).toEqual([]);
  });
});
