// The tab title: the current view, preceded by what waits or runs.
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { documentText } from "../../../view/document-text.ts";
import { liveRuns, questions } from "../state/app.ts";

const shown = signal("");

const title = computed(() => {
  const waiting = questions.value.length;
  const sign = waiting > 0 ? `(${waiting}) ` : liveRuns.value.length > 0 ? "● " : "";
  return `${sign}${shown.value === "" ? "" : `${shown.value} · `}Courser`;
});

title.subscribe((value) => {
  document.title = value;
});

export function useTitle(name: string): void {
  useEffect(() => {
    shown.value = documentText(name);
    return () => {
      shown.value = "";
    };
  }, [name]);
}
