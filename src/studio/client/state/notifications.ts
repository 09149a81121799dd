// Notifies a user who is elsewhere that an agent waits: always by the tab title, and by a system notification if permitted.
import { signal } from "@preact/signals";
import type { OpenQuestion } from "../../../serve/api.ts";
import { navigate } from "./router.ts";

export const mayNotify = signal(typeof Notification === "undefined" ? "denied" : Notification.permission);

export async function askToNotify(): Promise<void> {
  mayNotify.value = await Notification.requestPermission();
}

/** Notifies once per question, even with several tabs, which share its tag. */
export function notifyOf({ run, question }: OpenQuestion, title: string): void {
  if (!document.hidden || mayNotify.value !== "granted") return;
  const note = new Notification(`Waiting for you: ${title}`, {
    body: notificationBody(question),
    tag: `${run} ${question.id}`,
  });
  note.onclick = () => {
    window.focus();
    navigate({ type: "inbox" });
    note.close();
  };
}

function notificationBody(question: OpenQuestion["question"]): string {
  if (question.type !== "permission") return "A question needs an answer.";
  const [need] = question.needs;
  return need ? `${question.tool}: ${need.target}`.slice(0, 200) : question.tool;
}
