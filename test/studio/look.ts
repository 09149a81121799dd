// Pictures of the components, to be looked at: node scripts/run-ts.mjs test/studio/look.ts FOLDER
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bundleGallery, openBrowser, openGallery } from "./gallery-page.ts";

export async function main([folder = "."]: string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const bundle = await bundleGallery();
  const browser = await openBrowser();
  try {
    for (const dark of [false, true]) {
      const name = dark ? "dark" : "light";
      const page = await openGallery(browser, bundle, { dark });
      await page.evaluate("showGallery()");
      await page.waitForTimeout(300);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width: 820, height });
      for (let y = 0; y < height; y += 1100)
        await page.screenshot({
          path: join(folder, `gallery-${name}-${y / 1100}.png`),
          clip: { x: 0, y, width: 820, height: Math.min(1100, height - y) },
        });
      await page.setViewportSize({ width: 1000, height: 760 });
      await page.evaluate("showShort(true)");
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `timeline-${name}.png`) });
      const phone = await openGallery(browser, bundle, { dark, width: 390, height: 844 });
      await phone.evaluate("showShort(true)");
      await phone.waitForTimeout(300);
      await phone.screenshot({ path: join(folder, `phone-${name}.png`) });
    }
  } finally {
    await browser.close();
  }
}
