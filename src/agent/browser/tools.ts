// The browser tools of the agent: open, snapshot, click, type, screenshot. On the stream they are calls of the MCP server `browser`.
import * as v from "valibot";
import type { JsonObject } from "../../json/object.ts";
import { orAborted } from "../../net/or-aborted.ts";
import type { Need } from "../../policy/need.ts";
import { mcpOutcome, mcpWireArgs } from "../../protocol/mcp-wire.ts";
import { NotRun } from "../../protocol/unless-stopped.ts";
import { oneLine } from "../../text/one-line.ts";
import { tool } from "../tools/define.ts";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "../tools/tool.ts";
import { DevtoolsError } from "./devtools.ts";
import { type Browser, hostAndPort } from "./index.ts";
import type { Pages } from "./pages.ts";

const server = "browser";

/** The maximum number of characters of a page that the model receives. */
const maxText = 20_000;

const ref = v.pipe(v.string(), v.description("As the snapshot names it: e12"));

export function createBrowserTools(browser: Browser): readonly Tool[] {
  /** A permitted page may also be acted on; if its host was not approved, because a link led there, it is checked first. */
  const onPage = (): Need[] => {
    const { url } = browser;
    if (url === undefined || !/^https?:/.test(url) || browser.isPermitted(url)) return [];
    return [{ kind: "WebFetch", target: url }];
  };
  const named = <Args extends JsonObject>(name: string) => ({
    name: `${server}-${name}`,
    wire: "mcp",
    mcp: { server, tool: name },
    wireArgs: (args: Args, { callId }: { callId: string }) => ({
      ...mcpWireArgs({ server, tool: name, args, callId }),
    }),
  });
  const work = (context: ToolContext, act: (pages: Pages) => Promise<void>) =>
    carryOut(browser, context, async (pages) => {
      if (browser.url !== undefined && /^https?:/.test(browser.url)) browser.permit(browser.url);
      await act(pages);
      return shownPage(browser, pages, context.resultLimit);
    });
  return [
    tool({
      ...named("open"),
      description:
        "Open a web page in a browser. Answers with an outline of the page; [e12] names what can be clicked or typed into.",
      readOnly: true,
      args: v.object({ url: v.string() }),
      needs: ({ url }) => [{ kind: "WebFetch", target: addressOf(url) }],
      run: ({ url }, context) =>
        carryOut(browser, context, async (pages) => {
          const address = addressOf(url);
          browser.permit(address);
          browser.takeNotes();
          const problem = await pages.open(address, context.signal);
          if (problem !== undefined) throw notOpened(browser, address, problem);
          const { refusals, notes } = browser.takeNotes();
          // A refused page shows the proxy's message, so report it as a refusal, also after a redirect.
          const matchingRefusal = refusals.find((refusal) => [address, pages.url].some((url) => isAbout(refusal, url)));
          if (matchingRefusal !== undefined) throw refused(matchingRefusal);
          return shownPage(browser, pages, context.resultLimit, [...refusals, ...notes]);
        }),
    }),
    tool({
      ...named("snapshot"),
      description: "Outline of the current page.",
      readOnly: true,
      args: v.object({}),
      needs: onPage,
      run: (_args, context) => work(context, async () => {}),
    }),
    tool({
      ...named("click"),
      description: "Click on the page.",
      readOnly: false,
      args: v.object({ ref }),
      spellings: { element: "ref" },
      needs: onPage,
      run: (args, context) => work(context, (pages) => pages.click(args.ref, context.signal)),
    }),
    tool({
      ...named("type"),
      description: "Type into a field, replacing its content.",
      readOnly: false,
      args: v.object({ ref, text: v.string(), submit: v.optional(v.pipe(v.boolean(), v.description("Press Enter"))) }),
      spellings: { element: "ref", value: "text" },
      needs: onPage,
      run: (args, context) =>
        work(context, (pages) => pages.type(args.ref, args.text, args.submit === true, context.signal)),
    }),
    tool({
      ...named("screenshot"),
      description: "Screenshot of the page.",
      readOnly: true,
      args: v.object({ fullPage: v.optional(v.boolean()) }),
      needs: onPage,
      run: ({ fullPage }, context) =>
        carryOut(browser, context, async (pages) => {
          const picture = await pages.screenshot(fullPage === true);
          return {
            outcome: mcpOutcome([{ image: { data: picture.base64, mimeType: picture.mime } }], false),
            text: `The page ${oneLine(pages.url, 300)}`,
            images: [picture],
          };
        }),
    }),
  ];
}

function isAbout(refusal: string, url: string): boolean {
  return URL.canParse(url) && refusal.includes(` ${hostAndPort(new URL(url))}: `);
}

/** Completes an address: `example.com` gets https, `localhost:3000` gets http, since a development server seldom has a certificate. */
export function addressOf(url: string): string {
  const text = url.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:(?!\d+(?:[/?#]|$))/i.test(text);
  const isOwn = /^(localhost|[\d.]+|\[[\da-f:.]+\])(?=[:/?#]|$)/i.test(text);
  const address = hasScheme ? text : `${isOwn ? "http" : "https"}://${text}`;
  return URL.canParse(address) ? new URL(address).href : address;
}

async function carryOut(
  browser: Browser,
  { signal }: ToolContext,
  work: (pages: Pages) => Promise<ToolResult>,
): Promise<ToolResult> {
  let hasBegun = false;
  const begin = (pages: Pages) => {
    hasBegun = true;
    return work(pages);
  };
  try {
    // A page that never answers must not delay the end of the run.
    return await orAborted(browser.use(begin, signal), signal);
  } catch (error) {
    if (signal.aborted && !hasBegun) throw new NotRun();
    if (signal.aborted) throw new ToolFailure("error", { error: "The run was stopped." }, "The run was stopped.");
    if (!(error instanceof DevtoolsError)) throw error;
    const { refusals, notes } = browser.takeNotes();
    const text = [`That did not work: ${error.message}.`, ...refusals, ...notes].join("\n");
    return { outcome: mcpOutcome([{ text: { text } }], true), text };
  }
}

function notOpened(browser: Browser, address: string, problem: string): Error {
  const { refusals, notes } = browser.takeNotes();
  if (refusals.length > 0) return refused(refusals.join(" "));
  if (notes.length > 0) return new DevtoolsError(`${address} was not opened (${problem}). ${notes.join(" ")}`);
  const why = problem === "net::ERR_TUNNEL_CONNECTION_FAILED" ? "its host cannot be reached" : problem;
  return new DevtoolsError(`${address} was not opened: ${why}`);
}

function refused(reason: string): ToolFailure {
  return new ToolFailure("rejected", { reason }, `Not permitted: ${reason}`);
}

async function shownPage(
  browser: Browser,
  pages: Pages,
  resultLimit: number,
  before: readonly string[] = [],
): Promise<ToolResult> {
  const { title, url, text } = await pages.snapshot(Math.min(resultLimit, maxText));
  const { refusals, notes } = browser.takeNotes();
  const notices = [...new Set([...before, ...refusals, ...notes])];
  const page = [
    `Page: ${oneLine(title, 200)} (${oneLine(url, 500)})`,
    text === "" ? "(the page is empty)" : text,
    ...notices.map((line) => `[${oneLine(line, 500)}]`),
  ].join("\n");
  return { outcome: mcpOutcome([{ text: { text: page } }], false), text: page };
}
