// A browser for the agent: an empty profile, every connection through a proxy
// that checks it, removed with the run. Started when the first page is opened.
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeAddresses, judgeUrl, type NetworkSituation } from "../../policy/network.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";
import { redactedStart } from "../../redact/shorten.ts";
import { isAlive } from "../../store/file-lock.ts";
import { list } from "../../text/words.ts";
import { type HostJudge, type HostProxy, startHostProxy, type Target } from "../host-proxy.ts";
import type { ProcessRunner } from "../process.ts";
import { Devtools, DevtoolsError } from "./devtools.ts";
import { Pages } from "./pages.ts";

export type BrowserOptions = NetworkSituation & {
  /** The path of the browser's executable. */
  program: string;
  processes: ProcessRunner;
  env: NodeJS.ProcessEnv;
  warn(message: string): void;
};

export interface Browser {
  /** The URL of the current page; undefined if there is none. */
  readonly url: string | undefined;
  /** Whether the user or a rule has approved this host before. Acting on its page then needs no further question. */
  isPermitted(url: string): boolean;
  permit(url: string): void;
  /** Runs one action at a time, since there is one page. Starts the browser if needed. */
  use<Result>(work: (pages: Pages) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  /** Returns refused connections, and what the page did on its own, since the last call. */
  takeNotes(): { refusals: string[]; notes: string[] };
  end(): Promise<void>;
}

type RunningBrowser = {
  proxy: HostProxy;
  pages: Pages;
  hasEnded: boolean;
  /** The last lines of the browser's output, once it has ended. */
  said: string;
  /** Ends the browser if it still runs, and removes its profile. */
  remove(): Promise<void>;
};

/** Limit per connection: an endless response must not fill the memory. */
const maxBytes = 128 * 2 ** 20;

export function createBrowser(options: BrowserOptions): Browser {
  const permitted = new Set<string>();
  let running: RunningBrowser | undefined;
  let hasWarned = false;
  let hasEnded = false;
  let last: Promise<unknown> = Promise.resolve();

  const open = async (): Promise<Pages> => {
    if (hasEnded) throw new DevtoolsError("the run has ended");
    if (running && !running.hasEnded) return running.pages;
    await running?.remove();
    if (!hasWarned && isRoot())
      options.warn("The browser runs without its own sandbox, because you are root. Run as another user to enable it.");
    hasWarned = true;
    running = await start(options, permitted);
    try {
      await running.pages.begin();
      return running.pages;
    } catch (error) {
      await running.remove();
      throw new DevtoolsError(`${options.program} could not be started: ${running.said || (error as Error).message}`);
    }
  };
  return {
    get url() {
      return running?.hasEnded === false ? running.pages.url : undefined;
    },
    isPermitted: (url) => URL.canParse(url) && permitted.has(hostAndPort(new URL(url))),
    permit: (url) => void permitted.add(hostAndPort(new URL(url))),
    use(work, signal) {
      const done = last.then(async () => {
        const pages = await unlessStopped(signal, open);
        return unlessStopped(signal, () => work(pages));
      });
      last = done.catch(() => {});
      return done;
    },
    takeNotes: () => ({ refusals: running?.proxy.takeRefusals() ?? [], notes: running?.pages.takeNotes() ?? [] }),
    async end() {
      hasEnded = true;
      await running?.remove();
    },
  };
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}

async function start(options: BrowserOptions, permitted: ReadonlySet<string>): Promise<RunningBrowser> {
  const { program, processes, env } = options;
  const proxy = await startHostProxy({ judge: judgeByRules(options, permitted), isSilent: true, maxBytes, env });
  removeLeftProfiles();
  const profile = mkdtempSync(join(profilesFolder(), `${profileName}${process.pid}-`));
  let devtools: Devtools | undefined;
  const child = processes.start({
    command: [program, ...flagsOf(profile), ...(isRoot() ? ["--no-sandbox"] : []), "about:blank"],
    cwd: profile,
    env: environmentOf(env, profile),
    keepBytes: 16_384,
    onChannel: (chunk) => devtools?.receive(chunk),
    graceMs: 1000,
  });
  devtools = new Devtools(
    (text) => child.write(text),
    () => child.stop(),
  );
  const state: RunningBrowser = {
    proxy,
    pages: new Pages(devtools, `http://127.0.0.1:${proxy.port}`),
    hasEnded: false,
    said: "",
    async remove() {
      child.stop();
      await child.ended.catch(() => {});
      await proxy.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
  const ended = (why: string) => {
    state.hasEnded = true;
    state.said = why;
    devtools?.end(new DevtoolsError(`the browser has ended. ${why}`.trim()));
  };
  child.ended.then(
    ({ stderr }) => ended(lastLines(stderr)),
    (error: Error) => ended(error.message),
  );
  return state;
}

const profileName = "courser-browser-";

/** The longest folder in which a profile's socket paths still fit: a socket path has about a hundred characters. */
const maxFolderLength = 30;

function profilesFolder(): string {
  const usual = tmpdir();
  return usual.length > maxFolderLength && existsSync("/tmp") ? "/tmp" : usual;
}

/** Removes the profiles of runs that were killed; their browsers are gone already. */
function removeLeftProfiles(): void {
  const folder = profilesFolder();
  for (const name of readdirSync(folder)) {
    const pid = new RegExp(`^${profileName}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isDirectory() && stats.uid === process.getuid?.()) rmSync(path, { recursive: true, force: true });
    } catch {
      // Another process is removing the same profile.
    }
  }
}

function lastLines(text: string): string {
  return redactedStart(text.trim().split("\n").slice(-3).join(" "), 600);
}

/**
 * Applies the checks of web fetches: the rules to the URL, then to every address of its host. Where the rules would ask, hosts that the
 * user has approved pass.
 */
function judgeByRules(situation: NetworkSituation, approvedHosts: ReadonlySet<string>): HostJudge {
  const urlOf = ({ host, port }: Target) => {
    const name = host.includes(":") ? `[${host}]` : host;
    return `${port === 443 ? "https" : "http"}://${name}:${port}/`;
  };
  return {
    who: "The browser",
    name(target) {
      const address = urlOf(target);
      const { verdict, reasons } = judgeUrl(address, situation);
      const isOpen = verdict === "allow" || (verdict === "ask" && approvedHosts.has(hostAndPort(new URL(address))));
      return isOpen ? undefined : reasons.join(" ");
    },
    addresses(target, addresses) {
      const { verdict, reasons } = judgeAddresses(new URL(urlOf(target)), addresses, situation);
      return verdict === "allow" ? undefined : reasons.join(" ");
    },
  };
}

/** Returns the browser's flags. Its own background requests get a dead proxy and no DNS; pages use a proxy of their own. */
function flagsOf(profile: string): string[] {
  return [
    "--headless=new",
    "--remote-debugging-pipe",
    `--user-data-dir=${profile}`,
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--deny-permission-prompts",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,HttpsUpgrades,InterestFeedContentSuggestions,MediaRouter,OptimizationHints,Translate",
    "--disable-gpu",
    "--disable-sync",
    "--hide-scrollbars",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,900",
  ];
}

/** Sets HOME to the browser's temporary profile, so that the browser cannot read the data of the user's own browser. */
function environmentOf(env: NodeJS.ProcessEnv, profile: string): Record<string, string> {
  const keptVariables = list("PATH LANG LC_ALL LD_LIBRARY_PATH SYSTEMROOT FONTCONFIG_PATH FONTCONFIG_FILE");
  return {
    ...Object.fromEntries(keptVariables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    HOME: profile,
    TMPDIR: profile,
    XDG_CONFIG_HOME: join(profile, "config"),
    XDG_CACHE_HOME: join(profile, "cache"),
  };
}
