// Parts shared by both composers: option labels, persistent drafts, pictures.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { agentName } from "../model/agents.ts";
import type { Mode } from "../state/choices.ts";
import { type Picture, takePictures } from "../state/pictures.ts";

export const modeWords: readonly [Mode, string][] = [
  ["agent", "Agent"],
  ["plan", "Plan only"],
  ["ask", "Only answers"],
];

export const permissions: readonly ["ask" | "force", string][] = [
  ["ask", "Asks me"],
  ["force", "Allows everything"],
];

/** Unsent text by conversation, which is kept while the user looks at another view. */
const drafts = new Map<string, string>();

/** Returns the text of a composer, which survives unmounting. */
export function useDraft(key: string) {
  const text = useSignal(drafts.get(key) ?? "");
  useEffect(() => {
    if (text.value === "") drafts.delete(key);
    else drafts.set(key, text.value);
  }, [text.value, key]);
  return text;
}

export function permissionTitle(cli: string, permission: "ask" | "force"): string {
  if (permission === "force") return "Everything but deny rules and protected paths (--force)";
  return cli === "courser"
    ? "What no rule decides is asked here"
    : `${agentName(cli)} decides by its own rules; what it can ask is asked here`;
}

export function imagesOf(pictures: readonly Picture[]) {
  return pictures.length > 0 ? { images: pictures.map(({ mime, base64 }) => ({ mime, base64 })) } : {};
}

export function AttachButton({ pictures }: { pictures: { value: readonly Picture[] } }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="chip" title="Attach pictures" onClick={() => input.current!.click()}>
        Attach
      </button>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp"
        multiple
        hidden
        aria-label="Pictures"
        onChange={async (event) => {
          const { files } = event.currentTarget;
          if (files) pictures.value = await takePictures(files, pictures.value);
          if (input.current) input.current.value = "";
        }}
      />
    </>
  );
}
