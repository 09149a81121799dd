// Converts an HTML tree to Markdown: headings, lists, tables, code, absolute links. Meant for reading, so little is escaped.
import { collapsed } from "../../text/one-line.ts";
import { words } from "../../text/words.ts";
import { inlineMarkdown, plainText } from "./inline.ts";
import { type Element, isElement } from "./tree.ts";

/** Converts an element to Markdown. `base` is the address that links are relative to. */
export function markdownOf(element: Element, base: string): string {
  const lines: string[] = [];
  writeBlocks(element, { base, nesting: 0, lines, opened: inlineAroundBlocks(element) });
  return tidyLines(lines);
}

type BlockContext = {
  base: string;
  /**
   * How many lists, quotes and cells are around this. Beyond a limit they are not indented, since the text would grow with each level.
   */
  nesting: number;
  /** The lines of output so far. */
  lines: string[];
  /** Inline elements that contain blocks here. */
  opened: ReadonlySet<Element>;
};

const deepestNesting = 6;

const inlineNames = words(`
  a abbr b bdi bdo br cite code data del dfn em font i img ins kbd label mark math picture q rp rt ruby s samp small
  span strike strong sub sup time tt u var wbr`);

/** Finds inline elements around blocks, such as a link around a card, which are written as blocks. */
function inlineAroundBlocks(root: Element): ReadonlySet<Element> {
  const opened = new Set<Element>();
  const holdsBlock = (element: Element): boolean => {
    let holds = false;
    for (const child of element.children) {
      if (!isElement(child)) continue;
      const inside = holdsBlock(child);
      holds ||= inside || !inlineNames.has(child.name);
    }
    if (holds && inlineNames.has(element.name)) opened.add(element);
    return holds;
  };
  holdsBlock(root);
  return opened;
}

type BlockWriter = (element: Element, writing: BlockContext) => void;

const bullets: BlockWriter = (element, writing) => writeList(element, writing, () => "- ");

const blockWriters: Record<string, BlockWriter> = {
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  hr: (_, { lines }) => void lines.push("", "---", ""),
  pre: codeBlock,
  blockquote(element, writing) {
    writing.lines.push("");
    writeBehind(element, writing, "> ", "> ");
    writing.lines.push("");
  },
  ul: bullets,
  menu: bullets,
  ol(element, writing) {
    const first = Number.parseInt(element.attributes["start"] ?? "1", 10);
    writeList(element, writing, (index) => `${(Number.isSafeInteger(first) ? first : 1) + index}. `);
  },
  li: (element, writing) => void writeBehind(element, writing, "- ", "  "),
  dt: (element, writing) => void writing.lines.push("", ...boldLine(inlineLine(element, writing))),
  dd: (element, writing) => void writeBehind(element, writing, ": ", "  "),
  summary: (element, writing) => void writing.lines.push("", ...boldLine(inlineLine(element, writing)), ""),
  table(element, writing) {
    if (!isDataTable(element)) return writeBlocks(element, writing);
    writing.lines.push("");
    for (const line of tableLines(element, (cell) => cellText(cell, writing))) writing.lines.push(line);
    writing.lines.push("");
  },
};

/** Writes blocks separately; everything between them becomes a paragraph. */
function writeBlocks(element: Element, writing: BlockContext): void {
  let run: (Element | string)[] = [];
  const endRun = (): void => {
    const text = inlineMarkdown(run, writing.base).trim();
    run = [];
    if (text === "") return;
    writing.lines.push("");
    for (const line of text.split("\n")) writing.lines.push(line.trim());
    writing.lines.push("");
  };
  for (const child of element.children) {
    if (!isElement(child) || (inlineNames.has(child.name) && !writing.opened.has(child))) {
      run.push(child);
      continue;
    }
    endRun();
    if (Object.hasOwn(blockWriters, child.name)) blockWriters[child.name]!(child, writing);
    else writeBlocks(child, writing);
  }
  endRun();
}

function heading(level: number): BlockWriter {
  return (element, writing) => {
    const text = inlineLine(element, writing);
    if (text !== "") writing.lines.push("", `${"#".repeat(level)} ${text}`, "");
  };
}

function writeList(element: Element, writing: BlockContext, bullet: (index: number) => string): void {
  if (writing.nesting === 0) writing.lines.push("");
  let index = 0;
  for (const child of element.children) {
    if (!isElement(child)) {
      if (child.trim() !== "") writing.lines.push(child.trim());
      continue;
    }
    const mark = bullet(index);
    const item = child.name === "li" ? child : { ...child, children: [child] };
    if (writeBehind(item, writing, mark, " ".repeat(mark.length))) index += 1;
  }
  if (writing.nesting === 0) writing.lines.push("");
}

/** Writes the lines of an element after a mark. Returns false if it has none. */
function writeBehind(element: Element, writing: BlockContext, first: string, others: string): boolean {
  if (writing.nesting >= deepestNesting) {
    writeBlocks(element, writing);
    return true;
  }
  const inner: BlockContext = { ...writing, nesting: writing.nesting + 1, lines: [] };
  writeBlocks(element, inner);
  const text = tidyLines(inner.lines);
  if (text === "") return false;
  for (const [index, line] of text.split("\n").entries())
    writing.lines.push((index === 0 ? first : line === "" ? others.trimEnd() : others) + line);
  return true;
}

function codeBlock(element: Element, { lines }: BlockContext): void {
  const text = plainText(element).replace(/^\n+/, "").trimEnd();
  if (text === "") return;
  let ticks = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) ticks = Math.max(ticks, run.length);
  const fence = "`".repeat(Math.min(ticks + 1, 40));
  lines.push("", fence + codeLanguage(element));
  for (const line of text.split("\n")) lines.push(line);
  lines.push(fence, "");
}

function codeLanguage(element: Element): string {
  for (const each of [element, ...element.children.filter(isElement)]) {
    const name = each.attributes["class"] ?? "";
    const found = /(?:^|\s)(?:lang(?:uage)?|highlight-source|brush:?)[-:\s]?([\w+#-]{1,20})/.exec(name);
    if (found) return found[1]!.toLowerCase();
  }
  return "";
}

function cellText(cell: Element, writing: BlockContext): string {
  const inner: BlockContext = { ...writing, nesting: deepestNesting, lines: [] };
  writeBlocks(cell, inner);
  return tidyLines(inner.lines)
    .replace(/\s*\n\s*/g, " ")
    .replaceAll("|", "\\|");
}

function inlineLine(element: Element, { base }: BlockContext): string {
  return collapsed(inlineMarkdown(element.children, base));
}

function boldLine(text: string): string[] {
  return text === "" ? [] : [`**${text.replaceAll("**", "")}**`];
}

/** Removes trailing blanks, blank lines at both ends, and repeated blank lines. */
function tidyLines(lines: readonly string[]): string {
  const kept: string[] = [];
  for (const line of lines) {
    const text = line.trimEnd();
    if (text !== "" || (kept.length > 0 && kept.at(-1) !== "")) kept.push(text);
  }
  if (kept.at(-1) === "") kept.pop();
  return kept.join("\n");
}

/** Returns whether a table contains data. A table for layout has one column or row, or other tables inside. */
function isDataTable(table: Element): boolean {
  const rows = tableRows(table);
  if (rows.length < 2 || Math.max(...rows.slice(0, 50).map((row) => cellsOf(row).length)) < 2) return false;
  return table.attributes["role"] !== "presentation" && !holdsTable(table);
}

/** `renderCell` renders a cell as one line. A cell that spans columns leaves the others empty. */
function tableLines(table: Element, renderCell: (cell: Element) => string): string[] {
  const rows = tableRows(table).map((row) =>
    cellsOf(row).flatMap((cell) => {
      const span = Number.parseInt(cell.attributes["colspan"] ?? "1", 10);
      const empty = Array.from({ length: Math.min(Math.max((span || 1) - 1, 0), maxColumns) }, () => "");
      return [renderCell(cell), ...empty];
    }),
  );
  const filled = rows.filter((row) => row.some((text) => text !== ""));
  let columns = 0;
  for (const row of filled) columns = Math.max(columns, Math.min(row.length, maxColumns));
  if (columns === 0) return [];
  const written = filled.map((row) => {
    const cells = row.slice(0, maxColumns);
    while (cells.length < columns) cells.push("");
    return `| ${cells.join(" | ")} |`;
  });
  const caption = table.children.find((child) => isElement(child) && child.name === "caption") as Element | undefined;
  const title = caption ? renderCell(caption) : "";
  return [...(title ? [title, ""] : []), written[0]!, `|${" --- |".repeat(columns)}`, ...written.slice(1)];
}

const maxColumns = 40;

function tableRows(table: Element): Element[] {
  const rows: Element[] = [];
  for (const child of table.children) {
    if (!isElement(child)) continue;
    if (child.name === "tr") rows.push(child);
    else if (/^(?:thead|tbody|tfoot)$/.test(child.name)) rows.push(...rowsIn(child));
  }
  return rows;
}

function* rowsIn(group: Element): Generator<Element> {
  for (const child of group.children) if (isElement(child) && child.name === "tr") yield child;
}

function cellsOf(row: Element): Element[] {
  return row.children.filter((child): child is Element => isElement(child) && /^t[dh]$/.test(child.name));
}

function holdsTable(element: Element): boolean {
  return element.children.some((child) => isElement(child) && (child.name === "table" || holdsTable(child)));
}
