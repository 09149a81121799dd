// Renders a page's accessibility tree as an outline, with a reference for each element that can be clicked or typed into.
import { isObject, type JsonObject } from "../../json/object.ts";
import { collapsed, oneLine } from "../../text/one-line.ts";
import { words } from "../../text/words.ts";

/** Identifies an element on a page by its DevTools session and its node id there. */
export type ElementRef = { sessionId: string; node: number };

export type PageSnapshot = { text: string; elements: ReadonlyMap<string, ElementRef> };

/** The accessibility tree of one document (a page or a frame), as the browser returns it. */
export type FrameTree = { sessionId: string; url: string; nodes: readonly JsonObject[] };

/** Roles without a line of their own: their children are shown instead. */
const transparent = words(`
  none generic presentation InlineTextBox LineBreak RootWebArea WebArea Iframe IframePresentational LayoutTable
  LayoutTableRow LayoutTableCell Section SvgRoot`);

const actionable = words(`
  button link textbox searchbox combobox checkbox radio switch slider spinbutton menuitem menuitemcheckbox
  menuitemradio tab option treeitem DisclosureTriangle`);

/** Accessibility states that the outline shows for an element when they are true. */
const states = ["checked", "pressed", "selected", "expanded", "disabled", "required", "invalid", "readonly"];

const longestName = 400;
const deepest = 60;

/** Renders the accessibility trees of frames as text. `nextRef` never repeats a reference, so an old one cannot mean a new element. */
export function renderSnapshot(frames: readonly FrameTree[], nextRef: () => string, limit: number): PageSnapshot {
  const elements = new Map<string, ElementRef>();
  const lines: string[] = [];
  let room = limit;
  let left = 0;
  const add = (line: string): boolean => {
    room -= line.length + 1;
    if (room < 0) left++;
    else lines.push(line);
    return room >= 0;
  };
  for (const [index, { sessionId, url, nodes }] of frames.entries()) {
    if (index > 0) add(`Frame ${oneLine(url, 300)}:`);
    const byId = new Map(nodes.map((node) => [String(node["nodeId"]), node]));
    const visit = (node: JsonObject, depth: number, said: string): void => {
      const { role, name, isIgnored } = describeNode(node);
      const isText = role === "StaticText";
      if (isText && (name === "" || said.includes(name))) return;
      const hasLine = !isIgnored && (isText || !transparent.has(role)) && (name !== "" || isWorthALine(role, node));
      if (hasLine) {
        const isNamed = actionable.has(role) || propertyOf(node, "focusable") === true || role === "textbox";
        const number = node["backendDOMNodeId"];
        const ref = isNamed && typeof number === "number" ? nextRef() : undefined;
        if (add(`${"  ".repeat(depth)}- ${outlineLine(node, role, name, ref)}`) && ref !== undefined)
          elements.set(ref, { sessionId, node: number as number });
      }
      const children = Array.isArray(node["childIds"]) ? node["childIds"] : [];
      for (const id of children) {
        const child = byId.get(String(id));
        const described = hasLine ? `${name}\n${axValueText(node["value"])}` : said;
        if (child && depth < deepest) visit(child, hasLine ? depth + 1 : depth, described);
      }
    };
    for (const node of nodes) if (node["parentId"] === undefined) visit(node, 0, "");
  }
  if (left > 0) lines.push(`[${left} more lines omitted]`);
  return { text: lines.join("\n"), elements };
}

function isWorthALine(role: string, node: JsonObject): boolean {
  return actionable.has(role) || role === "textbox" || propertyOf(node, "focusable") === true;
}

function outlineLine(node: JsonObject, role: string, name: string, ref: string | undefined): string {
  if (role === "StaticText") return `text ${JSON.stringify(name)}`;
  const value = axValueText(node["value"]);
  const level = propertyOf(node, "level");
  const url = role === "link" ? propertyOf(node, "url") : undefined;
  const parts = [
    role,
    ...(name === "" ? [] : [JSON.stringify(name)]),
    ...(ref === undefined ? [] : [`[${ref}]`]),
    ...(value === "" || value === name ? [] : [`value=${JSON.stringify(oneLine(value, longestName))}`]),
    ...(level === undefined || role !== "heading" ? [] : [`level=${String(level)}`]),
    ...states.flatMap((state) => {
      const set = propertyOf(node, state);
      return set === undefined || set === false || set === "false"
        ? []
        : [set === true || set === "true" ? state : `${state}=${String(set)}`];
    }),
    ...(typeof url === "string" ? [`url=${oneLine(url, 200)}`] : []),
  ];
  return parts.join(" ");
}

function describeNode(node: JsonObject): { role: string; name: string; isIgnored: boolean } {
  return {
    role: axValueText(node["role"]) || "none",
    name: oneLine(collapsed(axValueText(node["name"])), longestName),
    isIgnored: node["ignored"] === true,
  };
}

function axValueText(value: unknown): string {
  const inner = isObject(value) ? value["value"] : undefined;
  return typeof inner === "string" || typeof inner === "number" ? String(inner) : "";
}

function propertyOf(node: JsonObject, name: string): unknown {
  const list = Array.isArray(node["properties"]) ? node["properties"] : [];
  const found = list.find((property) => isObject(property) && property["name"] === name);
  const value = isObject(found) ? found["value"] : undefined;
  return isObject(value) ? value["value"] : undefined;
}
