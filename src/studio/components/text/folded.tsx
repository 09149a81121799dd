// Long things: the beginning is shown, the rest on demand, and what nobody would read is counted.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../../view/numbers.ts";
import { useView } from "../view-options.tsx";

type FoldedProps<Item> = {
  items: readonly Item[];
  /** How many are shown at once. */
  first: number;
  /** One of them: "line". */
  noun: string;
  nouns?: string;
  draw: (item: Item, index: number) => ComponentChildren;
};

/** More than these are not put into a page. */
const most = 2000;

export function Folded<Item>({ items, first, noun, nouns, draw }: FoldedProps<Item>) {
  const { isStatic } = useView();
  const [isOpen, setOpen] = useState(false);
  // A fold that hides a line or two is not worth its own line.
  const shown = items.length <= first + 3 ? items.length : first;
  const rest = items.slice(shown, most);
  const unseen = Math.max(0, items.length - most);
  const words = counted(items.length - shown, `more ${noun}`, `more ${nouns ?? `${noun}s`}`);
  return (
    <>
      {items.slice(0, shown).map(draw)}
      {rest.length > 0 && (
        <details class="cr-more" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{words}</summary>
          {(isOpen || isStatic) && rest.map((item, index) => draw(item, shown + index))}
          {(isOpen || isStatic) && unseen > 0 && (
            <p class="cr-note">{counted(unseen, noun, nouns ?? `${noun}s`)} beyond that are not shown.</p>
          )}
        </details>
      )}
    </>
  );
}
