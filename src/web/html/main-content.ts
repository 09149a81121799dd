// Finds the main content of a page: removes menus, banners, footers and the like.

import { words } from "../../text/words.ts";
import { type Element, isElement } from "./tree.ts";

/** Text of a subtree in characters: all of it, and what is inside links. Counted once, from the leaves. */
type Weight = { text: number; linked: number; links: number };

type Weights = ReadonlyMap<Element, Weight>;

export function mainContent(body: Element): Element {
  const weights = weighElements(body);
  const place = mainElement(body, weights) ?? body;
  const kept = prune(place, weights, { isInside: place !== body });
  // If the page consists only of a menu, show all of it.
  return textLength(kept) * 20 < weights.get(place)!.text ? place : kept;
}

/** Elements and roles that contain navigation and notices. */
const aside = new Set(["nav", "aside", "footer"]);
const asideRoles = words(`
  navigation banner contentinfo complementary search menu menubar toolbar alert dialog alertdialog tablist`);

/** Matches whole words of ids and classes: `sidebar`, `site-footer`, but not `navigate-guide`. */
const asideWords =
  /(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|side-bar|breadcrumbs?|footer|masthead|cookie|cookies|consent|gdpr|banner|popup|modal|newsletter|subscribe|social|share|sharing|related|recommended|promo|sponsor|sponsored|advert|advertisement|ads?|skip-link|skip-to-content|pagination|pager|toc|table-of-contents)(?:$|[\s_-])/i;

const blocks = new Set(["div", "section", "ul", "ol", "header", "form", "p", "table", "dl"]);

function prune(element: Element, weights: Weights, place: { isInside: boolean }): Element {
  const children: Element["children"] = [];
  for (const child of element.children) {
    if (!isElement(child)) children.push(child);
    else if (!isAside(child, weights, place)) children.push(prune(child, weights, place));
  }
  return { ...element, children };
}

function isAside(element: Element, weights: Weights, { isInside }: { isInside: boolean }): boolean {
  const { name, attributes } = element;
  const role = attributes["role"]?.toLowerCase() ?? "";
  if (aside.has(name) || asideRoles.has(role)) return true;
  if (!blocks.has(name)) return false;
  const { text, linked, links } = weights.get(element)!;
  const isMostlyLinks = links >= 2 && linked > text * 0.6;
  // A header of the page is for navigation; one of an article has its title and date.
  if (name === "header" && !isInside) return isMostlyLinks || text < 400;
  const isNamedSo = asideWords.test(`${attributes["class"] ?? ""} ${attributes["id"] ?? ""}`);
  if (isNamedSo) return isMostlyLinks || text < 200;
  // Outside the main content, a list that contains only links is a menu.
  return !isInside && (name === "ul" || name === "ol" || name === "div") && links >= 4 && linked > text * 0.9;
}

/** Returns the element marked as the main one, unless most of the page is elsewhere. */
function mainElement(body: Element, weights: Weights): Element | undefined {
  const found: Record<"main" | "article", Element[]> = { main: [], article: [] };
  collect(body, found);
  const whole = weights.get(body)!.text - weights.get(body)!.linked;
  const carries = (element: Element): boolean => {
    const { text, linked } = weights.get(element)!;
    return text > 0 && (text - linked) * 3 >= whole;
  };
  if (found.main.length === 1 && carries(found.main[0]!)) return found.main[0];
  return found.main.length === 0 && found.article.length === 1 && carries(found.article[0]!)
    ? found.article[0]
    : undefined;
}

function collect(element: Element, found: Record<"main" | "article", Element[]>): void {
  for (const child of element.children) {
    if (!isElement(child)) continue;
    const kind = child.name === "main" || child.attributes["role"] === "main" ? "main" : child.name;
    if (kind === "main" || kind === "article") found[kind].push(child);
    else collect(child, found);
  }
}

function weighElements(body: Element): Weights {
  const weights = new Map<Element, Weight>();
  const visit = (element: Element): Weight => {
    const sum = { text: 0, linked: 0, links: 0 };
    for (const child of element.children) {
      if (!isElement(child)) {
        sum.text += child.trim().length;
        continue;
      }
      const inner = visit(child);
      sum.text += inner.text;
      sum.linked += inner.linked;
      sum.links += inner.links;
    }
    if (element.name === "a" && element.attributes["href"] !== undefined) {
      sum.linked = sum.text;
      sum.links += 1;
    }
    weights.set(element, sum);
    return sum;
  };
  visit(body);
  return weights;
}

function textLength(element: Element): number {
  let length = 0;
  for (const child of element.children) length += isElement(child) ? textLength(child) : child.trim().length;
  return length;
}
