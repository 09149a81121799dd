// A real Chromium on the studio of a real service, as a person would use it.
import { existsSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { TestService } from "../serve/service-support.ts";

const chromium = "/usr/bin/chromium";

export const noChromium = !existsSync(chromium) && "no chromium here";

export async function openBrowser(): Promise<Browser> {
  const playwright = await import("playwright-core");
  return playwright.chromium.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"],
  });
}

export type StudioOptions = {
  path?: string;
  width?: number;
  height?: number;
  colorScheme?: "light" | "dark";
};

export type OpenStudio = { page: Page; context: BrowserContext; requests: string[]; errors: string[] };

/** A tab with its key, as `courser studio` opens it. `requests`: every address that was asked for. */
export async function openStudio(
  browser: Browser,
  { info }: TestService,
  options: StudioOptions = {},
): Promise<OpenStudio> {
  const { path = "/", width = 1360, height = 860, colorScheme = "light" } = options;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(25_000);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  // What the service refuses is told by the page; the browser notes it as well.
  const isRefusal =
    /status of 4\d\d|net::ERR_(CONNECTION|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED|INCOMPLETE|INTERNET_DISCONNECTED)/;
  page.on("console", (message) => {
    if (message.type() === "error" && !isRefusal.test(message.text())) errors.push(message.text());
  });
  await page.goto(`http://127.0.0.1:${info.port}${path}#token=${info.token}`);
  return { page, context, requests, errors };
}
