// Copy: an unobtrusive button that copies the source text, as it was before rendering.
import { useView } from "./view-options.tsx";

/** A button that copies an answer. Every answer has one, so it has no state and is drawn by the style sheet. */
export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  if (useView().isStatic) return null;
  return (
    <button
      type="button"
      class="cr-copy"
      aria-label={label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        const button = event.currentTarget;
        void copyText(text).then((isDone) => showResult(button, label, isDone));
      }}
    />
  );
}

function showResult(button: HTMLElement, label: string, isDone: boolean): void {
  button.ariaLabel = isDone ? "Copied" : "Could not be copied";
  button.classList.toggle("cr-copied", isDone);
  setTimeout(() => {
    button.ariaLabel = label;
    button.classList.remove("cr-copied");
  }, 1500);
}

/** Returns false if the browser does not permit it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** Fallback for pages without clipboard access: over plain HTTP from another machine. */
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
