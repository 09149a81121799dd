// Converts HTML to Markdown: the main part of a page, with its title.
import { mainContent } from "./main-content.ts";
import { markdownOf } from "./markdown.ts";
import { parseHtml, strippedText } from "./tree.ts";

/** Converts the main content of a page to Markdown. Its links are relative to `url`, unless it has a base element. */
export function htmlToMarkdown(html: string, url: string): { title: string; markdown: string } {
  const page = parseHtml(html);
  if (!page) return { title: "", markdown: strippedText(html) };
  const base = page.base !== undefined && URL.canParse(page.base, url) ? new URL(page.base, url).href : url;
  const text = markdownOf(mainContent(page.body), base);
  const hasTitle = /^# /m.test(text) || page.title === "" || text === "";
  return { title: page.title, markdown: hasTitle ? text : `# ${page.title}\n\n${text}` };
}
