// Copy: a quiet button that takes a text along, as it was before it was drawn.
import { useEffect, useState } from "preact/hooks";
import { useView } from "./view-options.tsx";

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const { isStatic } = useView();
  const [isDone, setDone] = useState<boolean>();
  useEffect(() => {
    if (isDone === undefined) return;
    const timer = setTimeout(() => setDone(undefined), 1500);
    return () => clearTimeout(timer);
  }, [isDone]);
  if (isStatic) return null;
  const said = isDone === undefined ? label : isDone ? "Copied" : "Could not be copied";
  return (
    <button
      type="button"
      class={`cr-copy${isDone ? " cr-copied" : ""}`}
      aria-label={said}
      title={said}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text).then(setDone);
      }}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={isDone ? "M3 8.5 6.5 12 13 4.5" : "M5.5 5.5h8v8h-8zM10.5 2.5h-8v8"} />
      </svg>
    </button>
  );
}

/** False: the browser does not let the page. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Where the clipboard is closed to a page: over plain HTTP from another machine. */
function copyBySelection(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "cr-unseen";
  document.body.append(field);
  const before = document.activeElement as HTMLElement | null;
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isDone;
}
