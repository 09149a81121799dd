// Parses HTML into a tree of elements and texts. Takes linear time for any input: excessive nesting is refused.
import { Parser } from "htmlparser2";
import { collapsed } from "../../text/one-line.ts";
import { words } from "../../text/words.ts";

export type Element = {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: (Element | string)[];
};

/**
 * Pages stay below a hundred. The parser scans all open elements at each end tag, and code that walks the tree recurses as deep as it is.
 */
const deepest = 512;

/** Elements whose text is not part of the page. They are left out of the tree. */
const unread = words(`
  script style template noscript svg canvas iframe object embed audio video map select datalist input textarea button
  progress meter dialog link meta`);

/** `title` and `base` come from the head, which is not part of the tree. Undefined if the input is nested too deeply. */
export type HtmlPage = { title: string; base: string | undefined; body: Element };

export function parseHtml(html: string): HtmlPage | undefined {
  const body: Element = { name: "body", attributes: {}, children: [] };
  const open: Element[] = [body];
  let title: string | undefined;
  let base: string | undefined;
  let inTitle = false;
  let skipping = 0;
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > deepest) throw new TooDeep();
        if (skipping > 0 || isUnread(name, open.at(-1)!) || isHidden(name, attributes)) {
          skipping++;
          return;
        }
        if (name === "title" && title === undefined) {
          inTitle = true;
          title = "";
        }
        if (name === "base") base ??= attributes["href"];
        const element: Element = { name, attributes, children: [] };
        if (name !== "title" && name !== "base") open.at(-1)!.children.push(element);
        open.push(element);
      },
      ontext(text) {
        if (skipping > 0) return;
        if (inTitle) title += text;
        else open.at(-1)!.children.push(text);
      },
      onclosetag(name) {
        depth--;
        if (skipping > 0) {
          skipping--;
          return;
        }
        if (name === "title") inTitle = false;
        open.pop();
      },
    },
    { decodeEntities: true },
  );
  try {
    parser.end(html);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
  return { title: collapsed(title ?? ""), base, body };
}

class TooDeep extends Error {}

/** Returns whether an element is skipped. A button in a heading is kept, since it folds the section below. */
function isUnread(name: string, around: Element): boolean {
  return unread.has(name) && !(name === "button" && /^h[1-6]$/.test(around.name));
}

/**
 * Reports whether a reader of the page cannot see the element; the model should
 * not read it either. The page as a whole is often hidden until a script has run.
 */
function isHidden(name: string, attributes: Record<string, string>): boolean {
  if (name === "html" || name === "body") return false;
  return (
    "hidden" in attributes ||
    attributes["aria-hidden"] === "true" ||
    /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(attributes["style"] ?? "")
  );
}

/** Removes the tags from markup, for input that is nested too deeply to be a page. */
export function strippedText(html: string): string {
  const parts: string[] = [];
  for (let at = 0; at < html.length; ) {
    const start = html.indexOf("<", at);
    if (start === -1) {
      parts.push(html.slice(at));
      break;
    }
    parts.push(html.slice(at, start));
    const end = html.indexOf(">", start);
    if (end === -1) break;
    at = end + 1;
  }
  return parts
    .filter((part) => part.trim() !== "")
    .join("\n")
    .trim();
}

export function isElement(node: Element | string): node is Element {
  return typeof node !== "string";
}
