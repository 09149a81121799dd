// A modal sheet for a list or details that have no column on a narrow screen. The browser keeps the focus inside.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type SheetName, shownSheet } from "../state/layout.ts";
import { place } from "../state/router.ts";

export function Sheet({ name, title, children }: { name: SheetName; title: string; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = shownSheet.value === name;
  useEffect(() => {
    if (isShown && !dialog.current!.open) dialog.current!.showModal();
    if (!isShown && dialog.current!.open) dialog.current!.close();
  }, [isShown]);
  useEffect(() => place.subscribe(() => (shownSheet.value = undefined)), []);
  const close = () => {
    if (shownSheet.peek() === name) shownSheet.value = undefined;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes it on Escape
    <dialog
      ref={dialog}
      class={`sheet sheet-${name}`}
      aria-label={title}
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      {isShown && (
        <div class="sheet-inside">
          <div class="sheet-head">
            <h2>{title}</h2>
            <button type="button" class="quiet" aria-label="Close" onClick={close}>
              ✕
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}
