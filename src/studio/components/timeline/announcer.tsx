// Announcer: tells screen readers what runs and how it ended.
import { useEffect, useState } from "preact/hooks";
import { wordsOfCall } from "../../../view/call-words.ts";
import { documentText } from "../../../view/document-text.ts";
import { stateOf } from "../card.tsx";
import { isStopped } from "../messages.tsx";
import type { TimelineLog } from "./log.ts";

/** How many milliseconds are between announcements, so that each can be heard to the end. */
const pauseMs = 1000;

export function Announcer({ log }: { log: TimelineLog }) {
  const [sentence, setSentence] = useState("");
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = log.subscribe(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setSentence(announcement(log));
      }, pauseMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [log]);
  return (
    <p class="cr-unseen" role="status">
      {sentence}
    </p>
  );
}

const words = {
  running: "is running",
  waiting: "waits for your permission",
  ok: "is done",
  failed: "failed",
  refused: "was refused",
  unknown: "ended",
};

function announcement({ blocks }: TimelineLog): string {
  const last = blocks.at(-1);
  switch (last?.type) {
    case "call":
    case "calls": {
      const call = last.type === "call" ? last.call : last.calls.at(-1)!.call;
      const { name, target } = wordsOfCall(call.tool, call.args, undefined);
      return documentText(`${name} ${target.slice(0, 60)} ${words[stateOf(call)]}`);
    }
    case "ending":
      if (last.ending.type === "done") return "The turn is done.";
      return isStopped(last.ending) ? "The turn was stopped." : "The turn failed.";
    case "notice":
      return documentText(last.message);
    default:
      return "";
  }
}
