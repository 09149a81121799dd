// `npm run long -- pictures-studio [-- name…]`: the pictures of the studio in docs/, made from a real service with scripted runs.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { trust } from "../../src/store/trust.ts";
import { TestService } from "../serve/service-support.ts";
import { repository } from "../support/run-cli.ts";
import { openBrowser, openStudio, type StudioOptions } from "./browser.ts";
import { prepareDemo } from "./demo.ts";

type Shot = StudioOptions & { name: string; before?(page: import("playwright-core").Page): Promise<void> };

export async function main(wanted: readonly string[]): Promise<void> {
  const service = new TestService();
  const folder = join(repository, "docs/pictures");
  mkdirSync(folder, { recursive: true });
  await service.start();
  const browser = await openBrowser();
  try {
    const demo = await prepareDemo(service);
    trust(service.workspace.config, demo.workspace);
    const session = `/sessions/cursor/${demo.waiting.sessionId}`;
    const before: Shot["before"] = (page) => page.locator(".box .cr-meter").waitFor();
    const drawn: Shot["before"] = async (page) => {
      await page.locator(".cr-days").waitFor();
      await page.getByLabel("Folder").selectOption({ label: "api/" });
    };
    const shots: Shot[] = [
      { name: "studio-light", path: session, before },
      { name: "studio-dark", path: session, before, colorScheme: "dark" },
      { name: "studio-phone", path: session, before, width: 390, height: 780 },
      { name: "studio-board-light", path: "/", before: drawn },
      { name: "studio-board-dark", path: "/", before: drawn, colorScheme: "dark" },
      { name: "studio-board-phone", path: "/", before: drawn, width: 390, height: 780 },
      { name: "studio-question", path: "/inbox", colorScheme: "dark", width: 1180, height: 500 },
      {
        name: "studio-composer",
        path: "/new",
        height: 480,
        async before(page) {
          const text = "Cover the retry policy with tests, as @test/upload.test.ts does for uploads";
          await page.getByLabel("Folder").selectOption({ label: "api/" });
          await page.getByLabel("What should be done?").fill(text);
          await page.getByLabel("Mode", { exact: true }).selectOption("plan");
          await page.getByRole("button", { name: "Worktree" }).click();
        },
      },
      {
        name: "studio-review",
        path: `/sessions/cursor/${demo.finished.sessionId}/changes`,
        async before(page) {
          await page.locator(".changed .cr-change").nth(2).hover();
          await page.locator(".changed .cr-line-button").nth(2).click();
          await page.getByLabel("Comment on this line").fill("Does this close the file when the request is aborted?");
        },
      },
      {
        name: "studio-compare",
        path: `/compare/cursor/${demo.finished.sessionId}/cursor/${demo.waiting.sessionId}`,
        before: (page) => page.locator(".pair .cr-change").first().waitFor(),
      },
      {
        name: "studio-settings",
        path: "/settings",
        colorScheme: "dark",
        before: (page) => page.locator(".setting input").first().waitFor(),
      },
      {
        name: "studio-replay",
        path: `/sessions/cursor/${demo.finished.sessionId}/replay`,
        colorScheme: "dark",
        async before(page) {
          await page.getByRole("slider").fill("17");
          await page.getByRole("slider").blur();
          await page.locator(".files-then button", { hasText: "store.ts" }).click();
        },
      },
    ];
    for (const { name, before, ...options } of shots) {
      if (wanted.length > 0 && !wanted.some((each) => name.includes(each))) continue;
      const { page, context, errors } = await openStudio(browser, service, options);
      await page.locator("#main").waitFor();
      if (options.path?.startsWith("/sessions"))
        await page.locator(".cr-row:visible, .changed, .replay").first().waitFor();
      await page.waitForTimeout(500);
      await before?.(page);
      await page.waitForTimeout(300);
      const file = join(folder, `${name}.png`);
      await page.screenshot({ path: file });
      press(file);
      console.log(name, errors.length > 0 ? errors : "");
      await context.close();
    }
  } finally {
    await browser.close();
    await service.remove();
  }
}

/** Where there is a program for it, pictures are made smaller. */
function press(file: string): void {
  try {
    execFileSync("pngquant", ["--force", "--skip-if-larger", "--output", file, "--quality", "70-95", file]);
  } catch {}
}
