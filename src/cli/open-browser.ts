// Opens an address in the user's browser. The browser is started directly, never through a shell.
import { startDetached } from "../process/detached.ts";

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL in the browser. Returns false if it could not be started, or would not appear on this screen. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): boolean {
  if (env["SSH_CONNECTION"] || env["NO_OPEN_BROWSER"]) return false;
  const opener = openers[process.platform];
  const hasScreen = opener !== undefined || Boolean(env["DISPLAY"] || env["WAYLAND_DISPLAY"]);
  return startDetached([...(opener ?? ["xdg-open"]), url], { cwd: process.cwd(), env }) !== undefined && hasScreen;
}
