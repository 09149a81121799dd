// Renders long lists: the beginning, then the rest on demand; thousands of lines in a pane of their own.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../../../view/numbers.ts";
import { useView } from "../view-options.tsx";
import { Pane } from "./pane.tsx";

type FoldedProps<Item> = {
  items: readonly Item[];
  /** How many items are shown before the rest is folded. */
  first: number;
  /** What one item is called: "line". */
  noun: string;
  nouns?: string;
  /** Whether each item is a single line, so that any number of them can scroll in a pane. */
  areLines?: boolean;
  draw: (item: Item, index: number) => ComponentChildren;
};

/** The maximum number of items rendered at once. */
const most = 2000;

export function Folded<Item>({ items, first, noun, nouns = `${noun}s`, areLines, draw }: FoldedProps<Item>) {
  const { isStatic } = useView();
  const [isOpen, setOpen] = useState(false);
  const [reach, setReach] = useState(most);
  // Do not fold if only a few items would be hidden.
  const visibleCount = items.length <= first + 3 ? items.length : first;
  const isPane = areLines === true && !isStatic && items.length > most;
  const rest = items.slice(visibleCount, isPane ? undefined : reach);
  const unseen = isPane ? 0 : Math.max(0, items.length - reach);
  const words = counted(items.length - visibleCount, `more ${noun}`, `more ${nouns}`);
  const drawRest = (item: Item, index: number) => draw(item, visibleCount + index);
  return (
    <>
      {items.slice(0, visibleCount).map(draw)}
      {rest.length > 0 && (
        <details class="cr-more" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{words}</summary>
          {isPane && isOpen && <Pane items={rest} label={words} draw={drawRest} />}
          {!isPane && (isOpen || isStatic) && rest.map(drawRest)}
          {isStatic && unseen > 0 && <p class="cr-note">{counted(unseen, noun, nouns)} beyond that are not shown.</p>}
          {!isStatic && isOpen && unseen > 0 && (
            <button type="button" class="cr-rest" onClick={() => setReach(reach + most)}>
              {counted(Math.min(most, unseen), `more ${noun}`, `more ${nouns}`)}
            </button>
          )}
        </details>
      )}
    </>
  );
}
