// Renders a very long line, such as of a minified file: its beginning, and the rest on demand.
import { useState } from "preact/hooks";
import { useView } from "../view-options.tsx";

const most = 1000;

/** Returns whether a line is long enough to be worth folding. */
export function isLongLine(text: string): boolean {
  return text.length > 2 * most;
}

export function LongLine({ text }: { text: string }) {
  const { isStatic } = useView();
  const [isOpen, setOpen] = useState(false);
  if (isOpen || isStatic) return <>{text}</>;
  return (
    <>
      {text.slice(0, most)}
      <button
        type="button"
        class="cr-rest"
        onClick={(event) => {
          event.stopPropagation();
          setOpen(true);
        }}
      >
        {(text.length - most).toLocaleString("en")} more characters
      </button>
    </>
  );
}
