// State of overlays: sheets on narrow screens, the palette, toasts.
import { signal } from "@preact/signals";

export type SheetName = "sessions" | "details";

export const shownSheet = signal<SheetName | undefined>(undefined);
export const isPaletteOpen = signal(false);

export type Toast = { id: number; text: string; isError: boolean };
export const toasts = signal<readonly Toast[]>([]);

let count = 0;

export function showMessage(text: string, { isError = false } = {}): void {
  const toast = { id: ++count, text, isError };
  toasts.value = [...toasts.value, toast];
  setTimeout(() => dismiss(toast.id), isError ? 9000 : 4000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Runs `work` and shows an error message if it fails. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    showMessage((error as Error).message, { isError: true });
    return undefined;
  }
}
