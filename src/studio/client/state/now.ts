// The current time for labels such as "40 s ago": one clock for the page, stopped while the page is hidden.
import { signal } from "@preact/signals";

export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
