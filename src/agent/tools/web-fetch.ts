// WebFetch: fetches a web page as Markdown.
import { join } from "node:path";
import * as v from "valibot";
import type { Page } from "../../web/page.ts";
import { SpillFile } from "../output.ts";
import { tool } from "./define.ts";
import { type ToolContext, ToolFailure } from "./tool.ts";

export const webFetch = tool({
  name: "WebFetch",
  wire: "webFetch",
  aliases: ["web_fetch", "fetch", "fetch_url", "mcp_web_fetch"],
  description: "Read a web page, as Markdown. JSON, text and PDF work too.",
  readOnly: true,
  args: v.object({
    url: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
    ),
  }),
  spellings: { uri: "url", link: "url", address: "url" },
  wireArgs: ({ url }, { callId }) => ({ url, toolCallId: callId }),
  needs: ({ url }) => [{ kind: "WebFetch", target: url }],
  async run({ url }, context) {
    const page = await fetchFor(url, context);
    const markdown = page.isTruncated ? `${page.markdown}\n\n[The page is truncated here.]` : page.markdown;
    return { outcome: { kind: "success", value: { url, markdown } }, text: formatPage(page, markdown, context) };
  },
});

async function fetchFor(url: string, { web, signal }: ToolContext): Promise<Page> {
  const { fetchPage, GuardRefusal, NetError, PageError } = await import("../../web/page.ts");
  if (!web) throw fetchFailure(url, "There is no web access here.");
  const { mode, rules, env, pages } = web;
  try {
    // The call was permitted, so its origin is too. Redirect targets are checked again.
    return await fetchPage(url, { mode, rules, env, signal, cache: pages, permitted: [new URL(url).origin] });
  } catch (error) {
    if (error instanceof GuardRefusal) {
      const advice = error.verdict === "ask" ? " If it is needed, fetch that address directly." : "";
      throw new ToolFailure("rejected", { reason: error.message }, `Not permitted: ${error.message}${advice}`);
    }
    if (signal.aborted) throw fetchFailure(url, "The run was stopped.");
    if (error instanceof NetError || error instanceof PageError) throw fetchFailure(url, error.message);
    throw error;
  }
}

function fetchFailure(url: string, error: string): ToolFailure {
  return new ToolFailure("error", { url, error }, `${url} could not be read: ${error}`);
}

function formatPage({ url, finalUrl }: Page, markdown: string, context: ToolContext): string {
  const from = withoutPart(finalUrl) === withoutPart(url) ? "" : `[From ${finalUrl}]\n\n`;
  if (markdown.trim() === "") return `${from}The page has no text. It may need a browser to show any.`;
  const room = context.resultLimit - 1000;
  if (markdown.length <= room) return from + markdown;
  return `${from}${markdown.slice(0, room)}\n\n[${markdown.length - room} more characters ${saveRest(markdown, context)}]`;
}

function withoutPart(url: string): string {
  return new URL(url).href.replace(/#.*$/s, "");
}

/** Saves a long page next to the long outputs of commands, where Read can open it. */
function saveRest(markdown: string, { background, sessionId, callId }: ToolContext): string {
  const name = `page-${Date.now().toString(36)}-${callId.replace(/\W+/g, "").slice(-12)}.md`;
  const file = new SpillFile(join(background.outputFolder(sessionId), name));
  file.write(Buffer.from(markdown));
  file.end();
  return file.isThere ? `are in ${file.path}: Read or Grep it.` : "were omitted.";
}
