// Finds a browser of the Chromium family, which speaks the DevTools protocol.
import { delimiter, join } from "node:path";
import { isProgram } from "../../process/find-program.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { list } from "../../text/words.ts";

const names = list(`
  chromium chromium-browser google-chrome-stable google-chrome chrome microsoft-edge brave-browser`);

const usualPaths: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ["/usr/bin", "/usr/local/bin", "/snap/bin"].flatMap((folder) => names.map((name) => join(folder, name))),
  darwin: ["Google Chrome", "Chromium", "Microsoft Edge", "Brave Browser"].map(
    (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
  ),
  win32: ["Google\\Chrome\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"].flatMap((end) =>
    ["C:\\Program Files", "C:\\Program Files (x86)"].map((start) => `${start}\\${end}`),
  ),
};

const advice: Partial<Record<NodeJS.Platform, string>> = {
  linux: "Install one, for example: sudo apt install chromium",
  darwin: "Install one, for example: brew install --cask chromium",
  win32: "Install one, for example: winget install Google.Chrome",
};

/** Throws a UserError with installation advice if there is none. */
export function findBrowser(env: NodeJS.ProcessEnv, platform: NodeJS.Platform = process.platform): string {
  const named = env["COURSER_BROWSER"];
  if (named) {
    if (isProgram(named)) return named;
    throw new UserError("BROWSER_MISSING", `COURSER_BROWSER names ${named}, which is not an executable program.`);
  }
  const inPath = (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .flatMap((folder) => names.map((name) => join(folder, name)));
  const found = [...inPath, ...(usualPaths[platform] ?? [])].find(isProgram);
  if (found !== undefined) return found;
  const install = advice[platform] ?? "Install Chromium or Chrome";
  throw new UserError(
    "BROWSER_MISSING",
    `--browser needs Chromium or Chrome, and neither is installed. ${install}, or name one with COURSER_BROWSER=/path/to/chrome`,
  );
}
