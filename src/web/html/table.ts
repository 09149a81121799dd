// Tables of HTML as tables of Markdown.
import { type Element, isElement } from "./tree.ts";

/** A table that only lays the page out has one column, one row, or other tables inside. */
export function isDataTable(table: Element): boolean {
  const rows = rowsOf(table);
  if (rows.length < 2 || Math.max(...rows.slice(0, 50).map((row) => cellsOf(row).length)) < 2) return false;
  return table.attributes["role"] !== "presentation" && !holdsTable(table);
}

/** `textOf`: of a cell, in one line. A cell over several columns leaves the others empty. */
export function tableLines(table: Element, textOf: (cell: Element) => string): string[] {
  const rows = rowsOf(table).map((row) =>
    cellsOf(row).flatMap((cell) => {
      const span = Number.parseInt(cell.attributes["colspan"] ?? "1", 10);
      const empty = Array.from({ length: Math.min(Math.max((span || 1) - 1, 0), mostColumns) }, () => "");
      return [textOf(cell), ...empty];
    }),
  );
  const filled = rows.filter((row) => row.some((text) => text !== ""));
  let columns = 0;
  for (const row of filled) columns = Math.max(columns, Math.min(row.length, mostColumns));
  if (columns === 0) return [];
  const written = filled.map((row) => {
    const cells = row.slice(0, mostColumns);
    while (cells.length < columns) cells.push("");
    return `| ${cells.join(" | ")} |`;
  });
  const caption = table.children.find((child) => isElement(child) && child.name === "caption") as Element | undefined;
  const title = caption ? textOf(caption) : "";
  return [...(title ? [title, ""] : []), written[0]!, `|${" --- |".repeat(columns)}`, ...written.slice(1)];
}

const mostColumns = 40;

function rowsOf(table: Element): Element[] {
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
