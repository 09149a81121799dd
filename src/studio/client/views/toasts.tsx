// Toasts: short messages about what was done, or why it failed.
import { dismiss, toasts } from "../state/layout.ts";

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isError }) => (
        <button type="button" key={id} class={`toast${isError ? " bad" : ""}`} onClick={() => dismiss(id)}>
          {isError && <span aria-hidden="true">✗ </span>}
          {text}
        </button>
      ))}
    </div>
  );
}
