// The time, for what is shown as "40 s ago": one clock for the page, which stands still while nobody looks.
import { signal } from "@preact/signals";

export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
