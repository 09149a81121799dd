// The colour theme: follows the system until the user chooses one.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const name = "courser.theme";

export const theme = signal<Theme>(loadTheme());

theme.subscribe((value) => {
  if (value === "system") {
    delete document.documentElement.dataset["theme"];
    localStorage.removeItem(name);
  } else {
    document.documentElement.dataset["theme"] = value;
    localStorage.setItem(name, value);
  }
});

export function nextTheme(): void {
  const order: Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length]!;
}

function loadTheme(): Theme {
  const value = localStorage.getItem(name);
  return value === "light" || value === "dark" ? value : "system";
}
