// Pane: a scrollable window for any number of lines. Only those near the visible part are in the DOM.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

/** The height of a line in pixels; must match the style sheet. */
const lineHeight = 19;
/** How many lines are rendered above and below the visible part. */
const margin = 30;
const seen = 25;

type PaneProps<Item> = {
  items: readonly Item[];
  label: string;
  draw: (item: Item, index: number) => ComponentChildren;
};

export function Pane<Item>({ items, label, draw }: PaneProps<Item>) {
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / lineHeight) - margin);
  const last = Math.min(items.length, first + seen + 2 * margin);
  return (
    <span
      class="cr-pane"
      role="region"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll it, too.
      tabIndex={0}
      style={{ height: `${lineHeight * Math.min(seen, items.length)}px` }}
      onScroll={({ currentTarget }) => {
        // Render again only when the margin is nearly used up.
        if (Math.abs(currentTarget.scrollTop - top) > (margin * lineHeight) / 2) setTop(currentTarget.scrollTop);
      }}
    >
      <span style={{ height: `${first * lineHeight}px` }} />
      {items.slice(first, last).map((item, index) => draw(item, first + index))}
      <span style={{ height: `${(items.length - last) * lineHeight}px` }} />
    </span>
  );
}
